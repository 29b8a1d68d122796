/* SPDX-License-Identifier: Apache-2.0 */
/* Buffered input stream of a HATF reader: filled in large pieces; unread bytes are moved to the
 * front. */
#include "format/hatf/hatf_stream.h"

#include <stdlib.h>
#include <string.h>

#define BUFFER_BYTES ((size_t) 1 << 20)

bool hatf_stream_open(struct hatf_stream *stream, const struct hatf_input *input)
{
    stream->input = *input;
    stream->buffer = calloc(1, BUFFER_BYTES + HATF_PADDING_BYTES);
    stream->at = stream->buffer;
    stream->end = stream->buffer;
    return stream->buffer != NULL;
}

void hatf_stream_close(struct hatf_stream *stream)
{
    free(stream->buffer);
}

/* Moves the unread bytes to the start of the buffer, but only if the end is near, so that input in
 * small pieces does not cause a move each time. */
static void make_room(struct hatf_stream *stream)
{
    size_t left = (size_t) (stream->end - stream->at);
    if ((size_t) (stream->end - stream->buffer) <= BUFFER_BYTES - HATF_PADDING_BYTES)
        return;
    memmove(stream->buffer, stream->at, left);
    stream->base += (uint64_t) (stream->at - stream->buffer);
    stream->at = stream->buffer;
    stream->end = stream->buffer + left;
}

void hatf_stream_read_on(struct hatf_stream *stream, struct step_error *error)
{
    make_room(stream);
    size_t end = (size_t) (stream->end - stream->buffer);
    size_t got = 0;
    stream->input_status = stream->input.read(stream->input.user, stream->buffer + end,
                                              BUFFER_BYTES - end, &got, error);
    stream->ended = stream->input_status != STEP_STATUS_OK || got == 0;
    if (stream->ended)
        memset(stream->buffer + end, 0, HATF_PADDING_BYTES);
    else
        stream->end = stream->buffer + end + got;
}

void hatf_stream_refill(struct hatf_stream *stream, struct step_error *error)
{
    while (hatf_stream_is_low(stream))
        hatf_stream_read_on(stream, error);
}
