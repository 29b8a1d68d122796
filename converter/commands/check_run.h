/* SPDX-License-Identifier: Apache-2.0 */
/* Interface of the two checkers of `steptrace check`: for events, and for allocations of heap
 * traces. */
#ifndef CONVERTER_COMMANDS_CHECK_RUN_H
#define CONVERTER_COMMANDS_CHECK_RUN_H

#include "converter/formats/input.h"
#include "converter/graph/graph_replay.h"
#include "format/json/json_output.h"

struct check_run {
    struct input *input;
    uint64_t limit; /* maximum number of breaches to print */
    uint64_t printed;
    struct json_output *json; /* NULL: text; else inside the array of breaches until the verdict */
    /* set by the checker */
    const uint64_t *breaches; /* by rule */
    unsigned first_rule, rule_end;
    const char *(*rule_text)(unsigned rule);
    bool has_numbers;             /* rules are shown with their numbers */
    struct trace_text incomplete; /* why most of the events are missing, if they are */
};

/* Check the whole input, and print breaches and the verdict.  Report errors and damage. */
enum step_status check_events(struct check_run *run);
enum step_status check_allocs(struct check_run *run);

/* What both have in common. */

/* Counts a breach, and returns true if it is to be printed. */
bool check_run_prints(struct check_run *run);
uint64_t check_run_breach_count(const struct check_run *run);
/* After reading, which may have failed with `status`: prints the verdict, and returns that of the
 * check. */
enum step_status check_run_judge(struct check_run *run, enum step_status status,
                                 void (*print_verdict)(struct check_run *run, bool is_damaged));
/* JSON: ends the array of breaches and begins the summary; puts the array of rules. */
void check_run_put_verdict(struct check_run *run, const char *verdict, uint64_t count);
void check_run_put_rules(const struct check_run *run);
/* Text: prints how many breaches were not printed, and how many each rule has. */
void check_run_print_rules(const struct check_run *run);

/* check --graph: prints what the references from recorded stores and those in heap snapshots have
 * in common: replays the graph from the stores up to each snapshot after the initial one, and
 * compares both edge by edge.  After that the replay continues from the snapshot.  As text, or with
 * `json` as an array "snapshots"; at most `limit` places that differ for each snapshot.  Memory is
 * proportional to the live set. */
enum step_status snapshots_print(const char *path, uint64_t limit, struct json_output *json);

/* A pass over a trace's events of the graph, which `take` applies to the replay; it returns false
 * if memory runs out.  Returns FORMAT for a trace without objects. */
struct graph_walk {
    struct step_reader *reader;
    struct graph_source source;
    struct graph_replay replay;
};
enum step_status graph_walk(struct graph_walk *walk, const char *path, bool keeps_objects,
                            bool (*take)(void *user, const struct graph_event *event), void *user,
                            struct step_error *error);
void graph_walk_reset(struct graph_walk *walk);

/* The noun after a number of breaches. */
static inline const char *breaches(uint64_t count)
{
    return count == 1 ? "breach" : "breaches";
}

#endif
