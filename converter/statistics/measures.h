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
#include <stdio.h>

#include "converter/cli/stack_text.h"
#include "converter/containers/name_index.h"
#include "converter/heap/heap_sites.h"
#include "converter/numbers/estimates.h"
#include "converter/numbers/quantity.h"
#include "converter/trace/death_dates.h"
#include "converter/trace/level_curve.h"
#include "converter/trace/names.h"
#include "steptrace/value.h"

enum measure_axis { AXIS_PROGRAM, AXIS_CLASS, AXIS_SITE, AXIS_THREAD, AXIS_METHOD, AXIS_COUNT };

/* Metrics: their names on the command line, their units, and how sums produce them. */

/* Sums stored per row. */
/* A number of objects follows its bytes. */
enum measure_sum {
    SUM_ALLOCATED_BYTES,
    SUM_ALLOCATED_OBJECTS,
    SUM_FREED_BYTES,
    SUM_FREED_OBJECTS,
    SUM_PEAK_BYTES, /* alive when live bytes were at their maximum */
    SUM_PEAK_OBJECTS,
    SUM_END_BYTES,
    SUM_END_OBJECTS,
    SUM_LIVED_US, /* lifetimes of freed objects; its metric is their mean, in ns */
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
    enum metric_group group;
    unsigned axes;      /* bits 1 << AXIS_...: whose rows have it */
    bool is_of_samples; /* a sampled trace has it, or an estimate of it */
    uint32_t needs;     /* kinds of events (TRACE_KIND_BIT) */
};

extern const struct metric metrics[];
extern const size_t metric_count;

/* Returns NULL if there is none. */
const struct metric *metric_by_name(const char *name, size_t length);
/* Formats a value for people. */
struct quantity metric_quantity(const struct metric *metric, double value);
/* Formats a change, with its sign. */
struct quantity metric_change(const struct metric *metric, double value);

#define MEASURE_RUNS_MOST 64u /* on each side */

enum measure_side { SIDE_BEFORE, SIDE_AFTER, SIDE_COUNT };

extern const char *const axis_names[AXIS_COUNT];
extern const char *const axis_plurals[AXIS_COUNT];

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
    struct measure_table tables[AXIS_COUNT];
    struct measure_run *runs;
    size_t run_count;
    size_t run_capacity;
    /* Names of the traces of `stats` and `compare`, whether they have rows or not: classes, threads
     * and methods */
    struct name_index known[AXIS_COUNT];
    bool is_unmatched;    /* some pattern of the selection matches nothing, in any run */
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
/* Returns whether a run's JVM samples with a bias. */
bool measures_are_biased(const struct measures *measures);
/* Returns the variances of a row's sums, or NULL if no run is sampled. */
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
           (!measures->lacks_times || metric->unit != UNIT_TIME) &&
           (!measures->lacks_sizes || metric->unit != UNIT_BYTES) &&
           (measures->lacks_kinds & metric->needs) == 0 &&
           (measures->lacks_sums >> metric->sum & 1) == 0;
}

/* A value of a row or of a set: the median over its runs, with the minimum and maximum.  Of sampled
 * runs these are the bounds of their 95 % intervals; `most` is infinite without a sample. */
struct measured {
    size_t runs;
    double median, least, most;
    bool is_estimate;
    bool is_biased; /* of an estimate: its bounds are no 95 % interval */
    double scale;   /* of an estimate (estimates.h) */
};
/* Summarises the values of `count` runs.  Sorts `values`. */
struct measured measured_of(double *values, size_t count);
/* How sure sums are: their variances, NULL if all are exact, and whether all objects have one size
 * (estimates.h). */
struct sums_spread {
    const double *variances;
    bool is_one_size;
};
/* Returns whether all objects of a row have one size. */
bool measures_row_has_one_size(const struct measures *measures, enum measure_axis axis,
                               uint32_t row);
/* Summarises a metric of the runs of one side.  `sums_of` returns the sums of a run and sets
 * `*spread`. */
typedef const uint64_t *(*measured_sums)(const void *user, size_t run, struct sums_spread *spread);
struct measured measured_of_runs(const struct measures *measures, const struct metric *metric,
                                 enum measure_side side, measured_sums sums_of, const void *user);
/* Returns the median with its bounds. */
struct estimate measured_estimate(const struct measured *measured);
/* Estimates the change.  Of several runs it takes the variation between them for an interval. */
struct estimate measured_change(const struct measured *before, const struct measured *after);
/* Returns true if the change is within the variation between runs, or if its interval contains 0.
 */
bool measured_is_noise(const struct measured *before, const struct measured *after);
/* Prints " (1 KiB to 2 KiB in 3 runs)" or " (1 KiB to 2 KiB at 95 %)" if there is a range. */
void measured_print_range(const struct metric *metric, const struct measured *measured, FILE *out);
/* The same of the change from one to the other, of estimates. */
void measured_print_change(const struct metric *metric, const struct measured *before,
                           const struct measured *after, FILE *out);
/* Returns a metric of `row` on one side; all 0 if that side has no runs. */
struct measured measures_get(const struct measures *measures, enum measure_axis axis, uint32_t row,
                             const struct metric *metric, enum measure_side side);

/* A metric of a row on both sides. */
struct measured_pair {
    struct measured before, after;
    double change; /* of the medians */
};
struct measured_pair measures_pair(const struct measures *measures, enum measure_axis axis,
                                   uint32_t row, const struct metric *metric);

/* Maps a trace's classes, threads, methods and call sites to rows by name. */

#define LASTING_NAME_MOST 1024u

/* Writes the stable name of a class, at most `out_size` bytes, and returns the length. */
size_t lasting_class_name(struct step_bytes name, char *out, size_t out_size);
/* The same for a thread: each number becomes `#`. */
size_t lasting_thread_name(struct step_bytes name, char *out, size_t out_size);

/* These return a row, or 0 if memory runs out. */
uint32_t measure_class_row(struct measures *measures, const struct trace_names *names, uint32_t id);
uint32_t measure_thread_row(struct measures *measures, const struct trace_names *names,
                            uint32_t id);
/* Returns the rows of all sites, by site number; the caller frees it.  NULL: out of memory. */
uint32_t *measure_sites(struct measures *measures, const struct heap_sites *sites);
/* Writes "class.method" and returns the length. */
size_t measure_method_text(const struct measures *measures, const struct trace_names *names,
                           uint32_t id, char *out, size_t out_size);

/* Truncates the call sites of all runs to their innermost `depth` frames and merges sites that
 * become equal.  Returns false if memory runs out. */
bool measures_cut_sites(struct measures *measures, uint64_t depth);

#endif
