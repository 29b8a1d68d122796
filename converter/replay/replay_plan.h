/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A heap trace as operations of the replay driver (converter/replay/driver/replay_ops.h): each
 * object gets a slot, what a realloc did itself becomes part of it, and what no program may do is
 * left out or refused.
 */
#ifndef CONVERTER_REPLAY_REPLAY_PLAN_H
#define CONVERTER_REPLAY_REPLAY_PLAN_H

#include <stdbool.h>

#include "converter/replay/driver/replay_ops.h"
#include "steptrace/hatf.h"

enum replay_fault {
    REPLAY_DOUBLE_FREE,
    REPLAY_UNKNOWN_FREE,
    REPLAY_UNKNOWN_REALLOC,
    REPLAY_OVERLAP,
    REPLAY_OUT_OF_ORDER, /* threads, heaps, times, the records of a realloc */
    REPLAY_FAULT_COUNT
};
const char *replay_fault_name(enum replay_fault fault);

struct replay_plan_options {
    bool is_threaded; /* an operation belongs to its thread; else to thread 0 */
    bool is_paced;    /* what the trace did later is done later */
    bool refuses;     /* the first fault ends the replay */
    /* Room for the next piece; NULL: there is none, and the plan ends with IO. */
    struct replay_piece *(*begin_piece)(void *user);
    void (*end_piece)(void *user);
    void *user;
};

struct replay_counts {
    uint64_t records, operations;
    uint64_t faults[REPLAY_FAULT_COUNT];
    uint64_t peak_live_bytes, final_live_bytes, peak_objects;
    uint32_t slots, threads, heaps;
};

struct replay_plan;

/* NULL: out of memory. */
struct replay_plan *replay_plan_create(const struct replay_plan_options *options);
/* CORRUPT: a fault, where those are refused; its message names it. */
enum step_status replay_plan_put(struct replay_plan *plan, const struct hatf_record *record,
                                 struct step_error *error);
/* What is left becomes the last piece. */
enum step_status replay_plan_finish(struct replay_plan *plan, struct step_error *error);
const struct replay_counts *replay_plan_counts(const struct replay_plan *plan);
void replay_plan_destroy(struct replay_plan *plan);

#endif
