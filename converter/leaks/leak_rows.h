/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What has survived and still lives at the end, by class and site, with how it grew: a line through
 * what lived after the later half of the collections, its slope in bytes a collection, and its fit
 * (the square of the correlation).  A cache that was filled early has a slope near 0.
 */
#ifndef CONVERTER_LEAKS_LEAK_ROWS_H
#define CONVERTER_LEAKS_LEAK_ROWS_H

#include "converter/leaks/leak_tracker.h"
#include "converter/leaks/suppressions.h"
#include "converter/measures/measure_names.h"

struct leak_limits {
    uint64_t survived; /* at least so many collections */
    uint64_t age_ns;   /* and at least so old; 0: any age */
};

struct leak_row {
    struct heap_key key;
    struct heap_amount old; /* what has survived */
    uint64_t series[LEAK_SAMPLES];
    double slope, fit;
    double rank; /* rows stand by this */
};

struct leak_rows {
    struct leak_row *rows;
    size_t count;
    struct heap_amount all;        /* what has survived */
    struct heap_amount suppressed; /* and was not to be told of */
};

/* `axes`: enum heap_axis bits.  False: out of memory; reset is allowed then. */
bool leak_rows_make(const struct leak_tracker *tracker, const struct leak_limits *limits,
                    unsigned axes, struct suppressions *suppressions, struct leak_rows *out);
void leak_rows_reset(struct leak_rows *rows);
/* The rows as a run of measures, for gates, each under class and site.  False: out of memory. */
bool leak_rows_measure(const struct leak_rows *rows, const struct leak_tracker *tracker,
                       enum measure_side side, struct measures *measures);

#endif
