/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The nominal statistics of the DaCapo Chopin benchmark suite that a trace determines
 * (docs/nominal.md).  Allocations and deaths go in, in the order of the trace; a value, and how
 * exact it is, comes out for each statistic.  Memory is proportional to the living objects, and
 * 512 KiB for sizes, 60 KiB for lifetimes.
 */
#ifndef ANALYSES_NOMINAL_NOMINAL_H
#define ANALYSES_NOMINAL_NOMINAL_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "converter/containers/lifetimes.h"
#include "converter/containers/object_table.h"
#include "converter/trace/death_dates.h"
#include "converter/trace/event.h"
#include "converter/trace/event_source.h"

/*
 * The dispersion of lifetimes: their Gini coefficient, where each byte counts with the lifetime of
 * its object.  Lifetimes are in two histograms, which keep the sum of each bucket, so that only
 * differences inside of a bucket are lost.  Memory is 60 KiB.
 */

struct lives {
    double bytes;
    double lived; /* sum over the bytes */
};

struct dispersion {
    struct lives *known; /* by bucket of struct lifetimes */
    struct lives *least; /* of these objects a lower bound of the lifetime is known */
    bool has_bounds;
};

struct dispersion_result {
    double least; /* the coefficient is not below it, whatever the lifetimes of bounds are */
    double most;  /* nor above it, if no lifetime is a bound */
};

/* Returns false if no bytes were added, or if out of memory. */
bool dispersion_compute(const struct dispersion *dispersion, struct dispersion_result *result);

/* Sizes below this have a count each, so that percentiles there are exact. */
#define NOMINAL_SIZES ((uint64_t) 1 << 16)
/* The iterations after which GLK compares the heap with that of the first. */
#define NOMINAL_ITERATIONS 10u

/* The caller sets the first part. */
struct nominal_options {
    struct selected_globs phases; /* count only allocations in these; none: all */
    uint64_t run_ns;              /* duration of the same work without the agent; 0: not known */
    uint64_t heap_bytes;          /* measured minimum heap; 0: not known */
};

struct nominal {
    const char *path; /* of the trace, borrowed */
    struct nominal_options options;
    bool is_native;       /* the program frees its objects itself */
    enum time_unit unit;  /* of times */
    bool lacks_existing;  /* objects from before the trace are not in it */
    bool is_incomplete;   /* a part of the trace is missing */
    bool is_uncompressed; /* the traced JVM had no compressed pointers */
    bool has_array_stores;
    uint64_t array_stores;
    /* allocations that are counted */
    uint64_t objects, bytes;
    uint64_t *sizes;         /* counts by size below NOMINAL_SIZES */
    struct lifetimes larger; /* larger sizes */
    uint64_t born;           /* bytes, of all allocations in the trace: the clock of lifetimes */
    struct dispersion dispersion;
    /* the heap */
    struct object_table live; /* value: 1 + `born` before the object if it is counted; 0: not */
    uint64_t living, peak;    /* bytes */
    uint64_t peak_first, peak_tenth; /* until the ends of iterations 1 and 10 */
    struct death_dates deaths;
    uint64_t unknown_frees;
    uint64_t first_ns, last_ns;
    /* phases */
    uint64_t phase_count, phase_ns; /* of the program, that are counted */
    bool has_other_phases;          /* phases of threads, or open ones, are counted */
    uint64_t iterations, first_end_ns, tenth_end_ns;
    uint64_t call_sites; /* of frames in call stacks */
};

/* Returns false if out of memory; nominal_reset() is allowed then. */
bool nominal_init(struct nominal *nominal, const struct nominal_options *options);
void nominal_reset(struct nominal *nominal);
/* Visitor of the phases, before the events; `user` is the nominal. */
enum step_status nominal_put_phase(void *user, const struct trace_phase *phase);
enum step_status nominal_put(void *nominal_pointer, const struct trace_event *events, size_t count,
                             struct step_error *error);
/* Takes the objects that are alive at the end.  Call it after the events. */
void nominal_finish(struct nominal *nominal);
/* Counts the call sites in the call stacks of the names.  Returns false if out of memory. */
bool nominal_put_names(struct nominal *nominal, const struct trace_names *names);

/* ---- results ---- */

/* Print to standard output. */
void nominal_print_yaml(const struct nominal *nominal);
void nominal_print_json(const struct nominal *nominal);

#endif
