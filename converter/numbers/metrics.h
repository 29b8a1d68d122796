/* SPDX-License-Identifier: Apache-2.0 */
/* What is measured of a row: its name on the command line, its unit, how it comes of sums. */
#ifndef CONVERTER_NUMBERS_METRICS_H
#define CONVERTER_NUMBERS_METRICS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "converter/base/quantity.h"

/* Sums that rows keep. */
enum measure_sum {
    SUM_ALLOCATED_BYTES,
    SUM_ALLOCATED_OBJECTS,
    SUM_FREED_BYTES,
    SUM_FREED_OBJECTS,
    SUM_PEAK_BYTES, /* alive when most bytes lived */
    SUM_PEAK_OBJECTS,
    SUM_END_BYTES,
    SUM_END_OBJECTS,
    SUM_LIVED_US, /* of what was freed */
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

/* Who can tell it. */
enum metric_group { METRICS_OF_TRACES = 1, METRICS_OF_LEAKS = 2, METRICS_OF_HEAPS = 4 };

struct metric {
    const char *name;
    const char *title; /* for tables */
    enum metric_unit unit;
    enum measure_sum sum;
    bool is_mean; /* of SUM_LIVED_US over what was freed, in ns */
    enum metric_group group;
};

extern const struct metric metrics[];
extern const size_t metric_count;

/* NULL: there is none. */
const struct metric *metric_by_name(const char *name, size_t length);
/* Of sums of a row, or of several rows added up. */
double metric_value(const struct metric *metric, const uint64_t sums[SUM_COUNT]);
/* For people. */
struct quantity metric_quantity(const struct metric *metric, double value);
/* A change, with its sign. */
struct quantity metric_change(const struct metric *metric, double value);

#endif
