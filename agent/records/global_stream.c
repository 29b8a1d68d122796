/* SPDX-License-Identifier: Apache-2.0 */
/* Records of the global stream, the texts in them, and facts. */
#include "agent/records/global_stream.h"

#include <stdlib.h>
#include <string.h>

#include "agent/records/stamps.h"
#include "agent/records/threads.h"
#include "format/core/hash.h"

static bool surrogate(const unsigned char *at, unsigned char low, unsigned char high)
{
    return at[0] == 0xed && at[1] >= low && at[1] <= high && (at[2] & 0xc0) == 0x80;
}

size_t utf8_of_modified(const char *text, char *out)
{
    const unsigned char *at = (const unsigned char *) text;
    char *start = out;
    while (*at != '\0') {
        if (at[0] == 0xc0 && at[1] == 0x80) {
            *out++ = '\0';
            at += 2;
        } else if (surrogate(at, 0xa0, 0xaf) && surrogate(at + 3, 0xb0, 0xbf)) {
            uint32_t code =
                0x10000u + (((uint32_t) (at[1] & 0x0f) << 16) | ((uint32_t) (at[2] & 0x3f) << 10) |
                            ((uint32_t) (at[4] & 0x0f) << 6) | (at[5] & 0x3fu));
            *out++ = (char) (0xf0 | (code >> 18));
            *out++ = (char) (0x80 | ((code >> 12) & 0x3f));
            *out++ = (char) (0x80 | ((code >> 6) & 0x3f));
            *out++ = (char) (0x80 | (code & 0x3f));
            at += 6;
        } else {
            *out++ = (char) *at++;
        }
    }
    return (size_t) (out - start);
}

#define LONGEST_NAME ((size_t) 65536)
#define CUT "..."

size_t utf8_cut(char *text, size_t length)
{
    if (length <= LONGEST_NAME)
        return length;
    length = LONGEST_NAME - strlen(CUT);
    while (length > 0 && ((unsigned char) text[length] & 0xc0) == 0x80)
        length--;
    memcpy(text + length, CUT, strlen(CUT));
    length += strlen(CUT);
    memset(text + length, 0, -length % 8);
    return length;
}

void global_write(struct session *session, const uint64_t *words, size_t count, unsigned events)
{
    uint64_t *room = live_reserve(session->map, session->global, count);
    if (room == NULL)
        return;
    memcpy(room, words, count * sizeof *words);
    live_commit(session->global, count, events);
}

void global_event(struct session *session, enum step_live_kind kind, uint64_t word, size_t words)
{
    uint64_t record[2] = {live_word(kind, thread_stamp(session, session->global)), word};
    global_write(session, record, words, 1);
}

#define TEXT_LIMIT 200000u /* fits into a chunk */

/* Returns the place for that hash as hash_numbers_place() does. */
static struct hash_number *dictionary_place(struct session_dictionary *dictionary,
                                            const struct session *session, uint64_t hash)
{
    if (dictionary->session != session->number) {
        dictionary->session = session->number;
        dictionary->count = 0;
        hash_numbers_clear(&dictionary->numbers);
    }
    return hash_numbers_place(&dictionary->numbers, hash);
}

bool dictionary_add_class(struct session_dictionary *dictionary, const struct session *session,
                          uint64_t class)
{
    uint64_t hash = step_hash(class);
    struct hash_number *place = dictionary_place(dictionary, session, hash);
    if (place == NULL || place->hash != 0)
        return false;
    hash_numbers_put(&dictionary->numbers, place, hash, 1);
    return true;
}

uint64_t dictionary_number(struct session_dictionary *dictionary, struct session *session,
                           uint64_t hash, uint64_t class, uint64_t kind, const char *name,
                           const char *more)
{
    struct hash_number *place = dictionary_place(dictionary, session, hash);
    uint64_t number = place != NULL ? place->number : 0;
    if (place != NULL && place->hash == 0 &&
        (number = global_define(session, &dictionary->count, class, kind, name, more)) != 0)
        hash_numbers_put(&dictionary->numbers, place, hash, number);
    return number;
}

#define DEFINE_WORDS 4u

uint64_t global_define(struct session *session, _Atomic uint64_t *count, uint64_t class,
                       uint64_t kind, const char *name, const char *more)
{
    size_t room = strlen(name) + strlen(more);
    uint64_t *words =
        room <= TEXT_LIMIT ? calloc(DEFINE_WORDS + (room + 7) / 8, sizeof *words) : NULL;
    if (words == NULL)
        return 0;
    char *text = (char *) &words[DEFINE_WORDS];
    size_t length = utf8_of_modified(name, text);
    if (kind == STEP_LIVE_IS_PHASE_NAME)
        length = utf8_cut(text, length);
    size_t more_length = utf8_of_modified(more, text + length);
    words[1] = class;
    words[2] = kind;
    words[3] = length | (uint64_t) more_length << 32;
    pthread_mutex_lock(&session->global_lock);
    uint64_t number = ++*count;
    words[0] = live_word(STEP_LIVE_DEFINE_METHOD, number);
    global_write(session, words, DEFINE_WORDS + (length + more_length + 7) / 8, 0);
    pthread_mutex_unlock(&session->global_lock);
    free(words);
    return number;
}

#define HEAD_WORDS 3u

/* `words` has room for the head. */
static void put_fact(struct session *session, enum step_live_fact fact, uint64_t *words,
                     size_t payload_bytes)
{
    words[1] = fact;
    words[2] = payload_bytes;
    pthread_mutex_lock(&session->global_lock);
    words[0] = live_word(STEP_LIVE_FACT, thread_stamp(session, session->global));
    global_write(session, words, HEAD_WORDS + (payload_bytes + 7) / 8, 1);
    pthread_mutex_unlock(&session->global_lock);
}

void fact_not_probed(struct session *session, const char *class_name, const char *method_name,
                     const char *descriptor, const char *reason, uint64_t missing)
{
    const char *const texts[] = {class_name, method_name, descriptor, reason};
    uint64_t lengths[4];
    size_t room = 0;
    for (size_t i = 0; i < 4; i++)
        room += strlen(texts[i]);
    uint64_t *words =
        room <= TEXT_LIMIT ? calloc(HEAD_WORDS + 3 + (room + 7) / 8, sizeof *words) : NULL;
    if (words == NULL)
        return;
    char *text = (char *) &words[HEAD_WORDS + 3];
    size_t used = 0;
    for (size_t i = 0; i < 4; i++) {
        lengths[i] = utf8_of_modified(texts[i], text + used);
        used += lengths[i];
    }
    words[HEAD_WORDS] = missing;
    words[HEAD_WORDS + 1] = lengths[0] | lengths[1] << 32;
    words[HEAD_WORDS + 2] = lengths[2] | lengths[3] << 32;
    put_fact(session, STEP_LIVE_NOT_PROBED, words, 3 * sizeof *words + used);
    free(words);
}

void fact_method_count(struct session *session, uint64_t method, const struct method_totals *totals)
{
    uint64_t words[HEAD_WORDS + STEP_LIVE_METHOD_COUNT_BYTES / sizeof(uint64_t)] = {
        [HEAD_WORDS] = method,
        totals->calls,
        totals->exceptions,
        totals->inclusive_ns,
        totals->exclusive_ns};
    put_fact(session, STEP_LIVE_METHOD_COUNT, words, STEP_LIVE_METHOD_COUNT_BYTES);
}
