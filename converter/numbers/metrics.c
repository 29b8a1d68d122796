/* SPDX-License-Identifier: Apache-2.0 */
/* The table of metrics. */
#include "converter/numbers/metrics.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

const struct metric metrics[] = {
    {"allocated", "allocated", UNIT_BYTES, SUM_ALLOCATED_BYTES, false, METRICS_OF_TRACES, true},
    {"allocated_objects", "objects", UNIT_COUNT, SUM_ALLOCATED_OBJECTS, false, METRICS_OF_TRACES,
     true},
    {"freed", "freed", UNIT_BYTES, SUM_FREED_BYTES, false, METRICS_OF_TRACES, true},
    {"freed_objects", "freed objects", UNIT_COUNT, SUM_FREED_OBJECTS, false, METRICS_OF_TRACES,
     true},
    {"alive_at_peak", "at peak", UNIT_BYTES, SUM_PEAK_BYTES, false, METRICS_OF_TRACES, false},
    {"alive_at_peak_objects", "objects at peak", UNIT_COUNT, SUM_PEAK_OBJECTS, false,
     METRICS_OF_TRACES, false},
    {"alive_at_end", "at end", UNIT_BYTES, SUM_END_BYTES, false, METRICS_OF_TRACES, true},
    {"alive_at_end_objects", "objects at end", UNIT_COUNT, SUM_END_OBJECTS, false,
     METRICS_OF_TRACES, true},
    {"lifetime", "mean life", UNIT_TIME, SUM_LIVED_US, true, METRICS_OF_TRACES, false},
    {"calls", "calls", UNIT_COUNT, SUM_CALLS, false, METRICS_OF_TRACES, false},
    {"exceptions", "exceptions", UNIT_COUNT, SUM_EXCEPTIONS, false, METRICS_OF_TRACES, false},
    {"own_time", "itself", UNIT_TIME, SUM_OWN_NS, false, METRICS_OF_TRACES, false},
    {"time", "with inner", UNIT_TIME, SUM_TIME_NS, false, METRICS_OF_TRACES, false},
    {"collections", "collections", UNIT_COUNT, SUM_COLLECTIONS, false, METRICS_OF_TRACES, false},
    {"duration", "duration", UNIT_TIME, SUM_DURATION_NS, false, METRICS_OF_TRACES, true},
    {"leaked", "leaked", UNIT_BYTES, SUM_LEAKED_BYTES, false, METRICS_OF_LEAKS, true},
    {"leaked_objects", "leaked objects", UNIT_COUNT, SUM_LEAKED_OBJECTS, false, METRICS_OF_LEAKS,
     true},
    {"growth", "growth", UNIT_BYTES, SUM_GROWTH_BYTES, false, METRICS_OF_LEAKS, true},
    {"alive", "alive", UNIT_BYTES, SUM_ALIVE_BYTES, false, METRICS_OF_HEAPS, true},
    {"alive_objects", "alive objects", UNIT_COUNT, SUM_ALIVE_OBJECTS, false, METRICS_OF_HEAPS,
     true},
};
const size_t metric_count = sizeof metrics / sizeof metrics[0];

const struct metric *metric_by_name(const char *name, size_t length)
{
    for (size_t i = 0; i < metric_count; i++)
        if (strlen(metrics[i].name) == length && memcmp(metrics[i].name, name, length) == 0)
            return &metrics[i];
    return NULL;
}

double metric_value(const struct metric *metric, const uint64_t sums[SUM_COUNT])
{
    if (!metric->is_mean)
        return (double) sums[metric->sum];
    return sums[SUM_FREED_OBJECTS] > 0
               ? 1000.0 * (double) sums[metric->sum] / (double) sums[SUM_FREED_OBJECTS]
               : 0;
}

struct quantity metric_quantity(const struct metric *metric, double value)
{
    switch (metric->unit) {
    case UNIT_BYTES:
        return quantity_of_bytes(value);
    case UNIT_TIME:
        return quantity_of_ns(value);
    default:
        return quantity_of_count((uint64_t) (value + 0.5));
    }
}

struct quantity metric_change(const struct metric *metric, double value)
{
    struct quantity size = metric_quantity(metric, fabs(value)), out;
    snprintf(out.text, sizeof out.text, "%s%.30s",
             value > 0   ? "+"
             : value < 0 ? "-"
                         : "",
             size.text);
    return out;
}
