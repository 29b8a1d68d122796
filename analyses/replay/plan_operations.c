/* SPDX-License-Identifier: Apache-2.0 */
/* Assembles the operations of threads into pieces for the driver. */
#include "analyses/replay/replay_plan.h"

#include <string.h>

#include "format/core/grow.h"

#define SAMPLE_CALLS 1024u

static void plan_fail(struct replay_plan *plan, enum step_status status, const char *what)
{
    if (plan->status == STEP_STATUS_OK)
        plan->status = step_error_set(plan->error, status, NULL, STEP_NO_OFFSET, "%s", what);
}

void plan_no_memory(struct replay_plan *plan)
{
    plan_fail(plan, STEP_STATUS_NO_MEMORY, "out of memory");
}

/* ---- pieces ---- */

void plan_end_piece(struct replay_plan *plan)
{
    if (plan->in_piece_count == 0 || plan->status != STEP_STATUS_OK)
        return;
    struct replay_piece *piece = plan->options.begin_piece(plan->options.user);
    if (piece == NULL) {
        plan_fail(plan, STEP_STATUS_IO, "there is no room for the operations");
        return;
    }
    struct replay_op *ops = replay_piece_ops(piece);
    uint64_t at = 0;
    for (uint32_t i = 0; i < plan->in_piece_count; i++) {
        struct plan_thread *thread = &plan->threads[plan->in_piece[i]];
        piece->sections[i] = (struct replay_section){plan->in_piece[i], thread->count, at};
        memcpy(ops + at, thread->ops, thread->count * sizeof *ops);
        at += thread->count;
        thread->count = 0;
        thread->is_in_piece = false;
    }
    piece->section_count = plan->in_piece_count;
    piece->slot_end = plan->counts.slots;
    plan->in_piece_count = 0;
    plan->piece_ops = 0;
    plan->options.end_piece(plan->options.user);
}

void plan_put_op(struct replay_plan *plan, uint32_t number, struct replay_op op, bool is_counted)
{
    struct plan_thread *thread = &plan->threads[number];
    if (plan->piece_ops == REPLAY_PIECE_OPS ||
        (!thread->is_in_piece && plan->in_piece_count == REPLAY_SECTIONS_MOST))
        plan_end_piece(plan);
    if (!thread->is_in_piece)
        plan->in_piece[plan->in_piece_count++] = number;
    thread->is_in_piece = true;
    if (!STEP_MAKE_ROOM(thread->ops, thread->capacity, thread->count + 1)) {
        plan_no_memory(plan);
        return;
    }
    thread->ops[thread->count++] = op;
    thread->done += is_counted;
    plan->piece_ops++;
    plan->counts.operations += is_counted;
}

void plan_note_live(struct replay_plan *plan)
{
    uint64_t bytes = plan->live.bytes;
    plan->counts.final_live_bytes = bytes;
    if (bytes > plan->counts.peak_live_bytes)
        plan->counts.peak_live_bytes = bytes;
    if (plan->live.count > plan->counts.peak_objects)
        plan->counts.peak_objects = plan->live.count;
}

void plan_put_sample(struct replay_plan *plan, uint32_t thread)
{
    uint64_t bytes = plan->live.bytes;
    bool is_peak = bytes > plan->sampled_bytes + plan->sampled_bytes / 64 + 65536;
    if (++plan->since_sample < SAMPLE_CALLS && !is_peak)
        return;
    if (bytes > plan->sampled_bytes)
        plan->sampled_bytes = bytes;
    plan->since_sample = 0;
    plan_put_op(plan, thread, replay_op_make(REPLAY_SAMPLE, bytes, 0, 0), false);
}

/* ---- threads ---- */

static uint32_t new_thread(struct replay_plan *plan)
{
    uint32_t ended = plan->free_threads;
    if (ended != NO_SLOT) {
        plan->free_threads = plan->threads[ended].next_free;
        return ended;
    }
    if (plan->counts.threads == REPLAY_THREADS_MOST) {
        plan_fail(plan, STEP_STATUS_LIMIT, "the trace has too many threads; use --threads=one");
        return 0;
    }
    if (!STEP_MAKE_ROOM(plan->threads, plan->thread_capacity, plan->counts.threads + 1)) {
        plan_no_memory(plan);
        return 0;
    }
    plan->threads[plan->counts.threads] = (struct plan_thread){.free_slots = NO_SLOT};
    return plan->counts.threads++;
}

uint32_t plan_thread_of(struct replay_plan *plan, uint64_t id)
{
    struct live_object known;
    if (object_table_find(&plan->thread_numbers, id + 1, &known))
        return (uint32_t) known.value;
    struct live_object object = {.object = id + 1, .value = new_thread(plan)};
    if (!object_table_put(&plan->thread_numbers, &object))
        plan_no_memory(plan);
    return (uint32_t) object.value;
}

/* The thread must wait for the last operation of another thread on the object. */
static void wait_for_slot(struct replay_plan *plan, uint32_t number, uint32_t slot)
{
    const struct plan_slot *object = &plan->slots[slot];
    struct plan_thread *thread = &plan->threads[number];
    if (object->thread == number || object->count == 0)
        return;
    unsigned place = object->thread % WAITS;
    if (thread->waits[place].thread == object->thread &&
        thread->waits[place].count >= object->count)
        return;
    thread->waits[place].thread = object->thread;
    thread->waits[place].count = object->count;
    plan_put_op(plan, number, replay_op_make(REPLAY_WAIT, object->count, object->thread, 0), false);
}

/* ---- slots ---- */

uint32_t plan_take_slot(struct replay_plan *plan, uint32_t number)
{
    struct plan_thread *thread = &plan->threads[number];
    uint32_t slot = thread->free_slots;
    if (slot != NO_SLOT) {
        thread->free_slots = plan->slots[slot].next_free;
        return slot;
    }
    if (plan->counts.slots == REPLAY_SLOTS_MOST ||
        !STEP_MAKE_ROOM(plan->slots, plan->slot_capacity, (size_t) plan->counts.slots + 1)) {
        plan_fail(plan, STEP_STATUS_NO_MEMORY, "too many objects live at once");
        return NO_SLOT;
    }
    plan->slots[plan->counts.slots] = (struct plan_slot){.next_free = NO_SLOT};
    return plan->counts.slots++;
}

void plan_give_slot(struct replay_plan *plan, uint32_t number, uint32_t slot)
{
    plan->slots[slot].next_free = plan->threads[number].free_slots;
    plan->threads[number].free_slots = slot;
}

void plan_use_slot(struct replay_plan *plan, uint32_t number, struct replay_op op)
{
    wait_for_slot(plan, number, op.slot);
    plan_put_op(plan, number, op, true);
    plan->slots[op.slot].thread = number;
    plan->slots[op.slot].count = plan->threads[number].done;
}
