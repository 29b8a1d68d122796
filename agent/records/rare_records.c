/* SPDX-License-Identifier: Apache-2.0 */
/* Writes facts to the global stream. */
#include "agent/records/rare_records.h"

#include <stdlib.h>
#include <string.h>

#include "agent/records/global_stream.h"
#include "agent/records/threads.h"

#define HEAD_WORDS 3u
#define TEXT_LIMIT 200000u /* fits into a chunk */

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
