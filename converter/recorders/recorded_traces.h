/* SPDX-License-Identifier: Apache-2.0 */
/* Completes the traces of a recorded program and of the processes that it started. */
#ifndef CONVERTER_RECORDERS_RECORDED_TRACES_H
#define CONVERTER_RECORDERS_RECORDED_TRACES_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include <time.h>

#include "steptrace/status.h"

struct recorded_traces {
    const char *step_path; /* as passed to the recorder, with % sequences; absolute */
    bool is_converted;     /* to the name without ".step" */
    const char *encoding;  /* for the conversion; NULL: the format's default */
    struct timespec start; /* start of the program */
    pid_t process;         /* process id of the program */
    mode_t mode;           /* permissions of new files */
    bool overwrite;
};

#define RECORDED_FIELD 300

/* A trace, and its information about the process. */
struct recorded_trace {
    char path[PATH_MAX];   /* the STEP trace */
    char output[PATH_MAX]; /* the converted trace, or the same */
    unsigned number;       /* 2 for NAME.2 */
    unsigned image;        /* index of the program within its process, from 1 */
    /* properties; empty if the trace has none */
    char process[RECORDED_FIELD], parent[RECORDED_FIELD], started_by[RECORDED_FIELD];
    char end[RECORDED_FIELD];
    char start_ns[RECORDED_FIELD], command[RECORDED_FIELD];
    char fork_stamp[RECORDED_FIELD], clock_scale[RECORDED_FIELD];
    bool is_growing;    /* the process is still running */
    bool is_judged;     /* what it lacks has been reported */
    bool has_inherited; /* begins with objects inherited from the parent process */
};

struct trace_list {
    struct recorded_trace *rows;
    size_t count, capacity;
};

/* Waits until the drains have written the traces, recovers unfinished ones, and converts them.
 * Reports traces that were cut, and additional traces that the user did not name.  Writes a list if
 * the name has the process id.  Sets `*count` to the number of traces.  Reports errors. */
enum step_status recorded_traces_finish(const struct recorded_traces *traces, unsigned *count);

/* Inserts the objects that lived in a process when it forked before the trace of its child. */

/* Rewrites the traces of forked children, if the moment of the fork and the parent's trace are
 * known.  `list` is in the order of process starts.  Reports errors. */
enum step_status inherited_heaps_list(struct trace_list *list);

#endif
