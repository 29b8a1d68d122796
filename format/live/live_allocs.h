/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Raw records of native programs (enum step_live_heap_kind) into records of hatf.step: used by the
 * recorder's drain thread and by recovery.  The same calls as live_decoder.h has for Java.
 */
#ifndef FORMAT_LIVE_LIVE_ALLOCS_H
#define FORMAT_LIVE_LIVE_ALLOCS_H

#include <stdbool.h>
#include <stddef.h>

#include "steptrace/live.h"

struct live_allocs_decoder;

/* `writer` is borrowed; records that it has of a stream already are passed over. */
struct live_allocs_decoder *live_allocs_decoder_create(const struct step_live_header *clock,
                                                       struct step_writer *writer);
void live_allocs_decoder_destroy(struct live_allocs_decoder *decoder);

enum step_status live_allocs_decoder_begin(struct live_allocs_decoder *decoder, uint64_t stream,
                                           uint64_t first_record, uint64_t thread);
enum step_status live_allocs_decoder_words(struct live_allocs_decoder *decoder, uint64_t stream,
                                           const uint64_t *words, size_t count, size_t *consumed,
                                           struct step_error *error);
/* Who puts a return address into words: at most `size` bytes, returns how many. */
typedef size_t (*live_allocs_describe)(void *user, uint64_t address, char *out, size_t size);
/* Without it, addresses are in hexadecimal. */
void live_allocs_decoder_set_describe(struct live_allocs_decoder *decoder,
                                      live_allocs_describe describe, void *user);

/* The latest time among the records so far; and no record of a later one is put from now on.  A
 * realloc whose own allocation is later is only its free. */
uint64_t live_allocs_decoder_latest(const struct live_allocs_decoder *decoder);
void live_allocs_decoder_end_at(struct live_allocs_decoder *decoder, uint64_t time);
/* No record of that moment (`lost_stamp` of the live file's header) or a later one is put. */
void live_allocs_decoder_end_before(struct live_allocs_decoder *decoder, uint64_t stamp);

/* Does a chunk of that size, header included, have a free that a record did not come to tell
 * (`owed_at` of its header)? */
static inline bool live_allocs_has_owed(uint32_t owed_at, uint32_t size_bytes)
{
    uint64_t end = ((uint64_t) owed_at + STEP_LIVE_OWED_WORDS) * sizeof(uint64_t);
    return owed_at != 0 && end <= size_bytes - sizeof(struct step_live_chunk);
}

/* A free that the record of this number would have told of (STEP_LIVE_OWED_WORDS words): it is put
 * if that is the next of its stream, so did not come. */
enum step_status live_allocs_decoder_owed(struct live_allocs_decoder *decoder, uint64_t stream,
                                          uint64_t record, const uint64_t *words,
                                          struct step_error *error);

/* Number of the next event record in the stream. */
uint64_t live_allocs_decoder_next_record(const struct live_allocs_decoder *decoder,
                                         uint64_t stream);

#endif
