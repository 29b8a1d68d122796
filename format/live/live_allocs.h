/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decoder for raw records of native programs (enum step_live_heap_kind) to records of hatf.step,
 * used by the recorder's drain and by recovery.  The interface is that of live_decoder.h for Java.
 */
#ifndef FORMAT_LIVE_LIVE_ALLOCS_H
#define FORMAT_LIVE_LIVE_ALLOCS_H

#include <stdbool.h>
#include <stddef.h>

#include "steptrace/live.h"

struct live_allocs_decoder;

/* `writer` is borrowed; records of a stream that it already has are skipped. */
struct live_allocs_decoder *live_allocs_decoder_create(const struct step_live_header *clock,
                                                       struct step_writer *writer);
void live_allocs_decoder_destroy(struct live_allocs_decoder *decoder);

/* Returns the length in words of a record that begins with this word; 0: it is not one. */
size_t live_allocs_record_words(uint64_t word);

enum step_status live_allocs_decoder_words(void *decoder, uint64_t stream, const uint64_t *words,
                                           size_t count, size_t *consumed,
                                           struct step_error *error);
/* Writes a description of a return address, at most `size` bytes.  Returns its length. */
typedef size_t (*live_allocs_describe)(void *user, uint64_t address, char *out, size_t size);
/* Sets the describing function.  Without one, addresses are written in hexadecimal. */
void live_allocs_decoder_set_describe(struct live_allocs_decoder *decoder,
                                      live_allocs_describe describe, void *user);

/* Returns the sum of the sizes that the records so far asked for. */
uint64_t live_allocs_decoder_asked_bytes(const struct live_allocs_decoder *decoder);

/* Returns the latest time of the records so far.  From now on later records are omitted; a realloc
 * whose own allocation is later becomes only its free. */
uint64_t live_allocs_decoder_latest(const struct live_allocs_decoder *decoder);
void live_allocs_decoder_end_at(struct live_allocs_decoder *decoder, uint64_t time);
/* Omits records from that moment on (`lost_stamp` of the live file's header). */
void live_allocs_decoder_end_before(struct live_allocs_decoder *decoder, uint64_t stamp);

/* Returns true if a chunk of that size, header included, has a pending free of a record that was
 * not written (`owed_at` of its header). */
static inline bool live_allocs_has_owed(uint32_t owed_at, uint32_t size_bytes)
{
    uint64_t end = ((uint64_t) owed_at + STEP_LIVE_OWED_WORDS) * sizeof(uint64_t);
    return owed_at != 0 && end <= size_bytes - sizeof(struct step_live_chunk);
}

/* Writes the pending free (STEP_LIVE_OWED_WORDS words) of record `number` if that is the next one
 * of its stream, which means that it was not written. */
enum step_status live_allocs_decoder_owed(struct live_allocs_decoder *decoder, uint64_t stream,
                                          uint64_t record, const uint64_t *words,
                                          struct step_error *error);

#endif
