/* SPDX-License-Identifier: Apache-2.0 */
/* Objects to slots, threads to sections, and the faults of a trace. */
#include "converter/replay/replay_plan.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "converter/allocs/address_numbers.h"
#include "converter/allocs/alloc_rules.h"
#include "converter/base/address_map.h"
#include "converter/base/object_table.h"

#define SAMPLE_CALLS 1024u
#define FREED_SLOTS 65536u
#define NO_SLOT UINT32_MAX
#define WAITS 16u

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
    uint32_t count, capacity;
    uint64_t done; /* as the driver counts */
    uint32_t free_slots;
    uint32_t next_free; /* of the threads that have ended */
    bool is_in_piece;
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
    uint64_t freed[FREED_SLOTS]; /* addresses freed lately, plus 1 */
    struct alloc_rules rules;
    struct address_numbers numbers;
    struct plan_slot *slots;
    uint32_t slot_capacity;
    struct plan_thread *threads;
    uint32_t thread_capacity;
    uint32_t free_threads;
    struct object_table thread_numbers, heap_numbers; /* by id + 1 */
    uint32_t *in_piece; /* threads that have operations in this piece */
    uint32_t in_piece_count;
    uint64_t piece_ops;
    uint64_t since_sample, sampled_bytes;
    uint64_t record_number;
    const struct hatf_record *record;
    struct step_error *error;
    enum step_status status; /* the first that failed */
};

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

const struct replay_counts *replay_plan_counts(const struct replay_plan *plan)
{
    return &plan->counts;
}

static void fail(struct replay_plan *plan, enum step_status status, const char *what)
{
    if (plan->status == STEP_STATUS_OK)
        plan->status = step_error_set(plan->error, status, NULL, STEP_NO_OFFSET, "%s", what);
}

static void refuse(struct replay_plan *plan, const char *what)
{
    if (plan->options.refuses && plan->status == STEP_STATUS_OK)
        plan->status = step_error_set(plan->error, STEP_STATUS_CORRUPT, NULL, STEP_NO_OFFSET,
                                      "record %" PRIu64 ": %s (--on-error=skip passes over it)",
                                      plan->record_number, what);
}

static void fault(struct replay_plan *plan, enum replay_fault fault)
{
    static const char *const texts[REPLAY_FAULT_COUNT] = {
        "is freed twice", "is freed, but nothing lives there",
        "is reallocated, but nothing lives there", "is allocated over what lives there", ""};
    char text[100];
    plan->counts.faults[fault]++;
    snprintf(text, sizeof text, "address %" PRIu64 " %s", plan->record->address, texts[fault]);
    refuse(plan, text);
}

/* What the rules of records say: threads, heaps, times, what belongs to a realloc. */
static void take_breach(void *user, enum alloc_rule rule, const char *text)
{
    struct replay_plan *plan = user;
    (void) rule;
    plan->counts.faults[REPLAY_OUT_OF_ORDER]++;
    refuse(plan, text);
}

struct replay_plan *replay_plan_create(const struct replay_plan_options *options)
{
    struct replay_plan *plan = calloc(1, sizeof *plan);
    if (plan == NULL)
        return NULL;
    plan->options = *options;
    plan->free_threads = NO_SLOT;
    plan->in_piece = calloc(REPLAY_SECTIONS_MOST, sizeof *plan->in_piece);
    if (plan->in_piece != NULL && alloc_rules_init(&plan->rules, take_breach, plan) &&
        object_table_init(&plan->thread_numbers) && object_table_init(&plan->heap_numbers))
        return plan;
    replay_plan_destroy(plan);
    return NULL;
}

/* ---- pieces ---- */

static void end_piece(struct replay_plan *plan)
{
    if (plan->in_piece_count == 0 || plan->status != STEP_STATUS_OK)
        return;
    struct replay_piece *piece = plan->options.begin_piece(plan->options.user);
    if (piece == NULL) {
        fail(plan, STEP_STATUS_IO, "there is no room for the operations");
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

/* `is_counted`: the driver counts it where others wait for the thread. */
static void put_op(struct replay_plan *plan, uint32_t number, struct replay_op op, bool is_counted)
{
    struct plan_thread *thread = &plan->threads[number];
    if (plan->piece_ops == REPLAY_PIECE_OPS ||
        (!thread->is_in_piece && plan->in_piece_count == REPLAY_SECTIONS_MOST))
        end_piece(plan);
    if (!thread->is_in_piece)
        plan->in_piece[plan->in_piece_count++] = number;
    thread->is_in_piece = true;
    if (thread->count == thread->capacity) {
        uint32_t wanted = thread->capacity * 2 + 64;
        struct replay_op *grown = realloc(thread->ops, wanted * sizeof *grown);
        if (grown == NULL) {
            fail(plan, STEP_STATUS_NO_MEMORY, "out of memory");
            return;
        }
        thread->ops = grown;
        thread->capacity = wanted;
    }
    thread->ops[thread->count++] = op;
    thread->done += is_counted;
    plan->piece_ops++;
    plan->counts.operations += is_counted;
}

static void put_sample(struct replay_plan *plan, uint32_t thread)
{
    uint64_t bytes = plan->live.bytes;
    plan->counts.final_live_bytes = bytes;
    if (bytes > plan->counts.peak_live_bytes)
        plan->counts.peak_live_bytes = bytes;
    if (plan->live.count > plan->counts.peak_objects)
        plan->counts.peak_objects = plan->live.count;
    bool is_peak = bytes > plan->sampled_bytes + plan->sampled_bytes / 64 + 65536;
    if (++plan->since_sample < SAMPLE_CALLS && !is_peak)
        return;
    if (bytes > plan->sampled_bytes)
        plan->sampled_bytes = bytes;
    plan->since_sample = 0;
    put_op(plan, thread, replay_op_make(REPLAY_SAMPLE, bytes, 0, 0), false);
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
        fail(plan, STEP_STATUS_LIMIT, "the trace has too many threads; use --threads=one");
        return 0;
    }
    if (plan->counts.threads == plan->thread_capacity) {
        uint32_t wanted = plan->thread_capacity * 2 + 16;
        struct plan_thread *grown = realloc(plan->threads, wanted * sizeof *grown);
        if (grown == NULL) {
            fail(plan, STEP_STATUS_NO_MEMORY, "out of memory");
            return 0;
        }
        plan->threads = grown;
        plan->thread_capacity = wanted;
    }
    plan->threads[plan->counts.threads] = (struct plan_thread){.free_slots = NO_SLOT};
    return plan->counts.threads++;
}

/* The trace's thread; where it is not one of the driver's too, thread 0 does its work. */
static uint32_t thread_of(struct replay_plan *plan, uint64_t id)
{
    struct live_object known;
    if (object_table_find(&plan->thread_numbers, id + 1, &known))
        return (uint32_t) known.value;
    struct live_object object = {.object = id + 1, .value = new_thread(plan)};
    if (!object_table_put(&plan->thread_numbers, &object))
        fail(plan, STEP_STATUS_NO_MEMORY, "out of memory");
    return (uint32_t) object.value;
}

/* What the thread does now needs what another did with the object. */
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
    put_op(plan, number, replay_op_make(REPLAY_WAIT, object->count, object->thread, 0), false);
}

/* ---- slots ---- */

static uint32_t take_slot(struct replay_plan *plan, uint32_t number)
{
    struct plan_thread *thread = &plan->threads[number];
    uint32_t slot = thread->free_slots;
    if (slot != NO_SLOT) {
        thread->free_slots = plan->slots[slot].next_free;
        return slot;
    }
    if (plan->counts.slots == plan->slot_capacity) {
        uint64_t wanted = (uint64_t) plan->slot_capacity * 2 + 1024;
        struct plan_slot *grown =
            wanted <= REPLAY_SLOTS_MOST ? realloc(plan->slots, wanted * sizeof *grown) : NULL;
        if (grown == NULL) {
            fail(plan, STEP_STATUS_NO_MEMORY, "too many objects live at once");
            return NO_SLOT;
        }
        plan->slots = grown;
        plan->slot_capacity = (uint32_t) wanted;
    }
    plan->slots[plan->counts.slots] = (struct plan_slot){.next_free = NO_SLOT};
    return plan->counts.slots++;
}

/* The slot goes to the thread that frees the object: nobody need wait for it to be free. */
static void give_slot(struct replay_plan *plan, uint32_t number, uint32_t slot)
{
    plan->slots[slot].next_free = plan->threads[number].free_slots;
    plan->threads[number].free_slots = slot;
}

/* An operation of the thread with the object in the slot. */
static void use_slot(struct replay_plan *plan, uint32_t number, struct replay_op op)
{
    wait_for_slot(plan, number, op.slot);
    put_op(plan, number, op, true);
    plan->slots[op.slot].thread = number;
    plan->slots[op.slot].count = plan->threads[number].done;
}

/* ---- objects ---- */

static bool is_overlapping(struct replay_plan *plan, const struct hatf_record *record)
{
    return (address_numbers_put(&plan->numbers, record)
                ? address_map_find(&plan->live, record->address)
                : address_map_overlap(&plan->live, record->address, record->size)) != NULL;
}

static void put_object(struct replay_plan *plan, uint64_t address, uint64_t size, uint64_t heap,
                       uint32_t slot)
{
    if (!address_map_put(&plan->live,
                         &(struct address_block){
                             .address = address, .size = size, .heap = heap, .record = slot}))
        fail(plan, STEP_STATUS_NO_MEMORY, "out of memory");
}

static uint64_t *freed_slot(struct replay_plan *plan, uint64_t address)
{
    return &plan->freed[(address * UINT64_C(0x9e3779b97f4a7c15)) >> 48 & (FREED_SLOTS - 1)];
}

static void remove_object(struct replay_plan *plan, uint64_t address)
{
    address_map_remove(&plan->live, address);
    *freed_slot(plan, address) = address + 1;
}

static uint64_t fitting_size(uint64_t size)
{
    return size < REPLAY_SIZE_MAX ? size : REPLAY_SIZE_MAX;
}

/* The heap's number; 0: the allocator's own. */
static uint32_t heap_of(struct replay_plan *plan, uint64_t heap)
{
    struct live_object known;
    return object_table_find(&plan->heap_numbers, heap + 1, &known) ? (uint32_t) known.value : 0;
}

/* ---- what belongs to a realloc ---- */

static void finish_own(struct replay_plan *plan, struct plan_thread *thread)
{
    struct own_records *own = &thread->own;
    if (own->allocates && own->slot != NO_SLOT)
        put_object(plan, own->new_address, own->size, own->heap, own->slot);
    own->frees = own->allocates = false;
}

/* True: the record was one of the last realloc's own. */
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
            put_object(plan, own->new_address, own->size, own->heap, own->slot);
        own->allocates = false;
        return true;
    }
    finish_own(plan, thread);
    return false;
}

/* ---- records ---- */

/* What was called, as the recorder says it in the attributes (docs/replay.md); 0: malloc. */
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

static void take_alloc(struct replay_plan *plan, uint32_t thread, const struct hatf_record *record)
{
    if (is_overlapping(plan, record)) {
        fault(plan, REPLAY_OVERLAP);
        return;
    }
    uint32_t slot = take_slot(plan, thread);
    uint32_t heap = plan->options.is_threaded ? 0 : heap_of(plan, record->heap);
    if (slot == NO_SLOT)
        return;
    put_object(plan, record->address, record->size, record->heap, slot);
    use_slot(plan, thread,
             replay_op_make(heap != 0 ? REPLAY_HEAP_MALLOC : REPLAY_MALLOC,
                            fitting_size(record->size), slot, heap != 0 ? heap : how_of(record)));
}

static void take_free(struct replay_plan *plan, uint32_t thread, const struct hatf_record *record)
{
    const struct address_block *block = address_map_find(&plan->live, record->address);
    if (block == NULL) {
        bool is_second = *freed_slot(plan, record->address) == record->address + 1;
        fault(plan, is_second ? REPLAY_DOUBLE_FREE : REPLAY_UNKNOWN_FREE);
        return;
    }
    uint32_t slot = (uint32_t) block->record;
    use_slot(plan, thread, replay_op_make(REPLAY_FREE, 0, slot, 0));
    give_slot(plan, thread, slot);
    remove_object(plan, record->address);
}

static void take_realloc_alloc(struct replay_plan *plan, uint32_t thread, uint32_t origin,
                               const struct hatf_record *record)
{
    uint32_t slot = take_slot(plan, thread);
    plan->threads[origin].own = (struct own_records){.allocates = true,
                                                     .new_address = record->new_address,
                                                     .size = record->size,
                                                     .heap = record->heap,
                                                     .slot = slot};
    if (slot != NO_SLOT)
        use_slot(plan, thread, replay_op_make(REPLAY_REALLOC, fitting_size(record->size), slot, 1));
}

/* An object of a heap of its own: that heap's realloc would not be the allocator's. */
static void move_in_heap(struct replay_plan *plan, uint32_t thread, uint32_t slot, uint64_t size,
                         uint32_t heap)
{
    use_slot(plan, thread, replay_op_make(REPLAY_FREE, 0, slot, 0));
    use_slot(plan, thread, replay_op_make(REPLAY_HEAP_MALLOC, fitting_size(size), slot, heap));
}

static void take_realloc(struct replay_plan *plan, uint32_t thread, uint32_t origin,
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
        use_slot(plan, thread, replay_op_make(REPLAY_REALLOC, fitting_size(size), slot, 0));
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
        use_slot(plan, thread, replay_op_make(REPLAY_FREE, 0, slot, 0));
        give_slot(plan, thread, slot);
    }
}

static void take_heap_create(struct replay_plan *plan, uint32_t thread,
                             const struct hatf_record *record)
{
    if (record->heap == 0 || heap_of(plan, record->heap) != 0 ||
        plan->counts.heaps + 1 >= REPLAY_HEAPS_MOST)
        return; /* more heaps than that are the allocator's own */
    struct live_object heap = {.object = record->heap + 1, .value = ++plan->counts.heaps};
    if (!object_table_put(&plan->heap_numbers, &heap))
        fail(plan, STEP_STATUS_NO_MEMORY, "out of memory");
    if (!plan->options.is_threaded)
        put_op(plan, thread, replay_op_make(REPLAY_HEAP_CREATE, 0, 0, (uint32_t) heap.value), true);
}

static void free_heap(struct replay_plan *plan, uint32_t thread, const struct address_block *block,
                      uint64_t heap, enum replay_kind kind)
{
    if (block == NULL)
        return;
    free_heap(plan, thread, block->left, heap, kind);
    if (block->heap == heap) {
        use_slot(plan, thread, replay_op_make(kind, 0, (uint32_t) block->record, 0));
        give_slot(plan, thread, (uint32_t) block->record);
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
        put_op(plan, thread, replay_op_make(REPLAY_HEAP_DESTROY, 0, 0, (uint32_t) known.value),
               true);
}

/* A thread that has ended is never begun again: if its number comes once more it is another. */
static void take_thread_end(struct replay_plan *plan, uint32_t origin,
                            const struct hatf_record *record)
{
    struct live_object known;
    finish_own(plan, &plan->threads[origin]);
    object_table_take(&plan->thread_numbers, record->thread + 1, &known);
    if (plan->options.is_threaded) {
        put_op(plan, origin, replay_op_make(REPLAY_THREAD_END, 0, 0, 0), true);
    } else if (origin != 0) {
        plan->threads[origin].next_free = plan->free_threads;
        plan->free_threads = origin;
    }
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
        fail(plan, STEP_STATUS_NO_MEMORY, "out of memory");
    if (record->tag == HATF_COMMENT || record->tag == HATF_METADATA ||
        record->tag == HATF_CREATE_THREAD)
        return plan->status;
    plan->counts.records++;
    uint32_t origin = thread_of(plan, record->thread);
    uint32_t thread = plan->options.is_threaded ? origin : 0;
    if (plan->status != STEP_STATUS_OK || take_own(plan, &plan->threads[origin], record))
        return plan->status;
    switch (record->tag) {
    case HATF_ALLOC:
        take_alloc(plan, thread, record);
        break;
    case HATF_FREE:
        take_free(plan, thread, record);
        break;
    case HATF_REALLOC_ALLOC:
        take_realloc_alloc(plan, thread, origin, record);
        break;
    case HATF_REALLOC_NO_ALLOC:
    case HATF_REALLOC_ALLOC_FREE:
    case HATF_REALLOC_FREE:
        take_realloc(plan, thread, origin, record);
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
    if (plan->status == STEP_STATUS_OK)
        put_sample(plan, thread);
    return plan->status;
}

enum step_status replay_plan_finish(struct replay_plan *plan, struct step_error *error)
{
    plan->error = error;
    alloc_rules_finish(&plan->rules);
    end_piece(plan);
    return plan->status;
}
