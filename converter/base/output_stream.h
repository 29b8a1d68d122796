/* SPDX-License-Identifier: Apache-2.0 */
/* A stdio stream over an output of the libraries, for those who print. */
#ifndef CONVERTER_BASE_OUTPUT_STREAM_H
#define CONVERTER_BASE_OUTPUT_STREAM_H

#include <stdbool.h>
#include <stdio.h>

#include "steptrace/writer.h"

struct output_stream {
    FILE *file;
    struct step_output to;
    struct step_error error; /* the first */
};

/* The stream must stay where it is.  False: out of memory. */
bool output_stream_open(struct output_stream *stream, const struct step_output *to);
/* Flushes; the first error of any write. */
enum step_status output_stream_close(struct output_stream *stream, struct step_error *error);
/* Lets go of what is left, after a failure or a close. */
void output_stream_reset(struct output_stream *stream);

#endif
