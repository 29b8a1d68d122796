/* SPDX-License-Identifier: Apache-2.0 */
/* A stdio stream that writes to an output of the libraries, for code that prints with stdio. */
#ifndef CONVERTER_BASE_OUTPUT_STREAM_H
#define CONVERTER_BASE_OUTPUT_STREAM_H

#include <stdbool.h>
#include <stdio.h>

#include "steptrace/writer.h"

struct output_stream {
    FILE *file;
    struct step_output to;
    struct step_error error; /* the first error of a write */
};

/* Opens the stream, which must not move afterwards.  Returns false if out of memory. */
bool output_stream_open(struct output_stream *stream, const struct step_output *to);
/* Returns the first error of any write so far. */
static inline enum step_status output_stream_status(const struct output_stream *stream,
                                                    struct step_error *error)
{
    if (stream->error.status != STEP_STATUS_OK && error != NULL)
        *error = stream->error;
    return stream->error.status;
}
/* Flushes the stream.  Returns the first error of any write. */
enum step_status output_stream_close(struct output_stream *stream, struct step_error *error);
/* Frees the stream's resources, after a failure or after output_stream_close(). */
void output_stream_reset(struct output_stream *stream);

#endif
