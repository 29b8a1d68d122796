/* SPDX-License-Identifier: Apache-2.0 */
/* `steptrace check` over a trace's events or, where it is a heap trace, its allocations. */
#ifndef CONVERTER_VERBS_CHECK_RUN_H
#define CONVERTER_VERBS_CHECK_RUN_H

#include "converter/formats/input.h"
#include "format/json/json_output.h"

struct check_run {
    const struct check_operations *operations;
    struct input *input;
    uint64_t limit; /* of breaches that are printed */
    uint64_t printed;
    const char *incomplete;   /* why the trace misses most of what happened; NULL: it does not */
    struct json_output *json; /* NULL: text; else within the array of breaches until the verdict */
};

struct check_operations {
    /* Gives all of the input to the rules, which print breaches. */
    enum step_status (*read)(struct check_run *run);
    /* After the last; NULL: there is nothing to do before damage is reported. */
    void (*finish)(struct check_run *run);
    /* After the damage was reported. */
    void (*print_verdict)(struct check_run *run, bool is_damaged);
    uint64_t (*breach_count)(const struct check_run *run);
    void (*destroy)(struct check_run *run);
};

/* NULL: out of memory. */
struct check_run *event_check_create(struct input *input);
struct check_run *alloc_check_create(struct input *input);

/* Is the next breach to be printed?  Counts those. */
bool check_run_prints(struct check_run *run);

/* JSON: the array of breaches ends, and with it what is said of the whole begins. */
void check_run_put_verdict(struct check_run *run, const char *verdict, uint64_t count,
                           uint64_t breaches);

/* The noun after a number of them. */
static inline const char *breaches(uint64_t count)
{
    return count == 1 ? "breach" : "breaches";
}

#endif
