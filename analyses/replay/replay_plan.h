/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Converts a heap trace to operations of the replay driver (analyses/replay/driver/replay_ops.h).
 * Each object gets a slot, and the records that a realloc made itself become part of it.
 * Operations that a program cannot do are skipped or rejected.
 */
#ifndef ANALYSES_REPLAY_REPLAY_PLAN_H
#define ANALYSES_REPLAY_REPLAY_PLAN_H

#include <stdbool.h>

#include "analyses/replay/driver/replay_ops.h"
#include "converter/containers/address_map.h"
#include "converter/containers/object_table.h"
#include "converter/trace/alloc_rules.h"
#include "converter/trace/alloc_source.h"
#include "converter/trace/recent_frees.h"
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

#define NO_SLOT UINT32_MAX
#define WAITS 16u
#define PAUSE_NS UINT64_C(20000) /* the shortest pause */

/* The last thread that used the slot, and its operation count at that time. */
struct plan_slot {
    uint32_t next_free;
    uint32_t thread;
    uint64_t count;
};

/* A realloc whose own records (its free and its allocation) are still expected. */
struct own_records {
    bool frees, allocates;
    uint64_t old_address, new_address;
    uint64_t size, heap;
    uint32_t slot;
};

struct plan_thread {
    struct replay_op *ops; /* of the current piece */
    uint32_t count;
    size_t capacity;
    uint64_t done; /* operations, as counted by the driver */
    uint32_t free_slots;
    uint32_t next_free; /* list of ended threads */
    bool is_in_piece;
    uint64_t paused_until; /* ns since the first record */
    struct own_records own;
    struct {
        uint32_t thread;
        uint64_t count;
    } waits[WAITS]; /* waits that this thread has already done */
};

struct replay_plan {
    struct replay_plan_options options;
    struct replay_counts counts;
    struct address_map live;
    struct recent_frees freed;
    struct alloc_rules rules;
    struct address_numbers numbers;
    struct plan_slot *slots;
    size_t slot_capacity;
    struct plan_thread *threads;
    size_t thread_capacity;
    uint32_t free_threads;
    struct object_table thread_numbers, heap_numbers; /* by id + 1 */
    uint32_t *in_piece; /* threads that have operations in the current piece */
    uint32_t in_piece_count;
    uint64_t piece_ops;
    uint64_t since_sample, sampled_bytes;
    uint64_t record_number;
    uint64_t first_time; /* of the first record */
    const struct hatf_record *record;
    struct step_error *error;
    enum step_status status; /* the first failure */
};

/* Returns NULL if memory runs out. */
struct replay_plan *replay_plan_create(const struct replay_plan_options *options);
/* Returns CORRUPT for a fault if the options reject faults; the message names it. */
enum step_status replay_plan_put(struct replay_plan *plan, const struct hatf_record *record,
                                 struct step_error *error);
/* Passes the remaining operations as the last piece. */
enum step_status replay_plan_finish(struct replay_plan *plan, struct step_error *error);
void replay_plan_destroy(struct replay_plan *plan);

/* ---- operations by thread, in pieces, on slots that hold the trace's objects ---- */

/* Sets the plan's status.  Only the first failure counts. */
void plan_no_memory(struct replay_plan *plan);

/* Returns the driver thread for a thread of the trace: thread 0 if the replay is not threaded. */
uint32_t plan_thread_of(struct replay_plan *plan, uint64_t id);
/* Appends an operation.  `is_counted`: it counts towards the progress that other threads wait
 * for. */
void plan_put_op(struct replay_plan *plan, uint32_t number, struct replay_op op, bool is_counted);
/* Counts what lives now.  Call it after each record, those of a realloc included: what it moved is
 * live with its own records. */
void plan_note_live(struct replay_plan *plan);
/* Samples the live bytes if a sample is due.  Call it after each operation. */
void plan_put_sample(struct replay_plan *plan, uint32_t thread);
/* Passes the operations since the last piece to the driver. */
void plan_end_piece(struct replay_plan *plan);

/* Returns a free slot of the thread, or NO_SLOT if the plan has failed. */
uint32_t plan_take_slot(struct replay_plan *plan, uint32_t number);
/* Adds the slot to the free slots of the thread that frees the object, so no thread waits for
 * it. */
void plan_give_slot(struct replay_plan *plan, uint32_t number, uint32_t slot);
/* Appends an operation on the object in `op.slot`, after a wait for the last thread that used
 * it. */
void plan_use_slot(struct replay_plan *plan, uint32_t number, struct replay_op op);

#endif
