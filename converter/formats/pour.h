/* SPDX-License-Identifier: Apache-2.0 */
/* Converts a trace to another format: as allocations if both formats support them, else as
 * events. */
#ifndef CONVERTER_FORMATS_POUR_H
#define CONVERTER_FORMATS_POUR_H

#include "converter/formats/input.h"

struct pouring {
    const struct trace_format *to;
    const struct format_settings *settings;
    bool writes_broken_part; /* also write what precedes a fault */
};

/* Opens `output` ("-": standard output), writes the trace, and commits it.  Reports errors.  Sets
 * `size_bytes`, if not NULL, to the size of the file. */
enum step_status input_pour(struct input *input, const struct pouring *pouring, const char *output,
                            uint64_t *size_bytes);

#endif
