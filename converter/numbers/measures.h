/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Totals of traces: rows by class, site, thread and method, with sums for each run.  A run belongs
 * to one of two sides, before and after; a single set is after.  Memory is proportional to the
 * names, plus one number per row, run and sum.
 */
#ifndef CONVERTER_NUMBERS_MEASURES_H
#define CONVERTER_NUMBERS_MEASURES_H

#include "converter/base/name_index.h"
#include "converter/base/stack_text.h"
#include "converter/numbers/metrics.h"
#include "converter/trace/death_dates.h"
#include "converter/trace/level_curve.h"
#include "converter/trace/names.h"

#define MEASURE_RUNS_MOST 64u /* on each side */

enum measure_axis { AXIS_PROGRAM, AXIS_CLASS, AXIS_SITE, AXIS_THREAD, AXIS_METHOD, AXIS_COUNT };
enum measure_side { SIDE_BEFORE, SIDE_AFTER, SIDE_COUNT };

extern const char *const axis_names[AXIS_COUNT];
extern const char *const axis_plurals[AXIS_COUNT];

/* Rows are numbered from 1.  A site's `number` in the index is its parent's row, 0 for an outermost
 * frame, and its text is the frame's.  A parent's row is less than its children's. */
struct measure_table {
    struct name_index index;
    size_t capacity;
    uint64_t *sums; /* [row][run][SUM_COUNT] */
};

/* Live amounts over time, in one run. */
struct measure_run {
    const char *path; /* borrowed */
    enum measure_side side;
    struct level_curve *curve;
    uint64_t first_ns, last_ns;
    bool has_sizes;
    struct death_dates deaths;
    uint64_t resolution_ns;
    uint32_t kinds;       /* bits of the kinds of events that were recorded */
    uint64_t stack_depth; /* maximum number of frames per stack; 0: unknown */
    char program[256];    /* the program, as recorded in the trace; empty: unknown */
};

struct measures {
    struct measure_table tables[AXIS_COUNT];
    struct trace_names copies; /* texts of rows */
    struct measure_run *runs;
    size_t run_count;
    size_t run_capacity;
    bool exact_names; /* use names unchanged */
    bool with_lines;  /* frames are distinguished by line */
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

/* A value of a row or of a set: the median over its runs, with the minimum and maximum. */
struct measured {
    size_t runs;
    double median, least, most;
};
/* Summarises the values of `count` runs.  Sorts `values`. */
struct measured measured_of(double *values, size_t count);
/* Returns a metric of `row` on one side; all 0 if that side has no runs. */
struct measured measures_get(const struct measures *measures, enum measure_axis axis, uint32_t row,
                             const struct metric *metric, enum measure_side side);

#endif
