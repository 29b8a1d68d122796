/* SPDX-License-Identifier: Apache-2.0 */
/* The traces that a recorded program and those that it started have left. */
#ifndef CONVERTER_VERBS_RECORDED_TRACES_H
#define CONVERTER_VERBS_RECORDED_TRACES_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/types.h>
#include <time.h>

#include "steptrace/status.h"

struct recorded_traces {
    const char *step_path; /* what the recorder was told, with % sequences; absolute */
    bool is_converted;     /* to what is in front of ".step" */
    const char *encoding;  /* for that; NULL: the format's own */
    struct timespec start; /* of the program */
    pid_t process;         /* the program's */
    mode_t mode;           /* permissions of what is made */
    bool overwrite;
};

#define RECORDED_FIELD 300

/* A trace, and what it says of its process. */
struct recorded_trace {
    char path[PATH_MAX];   /* the STEP trace */
    char output[PATH_MAX]; /* what it was converted to, or the same */
    unsigned number;       /* NAME.2 has 2 */
    unsigned image;        /* the how many-th program of its process, from 1 */
    /* properties, empty where it has none */
    char process[RECORDED_FIELD], parent[RECORDED_FIELD], started_by[RECORDED_FIELD];
    char end[RECORDED_FIELD];
    char start_ns[RECORDED_FIELD], command[RECORDED_FIELD];
    char fork_stamp[RECORDED_FIELD], clock_scale[RECORDED_FIELD];
    bool is_growing;    /* its process lives on */
    bool has_inherited; /* it begins with what its process had from its parent */
};

struct trace_list {
    struct recorded_trace *rows;
    size_t count, capacity;
};

#define RECORDED_LIMIT "limit"

/* Did it end before its program? */
static inline bool recorded_trace_is_cut(const struct recorded_trace *trace)
{
    static const char *const cuts[] = {RECORDED_LIMIT, "disk-full", "failed"};
    for (size_t i = 0; i < sizeof cuts / sizeof cuts[0]; i++)
        if (strcmp(trace->end, cuts[i]) == 0)
            return true;
    return false;
}

/* Waits until their drains have written them; makes whole what was left to be recovered; converts;
 * tells of those that were cut, and of further ones that nobody asked for by name; where the name
 * has the process id, writes a list.  `*count` becomes how many there are.  Faults are told. */
enum step_status recorded_traces_finish(const struct recorded_traces *traces, unsigned *count);

#endif
