/* SPDX-License-Identifier: Apache-2.0 */
/* The operations of a plan: by thread, in pieces, on slots that hold the trace's objects. */
#ifndef CONVERTER_REPLAY_PLAN_OPERATIONS_H
#define CONVERTER_REPLAY_PLAN_OPERATIONS_H

#include "converter/base/address_map.h"
#include "converter/base/object_table.h"
#include "converter/replay/replay_plan.h"
#include "converter/trace/address_numbers.h"
#include "converter/trace/alloc_rules.h"
#include "converter/trace/recent_frees.h"

#define NO_SLOT UINT32_MAX
#define WAITS 16u
#define PAUSE_NS UINT64_C(20000) /* the least that is waited for */

/* The last thread that did something with the object, and how many operations it had done then. */
struct plan_slot {
    uint32_t next_free;
    uint32_t thread;
    uint64_t count;
};

/* A realloc whose own records are to come. */
struct own_records {
    bool frees, allocates;
    uint64_t old_address, new_address;
    uint64_t size, heap;
    uint32_t slot;
};

struct plan_thread {
    struct replay_op *ops; /* of this piece */
    uint32_t count;
    size_t capacity;
    uint64_t done; /* as the driver counts */
    uint32_t free_slots;
    uint32_t next_free; /* of the threads that have ended */
    bool is_in_piece;
    uint64_t paused_until; /* since the first record */
    struct own_records own;
    struct {
        uint32_t thread;
        uint64_t count;
    } waits[WAITS]; /* what this thread has waited for already */
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
    uint32_t *in_piece; /* threads that have operations in this piece */
    uint32_t in_piece_count;
    uint64_t piece_ops;
    uint64_t since_sample, sampled_bytes;
    uint64_t record_number;
    uint64_t first_time; /* of the records */
    const struct hatf_record *record;
    struct step_error *error;
    enum step_status status; /* the first that failed */
};

/* The first failure is the plan's. */
void plan_fail(struct replay_plan *plan, enum step_status status, const char *what);

/* The trace's thread; where it is not one of the driver's too, thread 0 does its work. */
uint32_t plan_thread_of(struct replay_plan *plan, uint64_t id);
/* `is_counted`: the driver counts it where others wait for the thread. */
void plan_put_op(struct replay_plan *plan, uint32_t number, struct replay_op op, bool is_counted);
/* After each operation: a sample of what lives, where it is time for one. */
void plan_put_sample(struct replay_plan *plan, uint32_t thread);
/* Hands the operations since the last piece to the driver. */
void plan_end_piece(struct replay_plan *plan);

/* A slot of the thread for an object; NO_SLOT: the plan has failed. */
uint32_t plan_take_slot(struct replay_plan *plan, uint32_t number);
/* The slot goes to the thread that frees the object: nobody need wait for it to be free. */
void plan_give_slot(struct replay_plan *plan, uint32_t number, uint32_t slot);
/* An operation of the thread with the object in the slot. */
void plan_use_slot(struct replay_plan *plan, uint32_t number, struct replay_op op);

#endif
