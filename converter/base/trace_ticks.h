/* SPDX-License-Identifier: Apache-2.0 */
/* Times of a STEP trace: ticks of the length that its property "resolution-ns" has. */
#ifndef CONVERTER_BASE_TRACE_TICKS_H
#define CONVERTER_BASE_TRACE_TICKS_H

#include <stdint.h>
#include <stdlib.h>

#include "steptrace/reader.h"

/* A tick in nanoseconds; 0: the trace does not tell. */
static inline uint64_t trace_told_resolution_ns(const struct step_reader *reader)
{
    const char *text = step_reader_property(reader, "resolution-ns");
    return text != NULL ? strtoull(text, NULL, 10) : 0;
}

/* The same; 1 where the trace does not tell. */
static inline uint64_t trace_resolution_ns(const struct step_reader *reader)
{
    uint64_t told = trace_told_resolution_ns(reader);
    return told > 0 ? told : 1;
}

/* Nanoseconds; beyond 2^64 - 1 that. */
static inline uint64_t trace_ticks_ns(uint64_t ticks, uint64_t resolution_ns)
{
    uint64_t time_ns;
    return __builtin_mul_overflow(ticks, resolution_ns, &time_ns) ? UINT64_MAX : time_ns;
}

#endif
