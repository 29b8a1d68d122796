/* SPDX-License-Identifier: Apache-2.0 */
/* Records of the global stream, the texts in them, and facts.
 *
 * What all threads refer to by number stands here: classes, threads, methods, fields, frames. A
 * thread that assigns a number writes the definition under global_lock, and publishes the number
 * afterwards. When the drain takes the full chunks of all streams, it drains this one first, as it
 * is after they were taken from the queue (take_all_full() of session_drain.c). So it has each
 * definition before the first record that uses it, although that is in another stream. Numbers of
 * one kind are counted up under that lock, or under one that is held around it (the stack tree's).
 * So definitions stand in the order of their numbers, which a dictionary of a STEP file needs, as
 * it stores no numbers but the first of each block.
 *
 * Texts are converted before the lock is taken. It is held for a copy into the ring only, since
 * every thread that meets a new class or method needs it. */
#include "agent/records/global_stream.h"

#include <stdlib.h>
#include <string.h>

#include "agent/records/redaction.h"
#include "agent/records/stamps.h"
#include "agent/records/threads.h"
#include "format/core/hash.h"
#include "format/core/utf8.h"

/* The JVM's modified UTF-8 differs in two ways (JVMS 4.4.7): U+0000 has two bytes, so that texts
 * end at a zero, and a character beyond U+FFFF is a pair of surrogates of three bytes each. Both
 * become shorter in UTF-8. A byte is looked at only if the one before it fits, which the zero at
 * the end of a text never does: so the search for a pair does not leave the text. */
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
            out += step_utf8_encode((uint8_t *) out, code);
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

uint64_t *words_with_texts(size_t head, const char *const *texts, size_t count, size_t most,
                           uint64_t *lengths)
{
    size_t room = 0, used = 0;
    for (size_t i = 0; i < count; i++)
        room += strlen(texts[i]); /* no character is longer in UTF-8 */
    uint64_t *words = room <= most ? calloc(head + room / 8 + 1, sizeof *words) : NULL;
    for (size_t i = 0; words != NULL && i < count; i++) {
        lengths[i] = utf8_of_modified(texts[i], (char *) &words[head] + used);
        used += lengths[i];
    }
    return words;
}

void global_write(struct session *session, const uint64_t *words, size_t count, unsigned events)
{
    uint64_t *room = live_reserve(session->map, session->global, count);
    if (room == NULL)
        return;
    memcpy(room, words, count * sizeof *words);
    live_commit(session->global, count, events);
    if (events != 0)
        stamps_pulse();
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

/* The definition is written before the number is put into the table, both under the caller's lock.
 * So whoever finds a number there may use it at once. */
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

static uint64_t define(struct session *session, _Atomic uint64_t *count, uint64_t class,
                       uint64_t kind, const char *name, const char *more)
{
    uint64_t lengths[2];
    uint64_t *words =
        words_with_texts(DEFINE_WORDS, (const char *const[]){name, more}, 2, TEXT_LIMIT, lengths);
    if (words == NULL)
        return 0;
    if (kind == STEP_LIVE_IS_PHASE_NAME) /* which has no more */
        lengths[0] = utf8_cut((char *) &words[DEFINE_WORDS], lengths[0]);
    words[1] = class;
    words[2] = kind;
    words[3] = lengths[0] | lengths[1] << 32;
    pthread_mutex_lock(&session->global_lock);
    uint64_t number = ++*count;
    words[0] = live_word(STEP_LIVE_DEFINE_METHOD, number);
    global_write(session, words, DEFINE_WORDS + (lengths[0] + lengths[1] + 7) / 8, 0);
    pthread_mutex_unlock(&session->global_lock);
    free(words);
    return number;
}

/* What the JVM itself calls methods is no name of the program's. */
static bool is_spared(const struct session *session, uint64_t class, const char *name)
{
    return strcmp(name, "<init>") == 0 || strcmp(name, "<clinit>") == 0 || name[0] == '\0' ||
           redaction_spares(session, class);
}

/* What a class of the JDK has names no class of the program's. */
static char *redacted_types(const struct session *session, uint64_t class, const char *descriptor)
{
    return redaction_spares(session, class) ? strdup(descriptor) : redaction_descriptor(descriptor);
}

/* redact=names: the names in the definition are replaced. The map of a source file's lines has
 * names of files and is left out. */
static uint64_t define_redacted(struct session *session, _Atomic uint64_t *count, uint64_t class,
                                uint64_t kind, const char *name, const char *more)
{
    char number[REDACTION_BYTES], file[REDACTION_BYTES + sizeof ".java"];
    bool is_source = (kind & STEP_LIVE_IS_SOURCE) != 0;
    if ((kind & STEP_LIVE_IS_LAYOUT) != 0) {
        char *layout = redacted_types(session, class, name);
        uint64_t defined = layout != NULL ? define(session, count, class, kind, layout, more) : 0;
        free(layout);
        return defined;
    }
    redaction_name(is_source                               ? 's'
                   : (kind & STEP_LIVE_IS_PHASE_NAME) != 0 ? 'p'
                   : (kind & STEP_LIVE_IS_FIELD) != 0      ? 'f'
                                                           : 'm',
                   name, number);
    snprintf(file, sizeof file, "%s%s", number, is_source ? ".java" : "");
    char *descriptor = redacted_types(session, class, is_source ? "" : more);
    uint64_t defined = descriptor != NULL
                           ? define(session, count, class, kind,
                                    is_spared(session, class, name) ? name : file, descriptor)
                           : 0;
    free(descriptor);
    return defined;
}

uint64_t global_define(struct session *session, _Atomic uint64_t *count, uint64_t class,
                       uint64_t kind, const char *name, const char *more)
{
    return redaction_of_names(session) ? define_redacted(session, count, class, kind, name, more)
                                       : define(session, count, class, kind, name, more);
}

#define HEAD_WORDS 3u

/* `words` has room for the head. */
static void global_stream_put_fact(struct session *session, enum step_live_fact fact,
                                   uint64_t *words, size_t payload_bytes)
{
    words[1] = fact;
    words[2] = payload_bytes;
    pthread_mutex_lock(&session->global_lock);
    words[0] = live_word(STEP_LIVE_FACT, thread_stamp(session, session->global));
    global_write(session, words, HEAD_WORDS + (payload_bytes + 7) / 8, 1);
    pthread_mutex_unlock(&session->global_lock);
}

#define NOT_PROBED_WORDS 3u

struct fact *fact_not_probed(const char *class_name, const char *method_name,
                             const char *descriptor, const char *reason, uint64_t missing)
{
    const char *const texts[] = {class_name, method_name, descriptor, reason};
    uint64_t lengths[4];
    size_t head = sizeof(struct fact) / sizeof(uint64_t) + HEAD_WORDS + NOT_PROBED_WORDS;
    struct fact *fact = (void *) words_with_texts(head, texts, 4, TEXT_LIMIT, lengths);
    if (fact == NULL)
        return NULL;
    fact->payload_bytes = NOT_PROBED_WORDS * sizeof(uint64_t);
    for (size_t i = 0; i < 4; i++)
        fact->payload_bytes += lengths[i];
    fact->words[HEAD_WORDS] = missing;
    fact->words[HEAD_WORDS + 1] = lengths[0] | lengths[1] << 32;
    fact->words[HEAD_WORDS + 2] = lengths[2] | lengths[3] << 32;
    return fact;
}

/* Its head is written when it is recorded. */
bool fact_equals(const struct fact *fact, const struct fact *other)
{
    return fact->payload_bytes == other->payload_bytes &&
           memcmp(fact->words + HEAD_WORDS, other->words + HEAD_WORDS, fact->payload_bytes) == 0;
}

/* Leaves the reason alone: the names are of class files, whose classes may not be defined. */
static void fact_without_names(struct fact *fact)
{
    uint64_t *payload = fact->words + HEAD_WORDS;
    char *texts = (char *) (payload + NOT_PROBED_WORDS);
    uint64_t reason = payload[2] >> 32;
    uint64_t names = (payload[1] & UINT32_MAX) + (payload[1] >> 32) + (payload[2] & UINT32_MAX);
    memmove(texts, texts + names, reason);
    payload[1] = 0;
    payload[2] = reason << 32;
    fact->payload_bytes -= names;
}

void fact_record(struct session *session, struct fact *fact)
{
    if (redaction_of_names(session))
        fact_without_names(fact);
    global_stream_put_fact(session, STEP_LIVE_NOT_PROBED, fact->words, fact->payload_bytes);
}

void fact_put(struct session *session, struct fact *fact)
{
    if (session != NULL && fact != NULL)
        fact_record(session, fact);
    free(fact);
}

void fact_method_count(struct session *session, uint64_t method, const struct method_totals *totals)
{
    uint64_t words[HEAD_WORDS + STEP_LIVE_METHOD_COUNT_BYTES / sizeof(uint64_t)] = {
        [HEAD_WORDS] = method,
        totals->calls,
        totals->exceptions,
        totals->inclusive_ns,
        totals->exclusive_ns};
    global_stream_put_fact(session, STEP_LIVE_METHOD_COUNT, words, STEP_LIVE_METHOD_COUNT_BYTES);
}

void fact_eden_class(struct session *session, const struct eden_class_totals *totals)
{
    uint64_t words[HEAD_WORDS + STEP_LIVE_EDEN_CLASS_BYTES / sizeof(uint64_t)] = {
        [HEAD_WORDS] = totals->collection, totals->class, totals->objects, totals->bytes};
    global_stream_put_fact(session, STEP_LIVE_EDEN_CLASS, words, STEP_LIVE_EDEN_CLASS_BYTES);
}

void fact_eden_survived(struct session *session, const struct eden_class_totals *totals)
{
    uint64_t words[HEAD_WORDS + STEP_LIVE_EDEN_SURVIVED_BYTES / sizeof(uint64_t)] = {
        [HEAD_WORDS] = totals->collection,
        totals->class,
        totals->objects,
        totals->bytes,
        totals->survived,
        totals->survived_bytes};
    global_stream_put_fact(session, STEP_LIVE_EDEN_SURVIVED, words, STEP_LIVE_EDEN_SURVIVED_BYTES);
}

void fact_eden_age(struct session *session, const struct eden_age_totals *totals)
{
    uint64_t words[HEAD_WORDS + STEP_LIVE_EDEN_AGE_BYTES / sizeof(uint64_t)] = {
        [HEAD_WORDS] = totals->collection,
        totals->class,
        totals->age,
        totals->objects,
        totals->bytes};
    global_stream_put_fact(session, STEP_LIVE_EDEN_AGE, words, STEP_LIVE_EDEN_AGE_BYTES);
}

void fact_eden_walk(struct session *session, const struct eden_walk_totals *totals)
{
    uint64_t words[HEAD_WORDS + STEP_LIVE_EDEN_WALK_BYTES / sizeof(uint64_t)] = {
        [HEAD_WORDS] = totals->collection,
        totals->how,
        totals->counted_bytes,
        totals->known_bytes,
        totals->filler_bytes,
        totals->took_ns};
    global_stream_put_fact(session, STEP_LIVE_EDEN_WALK, words, STEP_LIVE_EDEN_WALK_BYTES);
}
