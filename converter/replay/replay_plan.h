/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Converts a heap trace to operations of the replay driver (converter/replay/driver/replay_ops.h).
 * Each object gets a slot, and the records that a realloc made itself become part of it.
 * Operations that a program cannot do are skipped or rejected.
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
    REPLAY_OUT_OF_ORDER, /* of threads, heaps, times, or the records of a realloc */
    REPLAY_FAULT_COUNT
};
const char *replay_fault_name(enum replay_fault fault);

struct replay_plan_options {
    bool is_threaded; /* each operation runs in its own thread; else in thread 0 */
    bool is_paced;    /* operations keep the times of the trace */
    bool refuses;     /* the first fault ends the replay */
    /* Returns memory for the next piece.  NULL: there is none, and the plan ends with IO. */
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

/* Returns NULL if memory runs out. */
struct replay_plan *replay_plan_create(const struct replay_plan_options *options);
/* Returns CORRUPT for a fault if the options reject faults; the message names it. */
enum step_status replay_plan_put(struct replay_plan *plan, const struct hatf_record *record,
                                 struct step_error *error);
/* Passes the remaining operations as the last piece. */
enum step_status replay_plan_finish(struct replay_plan *plan, struct step_error *error);
const struct replay_counts *replay_plan_counts(const struct replay_plan *plan);
void replay_plan_destroy(struct replay_plan *plan);

#endif
