/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Objects that survived collections and still live at the end, by class and site, with their growth
 * in bytes a collection: the slope of a straight line fitted to the live bytes after each of the
 * last half of the collections, but at most the slope of the births of what lives at the end.  So a
 * cache that was filled early has no growth, and neither has one that replaces its entries.  What
 * was born between two collections only, a single large object as well, is a step and no growth.
 * The fit is the square of the correlation.
 */
#ifndef CONVERTER_NUMBERS_LEAK_ROWS_H
#define CONVERTER_NUMBERS_LEAK_ROWS_H

#include "converter/heap/heap_snapshot.h"
#include "converter/numbers/leak_tracker.h"
#include "converter/numbers/measure_names.h"

/* Survivors that are known and not reported: lines `class:PATTERN` or `site:PATTERN`, patterns
 * as those of --class and --site; # begins a comment. */

struct suppression;

struct suppressions {
    struct suppression *items;
    size_t count;
};

/* A value of an option, as in arguments.h: a file's name.  May be taken several times. */
bool take_suppressions(void *suppressions_target, const char *value, const char **fault);
void suppressions_reset(struct suppressions *suppressions);

/* Tells on stderr which of them named nothing. */
void suppressions_tell_unused(const struct suppressions *suppressions);

struct leak_limits {
    uint64_t survived; /* at least so many collections */
    uint64_t age_ns;   /* and at least so old; 0: any age */
};

struct leak_row {
    struct heap_key key;
    struct heap_amount old;        /* what has survived */
    uint64_t series[LEAK_SAMPLES]; /* live after each sampled collection */
    uint64_t births[LEAK_SAMPLES]; /* of what lives at the end, before each since the last one */
    double slope, fit;
    double rank; /* rows stand by this */
};

struct leak_rows {
    struct leak_row *rows;
    size_t count;
    struct heap_amount all;        /* what has survived */
    struct heap_amount suppressed; /* and not reported */
};

/* `axes`: enum heap_axis bits.  False: out of memory; reset is allowed then. */
bool leak_rows_make(const struct leak_tracker *tracker, const struct leak_limits *limits,
                    unsigned axes, struct suppressions *suppressions, struct leak_rows *out);
void leak_rows_reset(struct leak_rows *rows);
/* The rows as a run of measures, for gates, each under class and site.  False: out of memory. */
bool leak_rows_measure(const struct leak_rows *rows, const struct leak_tracker *tracker,
                       enum measure_side side, struct measures *measures);

#endif
