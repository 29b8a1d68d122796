/* SPDX-License-Identifier: Apache-2.0 */
/* The moment of a trace at which its heap is inspected. */
#ifndef CONVERTER_TRACE_HEAP_MOMENT_H
#define CONVERTER_TRACE_HEAP_MOMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "converter/numbers/quantity.h"
#include "steptrace/status.h"

enum heap_moment_kind {
    HEAP_AT_END,
    HEAP_AT_PEAK,       /* the first time with the most live bytes */
    HEAP_AT_TIME,       /* after all events up to that time */
    HEAP_AT_COLLECTION, /* after the frees of that collection, counted from 1 */
};

struct heap_moment {
    enum heap_moment_kind kind;
    uint64_t value; /* ns or steps, or number of the collection */
};

/* Parses "end", "peak", "gc:3" or "1.5s".  Returns false for any other text. */
bool heap_moment_parse(const char *text, struct heap_moment *moment);
/* The same as the parser of an option's value (arguments.h). */
bool take_moment(void *moment_target, const char *value, const char **fault);
/* Writes the text form; `unit`: of the trace's times. */
void heap_moment_print(const struct heap_moment *moment, enum time_unit unit, char *out,
                       size_t out_size);
/* Sets the error for a moment that the trace does not have; `path` may be NULL.  Returns `status`.
 */
enum step_status heap_moment_missing(enum step_status status, const char *path, uint64_t end,
                                     enum time_unit unit, uint64_t collections,
                                     struct step_error *error);

#endif
