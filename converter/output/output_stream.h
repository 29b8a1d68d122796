/* SPDX-License-Identifier: Apache-2.0 */
/* A stdio stream that writes to an output of the libraries, and may compress what it gets. */
#ifndef CONVERTER_OUTPUT_OUTPUT_STREAM_H
#define CONVERTER_OUTPUT_OUTPUT_STREAM_H

#include <stdio.h>

#include "steptrace/packed.h"
#include "steptrace/status.h"
#include "steptrace/writer.h"

/* For code that prints with stdio. */
struct output_stream {
    FILE *file;
    struct step_output to;
    struct step_packed_output *packed; /* NULL: it is not compressed */
    struct step_error error;           /* the first error of a write */
};

/* Puts a packer, which compresses in a thread of its own, before the output, unless `packing` is
 * NONE; then `*packed` stays as it is. */
enum step_status output_pack(struct step_output *output, enum step_packing packing, int level,
                             struct step_packed_output **packed, struct step_error *error);

/* Opens the stream, which must not move afterwards, and compresses what is printed. */
enum step_status output_stream_open(struct output_stream *stream, const struct step_output *to,
                                    enum step_packing packing, int level, struct step_error *error);
/* Returns the first error of any write so far. */
static inline enum step_status output_stream_status(const struct output_stream *stream,
                                                    struct step_error *error)
{
    if (stream->error.status != STEP_STATUS_OK && error != NULL)
        *error = stream->error;
    return stream->error.status;
}
/* Completes what is printed.  Returns the first error of any write. */
enum step_status output_stream_close(struct output_stream *stream, struct step_error *error);
/* Frees the stream's resources, after a failure or after output_stream_close(). */
void output_stream_reset(struct output_stream *stream);

#endif
