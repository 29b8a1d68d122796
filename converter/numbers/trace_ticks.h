/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers in properties of traces, and times of STEP traces: from ticks to nanoseconds.  The
 * property "resolution-ns" stores the length of a tick. */
#ifndef CONVERTER_NUMBERS_TRACE_TICKS_H
#define CONVERTER_NUMBERS_TRACE_TICKS_H

#include <stdint.h>
#include <stdlib.h>

#include "steptrace/reader.h"

/* Returns the number that a property's value begins with; `otherwise` if there is none, or no
 * property (NULL). */
static inline uint64_t trace_number(const char *value, uint64_t otherwise)
{
    return value != NULL && value[0] >= '0' && value[0] <= '9' ? strtoull(value, NULL, 10)
                                                               : otherwise;
}

/* Returns the length of a tick in nanoseconds; 0 if the trace does not specify it. */
static inline uint64_t trace_given_resolution_ns(const struct step_reader *reader)
{
    return trace_number(step_reader_property(reader, "resolution-ns"), 0);
}

/* The same, but 1 if the trace does not specify it. */
static inline uint64_t trace_resolution_ns(const struct step_reader *reader)
{
    uint64_t reported = trace_given_resolution_ns(reader);
    return reported > 0 ? reported : 1;
}

/* Converts ticks to nanoseconds, saturating at UINT64_MAX. */
static inline uint64_t trace_ticks_ns(uint64_t ticks, uint64_t resolution_ns)
{
    uint64_t time_ns;
    return __builtin_mul_overflow(ticks, resolution_ns, &time_ns) ? UINT64_MAX : time_ns;
}

#endif
