/* SPDX-License-Identifier: Apache-2.0 */
/* Converts records to operations: tracks live objects, and detects faults of the trace. */
#include "analyses/replay/replay_plan.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

const char *replay_fault_name(enum replay_fault fault)
{
    static const char *const names[REPLAY_FAULT_COUNT] = {
        "double frees", "frees of unknown addresses", "reallocs of unknown addresses",
        "overlapping allocations", "records out of order"};
    return names[fault];
}

void replay_plan_destroy(struct replay_plan *plan)
{
    if (plan == NULL)
        return;
    for (uint32_t i = 0; i < plan->counts.threads; i++)
        free(plan->threads[i].ops);
    address_map_reset(&plan->live);
    alloc_rules_reset(&plan->rules);
    object_table_reset(&plan->thread_numbers);
    object_table_reset(&plan->heap_numbers);
    free(plan->threads);
    free(plan->slots);
    free(plan->in_piece);
    free(plan);
}

static void replay_plan_refuse(struct replay_plan *plan, const char *what)
{
    if (plan->options.refuses && plan->status == STEP_STATUS_OK)
        plan->status = step_error_set(plan->error, STEP_STATUS_CORRUPT, NULL, STEP_NO_OFFSET,
                                      "record %" PRIu64 ": %s (--on-error=skip skips it)",
                                      plan->record_number, what);
}

static void fault(struct replay_plan *plan, enum replay_fault fault)
{
    static const char *const texts[REPLAY_FAULT_COUNT] = {
        "is freed twice", "is freed, but is not allocated", "is reallocated, but is not allocated",
        "is allocated over a live block", ""};
    char text[100];
    plan->counts.faults[fault]++;
    snprintf(text, sizeof text, "address %" PRIu64 " %s", plan->record->address, texts[fault]);
    replay_plan_refuse(plan, text);
}

/* Counts breaches of the rules for records: threads, heaps, times, and records that belong to a
 * realloc. */
static void take_breach(void *user, enum alloc_rule rule, const char *text)
{
    struct replay_plan *plan = user;
    (void) rule;
    plan->counts.faults[REPLAY_OUT_OF_ORDER]++;
    replay_plan_refuse(plan, text);
}

struct replay_plan *replay_plan_create(const struct replay_plan_options *options)
{
    struct replay_plan *plan = calloc(1, sizeof *plan);
    if (plan == NULL)
        return NULL;
    plan->options = *options;
    plan->free_threads = NO_SLOT;
    plan->in_piece = calloc(REPLAY_SECTIONS_MOST, sizeof *plan->in_piece);
    alloc_rules_init(&plan->rules, take_breach, plan);
    if (plan->in_piece != NULL)
        return plan;
    replay_plan_destroy(plan);
    return NULL;
}

/* ---- objects ---- */

static bool is_overlapping(struct replay_plan *plan, const struct hatf_record *record)
{
    return (address_numbers_put(&plan->numbers, record)
                ? address_map_find(&plan->live, record->address)
                : address_map_overlap(&plan->live, record->address, record->size)) != NULL;
}

static void replay_plan_put_object(struct replay_plan *plan, uint64_t address, uint64_t size,
                                   uint64_t heap, uint32_t slot)
{
    if (!address_map_put(&plan->live,
                         &(struct address_block){
                             .address = address, .size = size, .heap = heap, .record = slot}))
        plan_no_memory(plan);
}

static void remove_object(struct replay_plan *plan, uint64_t address)
{
    address_map_remove(&plan->live, address);
    recent_frees_add(&plan->freed, address);
}

static uint64_t fitting_size(uint64_t size)
{
    return size < REPLAY_SIZE_MAX ? size : REPLAY_SIZE_MAX;
}

/* Returns the heap's number; 0: the default heap. */
static uint32_t heap_of(struct replay_plan *plan, uint64_t heap)
{
    struct live_object known;
    return object_table_find(&plan->heap_numbers, heap + 1, &known) ? (uint32_t) known.value : 0;
}

/* ---- records that belong to a realloc ---- */

static void finish_own(struct replay_plan *plan, struct plan_thread *thread)
{
    struct own_records *own = &thread->own;
    if (own->allocates && own->slot != NO_SLOT)
        replay_plan_put_object(plan, own->new_address, own->size, own->heap, own->slot);
    own->frees = own->allocates = false;
}

/* Returns true if the record belongs to the last realloc. */
static bool take_own(struct replay_plan *plan, struct plan_thread *thread,
                     const struct hatf_record *record)
{
    struct own_records *own = &thread->own;
    if (!own->frees && !own->allocates)
        return false;
    if (record->tag == HATF_FREE && own->frees && record->address == own->old_address) {
        own->frees = false;
        return true;
    }
    if (record->tag == HATF_ALLOC && own->allocates && record->address == own->new_address) {
        own->size = record->size;
        if (is_overlapping(plan, record))
            fault(plan, REPLAY_OVERLAP);
        if (own->slot != NO_SLOT)
            replay_plan_put_object(plan, own->new_address, own->size, own->heap, own->slot);
        own->allocates = false;
        return true;
    }
    finish_own(plan, thread);
    return false;
}

/* ---- records ---- */

/* Returns the function that was called, from the attributes (docs/replay.md); 0: malloc. */
static uint32_t how_of(const struct hatf_record *record)
{
    static const char mark[] = "align=";
    const char *text = (const char *) record->attributes.data;
    size_t length = record->attributes.length, at = 0;
    uint64_t alignment = 0;
    if (length >= 6 && memcmp(text, "calloc", 6) == 0)
        return REPLAY_AS_CALLOC;
    while (at + sizeof mark <= length && memcmp(text + at, mark, sizeof mark - 1) != 0)
        at++;
    if (at + sizeof mark > length)
        return REPLAY_AS_MALLOC;
    for (at += sizeof mark - 1; at < length && text[at] >= '0' && text[at] <= '9'; at++)
        alignment = alignment * 10 + (uint64_t) (text[at] - '0');
    bool is_good = alignment >= sizeof(void *) && alignment <= UINT64_C(1) << 30 &&
                   (alignment & (alignment - 1)) == 0;
    return is_good ? REPLAY_ALIGNED + (uint32_t) __builtin_ctzll(alignment) : REPLAY_AS_MALLOC;
}

static void replay_plan_take_alloc(struct replay_plan *plan, uint32_t thread,
                                   const struct hatf_record *record)
{
    if (is_overlapping(plan, record)) {
        fault(plan, REPLAY_OVERLAP);
        return;
    }
    uint32_t slot = plan_take_slot(plan, thread);
    uint32_t heap = plan->options.is_threaded ? 0 : heap_of(plan, record->heap);
    if (slot == NO_SLOT)
        return;
    replay_plan_put_object(plan, record->address, record->size, record->heap, slot);
    plan_use_slot(plan, thread,
                  replay_op_make(heap != 0 ? REPLAY_HEAP_MALLOC : REPLAY_MALLOC,
                                 fitting_size(record->size), slot,
                                 heap != 0 ? heap : how_of(record)));
}

static void replay_plan_take_free(struct replay_plan *plan, uint32_t thread,
                                  const struct hatf_record *record)
{
    const struct address_block *block = address_map_find(&plan->live, record->address);
    if (block == NULL) {
        bool is_second = recent_frees_have(&plan->freed, record->address);
        fault(plan, is_second ? REPLAY_DOUBLE_FREE : REPLAY_UNKNOWN_FREE);
        return;
    }
    uint32_t slot = (uint32_t) block->record;
    plan_use_slot(plan, thread, replay_op_make(REPLAY_FREE, 0, slot, 0));
    plan_give_slot(plan, thread, slot);
    remove_object(plan, record->address);
}

static void take_realloc_alloc(struct replay_plan *plan, uint32_t thread, uint32_t origin,
                               const struct hatf_record *record)
{
    uint32_t slot = plan_take_slot(plan, thread);
    plan->threads[origin].own = (struct own_records){.allocates = true,
                                                     .new_address = record->new_address,
                                                     .size = record->size,
                                                     .heap = record->heap,
                                                     .slot = slot};
    if (slot != NO_SLOT)
        plan_use_slot(plan, thread,
                      replay_op_make(REPLAY_REALLOC, fitting_size(record->size), slot, 1));
}

/* Replaces a realloc in a separate heap by a free and an allocation, because the allocator's
 * realloc would not use that heap. */
static void move_in_heap(struct replay_plan *plan, uint32_t thread, uint32_t slot, uint64_t size,
                         uint32_t heap)
{
    plan_use_slot(plan, thread, replay_op_make(REPLAY_FREE, 0, slot, 0));
    plan_use_slot(plan, thread, replay_op_make(REPLAY_HEAP_MALLOC, fitting_size(size), slot, heap));
}

static void replay_plan_take_realloc(struct replay_plan *plan, uint32_t thread, uint32_t origin,
                                     const struct hatf_record *record)
{
    struct address_block *block = address_map_find(&plan->live, record->address);
    bool frees = record->tag == HATF_REALLOC_ALLOC_FREE || record->tag == HATF_REALLOC_FREE;
    if (block == NULL) {
        fault(plan, REPLAY_UNKNOWN_REALLOC);
        plan->threads[origin].own =
            (struct own_records){.frees = frees, .old_address = record->address};
        return;
    }
    if (record->tag == HATF_REALLOC_NO_ALLOC && record->new_address == record->address &&
        !address_numbers_hold(&plan->numbers) &&
        address_map_overgrown(&plan->live, block, record->size) != NULL) {
        fault(plan, REPLAY_OVERLAP);
        return;
    }
    uint32_t slot = (uint32_t) block->record;
    uint64_t block_heap = block->heap;
    uint32_t heap = plan->options.is_threaded ? 0 : heap_of(plan, block_heap);
    uint64_t size = record->tag == HATF_REALLOC_FREE ? 0 : record->size;
    if (heap != 0 && size != 0)
        move_in_heap(plan, thread, slot, size, heap);
    else
        plan_use_slot(plan, thread, replay_op_make(REPLAY_REALLOC, fitting_size(size), slot, 0));
    if (!frees) {
        address_map_resize(&plan->live, block, record->size);
        return;
    }
    remove_object(plan, record->address);
    plan->threads[origin].own =
        (struct own_records){.frees = true,
                             .allocates = record->tag == HATF_REALLOC_ALLOC_FREE,
                             .old_address = record->address,
                             .new_address = record->new_address,
                             .size = record->size,
                             .heap = block_heap,
                             .slot = slot};
    if (record->tag == HATF_REALLOC_FREE) {
        plan_use_slot(plan, thread, replay_op_make(REPLAY_FREE, 0, slot, 0));
        plan_give_slot(plan, thread, slot);
    }
}

static void take_heap_create(struct replay_plan *plan, uint32_t thread,
                             const struct hatf_record *record)
{
    if (record->heap == 0 || heap_of(plan, record->heap) != 0 ||
        plan->counts.heaps + 1 >= REPLAY_HEAPS_MOST)
        return; /* further heaps use the default heap */
    struct live_object heap = {.object = record->heap + 1, .value = ++plan->counts.heaps};
    if (!object_table_put(&plan->heap_numbers, &heap))
        plan_no_memory(plan);
    if (!plan->options.is_threaded)
        plan_put_op(plan, thread, replay_op_make(REPLAY_HEAP_CREATE, 0, 0, (uint32_t) heap.value),
                    true);
}

static void free_heap(struct replay_plan *plan, uint32_t thread, const struct address_block *block,
                      uint64_t heap, enum replay_kind kind)
{
    if (block == NULL)
        return;
    free_heap(plan, thread, block->left, heap, kind);
    if (block->heap == heap) {
        plan_use_slot(plan, thread, replay_op_make(kind, 0, (uint32_t) block->record, 0));
        plan_give_slot(plan, thread, (uint32_t) block->record);
    }
    free_heap(plan, thread, block->right, heap, kind);
}

static void take_heap_destroy(struct replay_plan *plan, uint32_t thread,
                              const struct hatf_record *record)
{
    struct live_object known;
    bool is_own = object_table_take(&plan->heap_numbers, record->heap + 1, &known) &&
                  !plan->options.is_threaded;
    if (record->heap == 0)
        return;
    free_heap(plan, thread, plan->live.root, record->heap, is_own ? REPLAY_HEAP_FREE : REPLAY_FREE);
    address_map_remove_heap(&plan->live, record->heap);
    if (is_own)
        plan_put_op(plan, thread, replay_op_make(REPLAY_HEAP_DESTROY, 0, 0, (uint32_t) known.value),
                    true);
}

/* A thread never restarts after its end: if its id recurs, it is another thread. */
static void take_thread_end(struct replay_plan *plan, uint32_t origin,
                            const struct hatf_record *record)
{
    struct live_object known;
    finish_own(plan, &plan->threads[origin]);
    object_table_take(&plan->thread_numbers, record->thread + 1, &known);
    if (plan->options.is_threaded) {
        plan_put_op(plan, origin, replay_op_make(REPLAY_THREAD_END, 0, 0, 0), true);
    } else if (origin != 0) {
        plan->threads[origin].next_free = plan->free_threads;
        plan->free_threads = origin;
    }
}

static void put_pause(struct replay_plan *plan, uint32_t number, uint64_t time)
{
    struct plan_thread *thread = &plan->threads[number];
    if (plan->counts.records == 1)
        plan->first_time = time;
    uint64_t since = time > plan->first_time ? time - plan->first_time : 0;
    if (since < thread->paused_until + PAUSE_NS || since > REPLAY_SIZE_MAX)
        return;
    thread->paused_until = since;
    plan_put_op(plan, number, replay_op_make(REPLAY_PAUSE, since, 0, 0), false);
}

enum step_status replay_plan_put(struct replay_plan *plan, const struct hatf_record *record,
                                 struct step_error *error)
{
    plan->error = error;
    plan->record = record;
    plan->record_number++;
    if (record->tag == HATF_COMMENT)
        address_numbers_put(&plan->numbers, record);
    if (!alloc_rules_put(&plan->rules, record))
        plan_no_memory(plan);
    if (record->tag == HATF_COMMENT || record->tag == HATF_METADATA ||
        record->tag == HATF_CREATE_THREAD)
        return plan->status;
    plan->counts.records++;
    uint32_t origin = plan_thread_of(plan, record->thread);
    uint32_t thread = plan->options.is_threaded ? origin : 0;
    if (plan->status != STEP_STATUS_OK)
        return plan->status;
    if (take_own(plan, &plan->threads[origin], record)) {
        plan_note_live(plan);
        return plan->status;
    }
    if (plan->options.is_paced)
        put_pause(plan, thread, record->time);
    switch (record->tag) {
    case HATF_ALLOC:
        replay_plan_take_alloc(plan, thread, record);
        break;
    case HATF_FREE:
        replay_plan_take_free(plan, thread, record);
        break;
    case HATF_REALLOC_ALLOC:
        take_realloc_alloc(plan, thread, origin, record);
        break;
    case HATF_REALLOC_NO_ALLOC:
    case HATF_REALLOC_ALLOC_FREE:
    case HATF_REALLOC_FREE:
        replay_plan_take_realloc(plan, thread, origin, record);
        break;
    case HATF_CREATE_HEAP:
        take_heap_create(plan, thread, record);
        break;
    case HATF_DESTROY_HEAP:
        take_heap_destroy(plan, thread, record);
        break;
    case HATF_DESTROY_THREAD:
        take_thread_end(plan, origin, record);
        return plan->status;
    default:
        break;
    }
    plan_note_live(plan);
    if (plan->status == STEP_STATUS_OK)
        plan_put_sample(plan, thread);
    return plan->status;
}

enum step_status replay_plan_finish(struct replay_plan *plan, struct step_error *error)
{
    plan->error = error;
    alloc_rules_finish(&plan->rules);
    plan_end_piece(plan);
    return plan->status;
}
