/* SPDX-License-Identifier: Apache-2.0 */
/* Metrics: their names on the command line, their units, and how sums produce them. */
#ifndef CONVERTER_NUMBERS_METRICS_H
#define CONVERTER_NUMBERS_METRICS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "converter/base/quantity.h"

/* Sums stored per row. */
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
    SUM_COUNT
};

enum metric_unit { UNIT_BYTES, UNIT_COUNT, UNIT_TIME };

/* Commands that compute a metric. */
enum metric_group { METRICS_OF_TRACES = 1, METRICS_OF_LEAKS = 2, METRICS_OF_HEAPS = 4 };

struct metric {
    const char *name;
    const char *title; /* for tables */
    enum metric_unit unit;
    enum measure_sum sum;
    bool is_mean; /* mean of SUM_LIVED_US over freed objects, in ns */
    enum metric_group group;
    bool is_of_samples; /* a sampled trace has it, or an estimate of it */
};

extern const struct metric metrics[];
extern const size_t metric_count;

/* Returns NULL if there is none. */
const struct metric *metric_by_name(const char *name, size_t length);
/* Computes a metric from the sums of a row, or of several rows added up. */
double metric_value(const struct metric *metric, const uint64_t sums[SUM_COUNT]);
/* Formats a value for people. */
struct quantity metric_quantity(const struct metric *metric, double value);
/* Formats a change, with its sign. */
struct quantity metric_change(const struct metric *metric, double value);

#endif
