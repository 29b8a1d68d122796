/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Totals of traces: rows by class, site, thread and method, with sums for each run.  A run belongs
 * to one of two sides, before and after; a single set is after.  Memory is proportional to the
 * names, plus one number per row, run and sum.
 */
#ifndef CONVERTER_STATISTICS_MEASURES_H
#define CONVERTER_STATISTICS_MEASURES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "converter/cli/stack_text.h"
#include "converter/containers/name_index.h"
#include "converter/numbers/estimates.h"
#include "converter/statistics/metrics.h"
#include "converter/trace/death_dates.h"
#include "converter/trace/level_curve.h"
#include "steptrace/value.h"

#define MEASURE_RUNS_MOST 64u /* on each side */

enum measure_side { SIDE_BEFORE, SIDE_AFTER, SIDE_COUNT };

/* Rows are numbered from 1.  A site's `number` in the index is its parent's row, 0 for an outermost
 * frame, and its text is the frame's.  A parent's row is less than its children's. */
struct measure_table {
    struct name_index index;
    size_t sum_capacity, variance_capacity;
    uint64_t *sums;    /* [row][run][SUM_COUNT]; of a sampled run estimates, rounded */
    double *variances; /* the same, of the estimates; NULL: no run is sampled */
};

/* Live amounts over time, in one run. */
struct measure_run {
    const char *path; /* borrowed */
    enum measure_side side;
    struct level_curve *curve;
    uint64_t first_ns, last_ns;
    bool has_sizes;
    enum time_unit unit; /* of times */
    struct death_dates deaths;
    uint64_t resolution_ns;
    uint32_t kinds;                  /* bits of the kinds of events that were recorded */
    uint64_t samples;                /* of a sampled run */
    const struct sampling *sampling; /* how its samples were drawn; NULL: it has all objects */
    double widest_interval_bytes;    /* of a sampled run: the mean of its samples, by bytes */
    uint64_t stack_depth;            /* maximum number of frames per stack; 0: unknown */
    char program[256];               /* the program, as recorded in the trace; empty: unknown */
};

struct measures {
    struct metric_list metrics;
    struct measure_table tables[AXIS_COUNT];
    struct measure_run *runs;
    size_t run_count;
    size_t run_capacity;
    /* Names of the traces (measures_note_names()): classes, threads and methods */
    struct name_index known[AXIS_COUNT];
    /* What some trace may lack (measures_note_lack()); NULL: nothing. */
    const char *lack;
    bool is_unmatched; /* some pattern of the selection matches nothing, in any run */

    bool exact_names;     /* use names unchanged */
    bool with_lines;      /* frames are distinguished by line */
    bool has_estimates;   /* some runs are sampled */
    bool lacks_times;     /* some runs have no clock */
    bool lacks_sizes;     /* some objects have no sizes */
    uint32_t lacks_kinds; /* that some runs do not have */
    uint32_t lacks_sums;  /* bits of enum measure_sum: some run has too few collections for them */
};

/* Allocates room for this many runs.  Returns false if memory runs out; reset is allowed then. */
bool measures_init(struct measures *measures, size_t run_capacity);
void measures_reset(struct measures *measures);

/* Returns the row, created if necessary, or 0 if memory runs out. */
uint32_t measures_row(struct measures *measures, enum measure_axis axis, uint32_t parent,
                      struct step_bytes text);
static inline size_t measures_count(const struct measures *measures, enum measure_axis axis)
{
    return measures->tables[axis].index.count;
}
static inline struct step_bytes measures_text(const struct measures *measures,
                                              enum measure_axis axis, uint32_t row)
{
    return measures->tables[axis].index.entries[row].text;
}
static inline uint32_t measures_parent(const struct measures *measures, uint32_t site)
{
    return (uint32_t) measures->tables[AXIS_SITE].index.entries[site].number;
}
/* Returns a row's name for printing; a site's includes its callers. */
struct stack_text measures_name(const struct measures *measures, enum measure_axis axis,
                                uint32_t row, uint64_t depth);
/* Writes the name as a member; a site's is an array of all frames. */
void measures_put_name(const struct measures *measures, enum measure_axis axis, uint32_t row,
                       struct json_output *json);
static inline uint64_t *measures_sums(const struct measures *measures, enum measure_axis axis,
                                      uint32_t row, size_t run)
{
    return &measures->tables[axis].sums[(row * measures->run_capacity + run) * SUM_COUNT];
}

/* Reports on stderr that one run is sampled and the other is not. */
void measures_report_mixture(const struct measure_run *first, const struct measure_run *second);
/* Prepares for runs that are sampled.  Returns false if memory runs out. */
bool measures_expect_estimates(struct measures *measures);
static inline bool measure_run_is_biased(const struct measure_run *run)
{
    return run->sampling != NULL && run->sampling->is_biased;
}
/* Returns whether a run's JVM samples with a bias. */
bool measures_are_biased(const struct measures *measures);
/* Returns the variances of a row's sums, or NULL if no run is sampled.  A negative one: the sum is
 * known (SUM_IS_KNOWN). */
#define SUM_IS_KNOWN (-1.0)
static inline double *measures_variances(const struct measures *measures, enum measure_axis axis,
                                         uint32_t row, size_t run)
{
    const struct measure_table *table = &measures->tables[axis];
    return table->variances == NULL
               ? NULL
               : &table->variances[(row * measures->run_capacity + run) * SUM_COUNT];
}
/* Returns whether all runs have the metric. */
static inline bool measures_have(const struct measures *measures, const struct metric *metric)
{
    return (!measures->has_estimates || metric->is_of_samples) &&
           (!measures->lacks_times || metric->unit != AMOUNT_NS) &&
           (!measures->lacks_sizes || metric->unit != AMOUNT_BYTES) &&
           (measures->lacks_kinds & metric->needs) == 0 &&
           (measures->lacks_sums >> metric->sum & 1) == 0;
}

/* Returns whether all objects of a row have one size. */
bool measures_row_has_one_size(const struct measures *measures, enum measure_axis axis,
                               uint32_t row);
/* Truncates the call sites of all runs to their innermost `depth` frames and merges sites that
 * become equal.  Returns false if memory runs out. */
bool measures_cut_sites(struct measures *measures, uint64_t depth);

#endif
