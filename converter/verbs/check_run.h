/* SPDX-License-Identifier: Apache-2.0 */
/* Interface of the two checkers of `steptrace check`: for events, and for allocations of heap
 * traces. */
#ifndef CONVERTER_VERBS_CHECK_RUN_H
#define CONVERTER_VERBS_CHECK_RUN_H

#include "converter/formats/input.h"
#include "format/json/json_output.h"

struct check_run {
    const struct check_operations *operations;
    struct input *input;
    uint64_t limit; /* maximum number of breaches to print */
    uint64_t printed;
    bool is_sampled;          /* the trace has a sample of the objects */
    const char *incomplete;   /* why most of the events are missing; NULL: they are not */
    struct json_output *json; /* NULL: text; else inside the array of breaches until the verdict */
};

struct check_operations {
    /* Checks the whole input and prints breaches. */
    enum step_status (*read)(struct check_run *run);
    /* Called after damage was reported. */
    void (*print_verdict)(struct check_run *run, bool is_damaged);
    uint64_t (*breach_count)(const struct check_run *run);
    void (*destroy)(struct check_run *run);
};

/* These return NULL if memory runs out. */
struct check_run *event_check_create(struct input *input);
struct check_run *alloc_check_create(struct input *input);

/* Counts a breach, and returns true if it is to be printed. */
bool check_run_prints(struct check_run *run);

/* JSON: ends the array of breaches and begins the summary. */
void check_run_put_verdict(struct check_run *run, const char *verdict, uint64_t count,
                           uint64_t breaches);

/* check --graph: prints what the references from recorded stores and those in heap snapshots have
 * in common: replays the graph from the stores up to each snapshot after the initial one, and
 * compares both edge by edge.  After that the replay continues from the snapshot.  As text, or with
 * `json` as an array "snapshots"; at most `limit` places that differ for each snapshot.  Memory is
 * proportional to the live set. */
enum step_status snapshots_print(const char *path, uint64_t limit, struct json_output *json);

/* The noun after a number of breaches. */
static inline const char *breaches(uint64_t count)
{
    return count == 1 ? "breach" : "breaches";
}

#endif
