/* SPDX-License-Identifier: Apache-2.0 */
/* A trace into a file of another format: as allocations where both have them, else as events. */
#ifndef CONVERTER_FORMATS_POUR_H
#define CONVERTER_FORMATS_POUR_H

#include "converter/formats/input.h"

struct pouring {
    const struct trace_format *to;
    const struct format_settings *settings;
    bool writes_broken_part; /* what came before a fault is written too */
};

/* Opens `output` ("-": standard output), writes the trace, and commits it.  Faults are reported.
 * `size_bytes`, if not NULL, is how large the file became. */
enum step_status input_pour(struct input *input, const struct pouring *pouring, const char *output,
                            uint64_t *size_bytes);

#endif
