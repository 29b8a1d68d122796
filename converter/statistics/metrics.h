/* SPDX-License-Identifier: Apache-2.0 */
/* What rules and comparisons measure: metrics, and the sums of a row that they are made of. */
#ifndef CONVERTER_STATISTICS_METRICS_H
#define CONVERTER_STATISTICS_METRICS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "converter/numbers/amount.h"
#include "converter/trace/event.h"

enum measure_axis { AXIS_PROGRAM, AXIS_CLASS, AXIS_SITE, AXIS_THREAD, AXIS_METHOD, AXIS_COUNT };

extern const char *const axis_names[AXIS_COUNT];
extern const char *const axis_plurals[AXIS_COUNT];

/* Sums stored per row.  A number of objects follows its bytes. */
enum measure_sum {
    SUM_ALLOCATED_BYTES,
    SUM_ALLOCATED_OBJECTS,
    SUM_FREED_BYTES,
    SUM_FREED_OBJECTS,
    SUM_PEAK_BYTES, /* alive when live bytes were at their maximum */
    SUM_PEAK_OBJECTS,
    SUM_END_BYTES,
    SUM_END_OBJECTS,
    SUM_LIVED_US, /* lifetimes of freed objects */
    SUM_CALLS,
    SUM_EXCEPTIONS,
    SUM_OWN_NS,
    SUM_TIME_NS,
    SUM_COLLECTIONS,
    SUM_DURATION_NS,
    SUM_LEAKED_BYTES, /* steptrace leaks */
    SUM_LEAKED_OBJECTS,
    SUM_GROWTH_BYTES, /* per collection */
    SUM_ALIVE_BYTES,  /* steptrace heap */
    SUM_ALIVE_OBJECTS,
    SUM_COUNT,
    SUM_NONE = SUM_COUNT
};

/* Commands that compute a metric. */
enum metric_group { METRICS_OF_TRACES = 1, METRICS_OF_LEAKS = 2, METRICS_OF_HEAPS = 4 };

struct metric {
    const char *name;  /* in rules, and in JSON and CSV of comparisons */
    const char *title; /* in tables of comparisons */
    enum amount_unit unit;
    enum measure_sum sum; /* metrics are in the order of their sums; SUM_NONE: last */
    enum metric_group group;
    unsigned axes;      /* bits 1 << AXIS_...: whose rows have it */
    bool is_of_samples; /* a sampled trace has it, or an estimate of it */
    uint32_t needs;     /* kinds of events (TRACE_KIND_BIT) */
    /* Makes it of a struct statistics_row, of which only the sums are set; NULL: it is its sum. */
    struct amount (*value)(const void *row);
};

/* What a metric needs.  Without deaths all objects would count as alive. */
#define METRIC_BIRTHS TRACE_KIND_BIT(EVENT_OBJECT_ALLOC)
#define METRIC_LIVES (METRIC_BIRTHS | TRACE_KIND_BIT(EVENT_OBJECT_FREE))
#define METRIC_CALLS TRACE_KIND_BIT(EVENT_METHOD_ENTRY)

/* Whose rows have a metric: those to which measure_trace.c, measure_heap() and leak_rows_measure()
 * add. */
#define METRIC_OF_PROGRAM (1u << AXIS_PROGRAM)
#define METRIC_OF_METHODS (METRIC_OF_PROGRAM | 1u << AXIS_METHOD)
#define METRIC_OF_CALLS (METRIC_OF_METHODS | 1u << AXIS_THREAD)
#define METRIC_OF_LEAKS (METRIC_OF_PROGRAM | 1u << AXIS_CLASS | 1u << AXIS_SITE)
#define METRIC_OF_OBJECTS (METRIC_OF_LEAKS | 1u << AXIS_THREAD)

#define METRICS_MOST 40u

/* All metrics, in their order. */
struct metric_list {
    const struct metric *items[METRICS_MOST];
    size_t count;
};

/* Collects the metrics of columns (statistics_columns.c), and those without a column. */
void metric_list_init(struct metric_list *list);
/* Returns NULL if there is none. */
const struct metric *metric_by_name(const char *name, size_t length);
/* Computes a metric from the sums of a row, or of several rows added up.  There may be none: where
 * nothing died, there is no mean life.  Where a run has no clock, nobody asks for times
 * (measures_have()). */
struct amount metric_amount(const struct metric *metric, const uint64_t sums[SUM_COUNT]);

#endif
