/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decoder for raw records of the live buffers to records of a STEP writer, used by the agent's
 * drain thread, and by recovery after the traced process died.
 *
 * Probes write what is cheapest for them: a word or two, with times relative to the record before,
 * and a number for an object that follows the one before.  The decoder turns that into records of
 * the definition.  Its state within a chunk is only what the chunk itself has said since its start
 * (live_streams_begin()), so that a reader can begin with any chunk.
 *
 * Recovery must produce exactly what the drain would have.  So both use this decoder, and records
 * are identified by their number in the stream: what the trace file already has is decoded for its
 * effect on the state, but not written again.
 */
#ifndef FORMAT_LIVE_LIVE_DECODER_H
#define FORMAT_LIVE_LIVE_DECODER_H

#include "steptrace/live.h"

struct live_decoder;

/* `writer` is borrowed for the decoder's life; records and entries that it already has
 * (step_writer_resume_*) are skipped. */
struct live_decoder *live_decoder_create(const struct step_live_header *clock,
                                         struct step_writer *writer);
void live_decoder_destroy(struct live_decoder *decoder);

/* Omits events that are later than the JVM's death, once that was decoded: threads wrote them when
 * the agent no longer waited for them. */
void live_decoder_end_at_death(struct live_decoder *decoder);

/* The functions that take a `void *` decoder have the types that capture/drain.h calls.  Others of
 * them are in live_streams.h. */

/* Decodes whole raw records.  Sets `*consumed` to the number of words decoded: all of them unless
 * they end inside a record.  CORRUPT: unknown kind, or invalid length. */
enum step_status live_decoder_words(void *decoder, uint64_t stream, const uint64_t *words,
                                    size_t count, size_t *consumed, struct step_error *error);

/* Sums up the bytes of the objects that each thread allocates, from now on. */
void live_decoder_count_bytes(struct live_decoder *decoder);
/* Returns the sum of a thread, by its number in the trace, or of LIVE_ALL_THREADS. */
#define LIVE_ALL_THREADS UINT64_MAX
uint64_t live_decoder_bytes_of(const struct live_decoder *decoder, uint64_t thread);

/* Writes what is held back: an unfinished batch of frees, with the time `stamp`. */
enum step_status live_decoder_finish(struct live_decoder *decoder, uint64_t stamp);

/* Returns the number below which raw records are final in the trace file when `written` records of
 * the stream are.  For frees the two differ: a batch is written in another order than it was
 * recorded, so it counts only as a whole. */
uint64_t live_decoder_settled(void *decoder, uint64_t stream, uint64_t written);

#endif
