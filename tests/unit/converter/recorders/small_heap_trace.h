/* SPDX-License-Identifier: Apache-2.0 */
/* Small traces of native programs, and commands that say how they were called. */
#ifndef TESTS_UNIT_CONVERTER_RECORDERS_SMALL_HEAP_TRACE_H
#define TESTS_UNIT_CONVERTER_RECORDERS_SMALL_HEAP_TRACE_H

#include <stddef.h>
#include <stdint.h>

#include "tests/unit/scratch.h"

struct small_call {
    uint64_t time, address, size; /* 0: a free */
};

/* Writes a trace of these calls with these properties, key after value, that end with NULL. */
void put_heap_trace(const char *path, const struct small_call *calls, size_t count,
                    const char *const *properties);

/* The commands `convert`, `recover` and `heap` of this program do nothing but copy their input to
 * the output after -o, and write here how they were called, a line each. */
extern char called[4096];

#endif
