/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A stream of bytes that are read in order: a file, or one of the streams of a split trace.  The
 * buffer mostly holds a whole record, however long, or the input's end with zeros after it: so a
 * record is decoded without looking at the end.
 */
#ifndef FORMAT_HATF_HATF_STREAM_H
#define FORMAT_HATF_HATF_STREAM_H

#include "format/hatf/hatf_state.h"

#define HATF_WORD_BYTES 8u /* a number is loaded as a whole word, whatever its width */
#define HATF_PADDING_BYTES ((size_t) HATF_RECORD_BYTES_MAX + HATF_WORD_BYTES)

/* Zeroed it is none. */
struct hatf_stream {
    const uint8_t *at;
    const uint8_t *end;
    bool ended;                    /* the input has no more bytes */
    uint64_t base;                 /* offset in the input of the buffer's first byte */
    enum step_status input_status; /* an error of the input, told once the buffer is empty */
    struct hatf_input input;
    uint8_t *buffer; /* with HATF_PADDING_BYTES behind what is read */
};

/* False: out of memory.  The input's `user` is borrowed. */
bool hatf_stream_open(struct hatf_stream *stream, const struct hatf_input *input);
void hatf_stream_close(struct hatf_stream *stream);

/* Reads what the input has next, at least one byte or to its end; `error` of the input. */
void hatf_stream_read_on(struct hatf_stream *stream, struct step_error *error);
/* Fills the buffer until it holds a whole record or the input ends. */
void hatf_stream_refill(struct hatf_stream *stream, struct step_error *error);

/* The next record may lie in the buffer in part. */
static inline bool hatf_stream_is_low(const struct hatf_stream *stream)
{
    return (size_t) (stream->end - stream->at) < HATF_PADDING_BYTES && !stream->ended;
}

/* Of the next byte, in the input. */
static inline uint64_t hatf_stream_offset(const struct hatf_stream *stream)
{
    return stream->base + (uint64_t) (stream->at - stream->buffer);
}

#endif
