/* SPDX-License-Identifier: Apache-2.0 */
/*
 * External sort of deaths: they are added in batches and read in order of time.  Beyond the size of
 * a buffer, sorted runs are written to an unnamed file and merged when they are read.
 */
#ifndef CONVERTER_GRAPH_DEATH_RUNS_H
#define CONVERTER_GRAPH_DEATH_RUNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "steptrace/status.h"

struct dated_death {
    uint64_t time; /* in ticks, like all times here */
    uint64_t object;
    uint64_t collected;
    uint32_t thread_id; /* thread of the free */
    uint32_t how;       /* enum touch_kind */
};

struct death_run;

struct death_runs {
    struct dated_death *buffer;
    size_t count, capacity;
    size_t most; /* maximum size of the buffer */
    FILE *spool; /* NULL: everything is in the buffer */
    struct death_run *runs;
    size_t run_count, run_capacity;
    size_t *heap; /* while reading: min-heap of runs by their next death */
    size_t heap_count;
    size_t at; /* while reading without spool: position in the buffer */
};

/* Initialises the sort.  `most`: number of deaths to keep in memory; 0: the default, 2^20. */
void death_runs_init(struct death_runs *runs, size_t most);
void death_runs_reset(struct death_runs *runs);

enum step_status death_runs_put(struct death_runs *runs, const struct dated_death *death,
                                struct step_error *error);
/* Ends writing and begins reading. */
enum step_status death_runs_finish(struct death_runs *runs, struct step_error *error);
/* Returns the next death by time, then by object; NULL after the last. */
const struct dated_death *death_runs_peek(const struct death_runs *runs);
enum step_status death_runs_next(struct death_runs *runs, struct step_error *error);

#endif
