/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Raw records of the live buffers into records of a STEP writer: used by the agent's drain thread
 * and by recovery after the traced process died.
 */
#ifndef FORMAT_LIVE_LIVE_DECODER_H
#define FORMAT_LIVE_LIVE_DECODER_H

#include "steptrace/live.h"

struct live_decoder;

/* `writer` is borrowed for the decoder's life; what it has of a stream or dictionary already
 * (step_writer_resume_*) is passed over. */
struct live_decoder *live_decoder_create(const struct step_live_header *clock,
                                         struct step_writer *writer);
void live_decoder_destroy(struct live_decoder *decoder);

/* Says where in the stream the words that follow stand.  Called at the start of each chunk. */
enum step_status live_decoder_begin(struct live_decoder *decoder, uint64_t stream,
                                    uint64_t first_record, uint64_t thread);

/* Decodes whole raw records.  `*consumed` is how many words were taken: all of them unless the
 * words end inside a record (CORRUPT: no such kind, a bad length). */
enum step_status live_decoder_words(struct live_decoder *decoder, uint64_t stream,
                                    const uint64_t *words, size_t count, size_t *consumed,
                                    struct step_error *error);

/* Puts what is held back: an unfinished batch of frees, with the time `stamp`. */
enum step_status live_decoder_finish(struct live_decoder *decoder, uint64_t stamp);

/* Number of the next event record in the stream. */
uint64_t live_decoder_next_record(const struct live_decoder *decoder, uint64_t stream);

/* Raw records below the number that this gives are in the trace file for good, when `written`
 * records of the stream are.  That is not the same for frees: the records of a batch are written in
 * another order than they came in, so a batch counts only as a whole. */
uint64_t live_decoder_settled(struct live_decoder *decoder, uint64_t stream, uint64_t written);

#endif
