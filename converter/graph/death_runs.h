/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Deaths as they are found, batch by batch, and then in the order of their times.  What is more
 * than a buffer goes to a file without a name in sorted runs, which are merged when they are read.
 */
#ifndef CONVERTER_GRAPH_DEATH_RUNS_H
#define CONVERTER_GRAPH_DEATH_RUNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "steptrace/status.h"

struct dated_death {
    uint64_t time; /* in ticks, as all times here */
    uint64_t object;
    uint64_t collected;
    uint32_t thread_id; /* of the free */
    uint32_t how;       /* enum touch_kind */
};

struct death_run;

struct death_runs {
    struct dated_death *buffer;
    size_t count, capacity;
    size_t most; /* that the buffer may have */
    FILE *spool; /* NULL: all is in the buffer */
    struct death_run *runs;
    size_t run_count, run_capacity;
    size_t *heap; /* while reading: runs by their next death */
    size_t heap_count;
    size_t at; /* while reading, without a spool */
};

/* `most`: deaths that may be kept in memory; 0: the default, 1 M. */
void death_runs_init(struct death_runs *runs, size_t most);
void death_runs_reset(struct death_runs *runs);

enum step_status death_runs_put(struct death_runs *runs, const struct dated_death *death,
                                struct step_error *error);
/* After the last: from now on they are read. */
enum step_status death_runs_finish(struct death_runs *runs, struct step_error *error);
/* The next by time and, at one time, by object; NULL after the last. */
const struct dated_death *death_runs_peek(const struct death_runs *runs);
enum step_status death_runs_next(struct death_runs *runs, struct step_error *error);

#endif
