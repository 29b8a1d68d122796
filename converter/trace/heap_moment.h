/* SPDX-License-Identifier: Apache-2.0 */
/* A moment of a trace at which its heap is looked at. */
#ifndef CONVERTER_TRACE_HEAP_MOMENT_H
#define CONVERTER_TRACE_HEAP_MOMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum heap_moment_kind {
    HEAP_AT_END,
    HEAP_AT_PEAK,       /* when most bytes lived, for the first time */
    HEAP_AT_TIME,       /* after all that happened up to that time */
    HEAP_AT_COLLECTION, /* after the frees of that collection, counted from 1 */
};

struct heap_moment {
    enum heap_moment_kind kind;
    uint64_t value; /* ns, or the collection's number */
};

/* "end", "peak", "gc:3", "1.5s".  False: it is none of these. */
bool heap_moment_parse(const char *text, struct heap_moment *moment);
/* The same as text. */
void heap_moment_print(const struct heap_moment *moment, char *out, size_t out_size);

#endif
