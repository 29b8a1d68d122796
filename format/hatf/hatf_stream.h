/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Buffered input stream: a file, or one of the streams of a split trace.  The buffer usually holds
 * a whole record, whatever its length, or the input's end followed by zeros, so a record is decoded
 * without checking for the end.
 */
#ifndef FORMAT_HATF_HATF_STREAM_H
#define FORMAT_HATF_HATF_STREAM_H

#include "format/hatf/hatf_state.h"

#define HATF_WORD_BYTES 8u /* numbers are loaded as whole words, whatever their width */
#define HATF_PADDING_BYTES ((size_t) HATF_RECORD_BYTES_MAX + HATF_WORD_BYTES)

/* Zero-initialise for a closed stream. */
struct hatf_stream {
    const uint8_t *at;
    const uint8_t *end;
    bool ended;                    /* the input has no more bytes */
    uint64_t base;                 /* offset in the input of the buffer's first byte */
    enum step_status input_status; /* an error of the input, reported after the buffer is empty */
    struct hatf_input input;
    uint8_t *buffer; /* followed by HATF_PADDING_BYTES */
};

/* Returns false if out of memory.  The input's `user` is borrowed. */
bool hatf_stream_open(struct hatf_stream *stream, const struct hatf_input *input);
void hatf_stream_close(struct hatf_stream *stream);

/* Reads more of the input, at least one byte unless it has ended.  `error` is that of the input. */
void hatf_stream_read_on(struct hatf_stream *stream, struct step_error *error);
/* Fills the buffer until it holds a whole record or the input ends. */
void hatf_stream_refill(struct hatf_stream *stream, struct step_error *error);

/* Returns true if the buffer may lack a part of the next record. */
static inline bool hatf_stream_is_low(const struct hatf_stream *stream)
{
    return (size_t) (stream->end - stream->at) < HATF_PADDING_BYTES && !stream->ended;
}

/* Returns the offset of the next byte in the input. */
static inline uint64_t hatf_stream_offset(const struct hatf_stream *stream)
{
    return stream->base + (uint64_t) (stream->at - stream->buffer);
}

#endif
