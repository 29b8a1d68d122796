/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Merges streams into one order: a heap with one queue per stream.  A block is loaded when its
 * earliest record is next, so only streams that overlap in time are in memory together, and their
 * sum has a limit (step_reader_room()). If records may have to wait for others of the same tick,
 * all queues with records at that tick are taken out of the heap (`tied`), and the rules determine
 * which one proceeds.
 *
 * Within a stream nothing is sorted: a stream is in order already, as one thread wrote it.  So the
 * merge needs only the first record of each queue, and the heap finds the earliest in steps that
 * grow with the logarithm of the number of streams.
 *
 * Between threads only the clock orders records, and a tick of it has many.  At equal times the
 * order is by rank and stream: arbitrary, but the same in each run.  Where that is not enough, as
 * for an object that one thread makes and another uses in the same tick, the caller's rules decide
 * by what they know (`waits`).
 */
#include "steptrace/records.h"

#include <stdlib.h>
#include <string.h>

#include "format/core/step_no_memory.h"
#include "format/step/read/reader_internal.h"

/* Up to this many queues at one tick, all of them waiting, are released one by one.  Each look at a
 * queue is a call of the rules; with a thousand threads in a tick that wait for an object which no
 * record makes, looking at all of them for each record would take the square of their number. */
enum { TIE_PATIENCE = 64 };

/* A larger decoded block is not kept for reuse. */
#define MOST_SPARE ((size_t) 64 << 20)

struct queue {
    struct step_records_front
        front; /* if there is no front its time is still valid: the least of the next block */
    const size_t *blocks; /* numbers of the remaining blocks; the first is `block` if that is
                             loaded */
    size_t block_count;
    struct step_block *block; /* NULL: the next one is not loaded, and there is no front */
};

struct step_records {
    struct step_reader *reader;
    struct step_selection *selection;
    struct step_records_rules rules;
    size_t *time_slots; /* of each record */
    size_t *blocks;     /* all blocks, by stream */
    struct queue *queues;
    size_t queue_count;
    struct queue **order; /* earliest first */
    size_t order_count;
    struct queue **tied; /* those with a front at tie_time; by rank and stream until one advances */
    size_t tied_count;
    uint64_t tie_time;
    struct step_block *spare;
    uint64_t memory; /* bytes of all queues' blocks and of `spare` */
    uint64_t bytes_done, bytes_all;
    struct queue *given; /* its front was returned last; it must be advanced */
    bool given_is_tied;
    bool given_is_first; /* of these: of the lowest rank it is the first, and none before it waited
                          */
    uint64_t last_stream;
    /* used by step_records_next_checked(): */
    size_t damage_reported;
    bool cut_reported;
    bool held; /* a record, or the final status, waits until earlier damage is reported */
    enum step_status held_status;
    struct step_record_view held_view;
};

/* ---- the heap ---- */

/* A queue that is not loaded precedes others of its tick, because its front is needed to decide the
 * order at that tick: its time is that of the block's header, a lower limit, and its rank is
 * unknown. */
static bool goes_before(const struct queue *a, const struct queue *b)
{
    if (a->front.time != b->front.time)
        return a->front.time < b->front.time;
    if ((a->block == NULL) != (b->block == NULL))
        return a->block == NULL;
    if (a->front.rank != b->front.rank)
        return a->front.rank < b->front.rank;
    return a->front.stream < b->front.stream;
}

static void records_sift_down(struct step_records *records, size_t at)
{
    struct queue **order = records->order, *moved = order[at];
    for (;;) {
        size_t child = 2 * at + 1;
        if (child >= records->order_count)
            break;
        if (child + 1 < records->order_count && goes_before(order[child + 1], order[child]))
            child++;
        if (!goes_before(order[child], moved))
            break;
        order[at] = order[child];
        at = child;
    }
    order[at] = moved;
}

static void records_push(struct step_records *records, struct queue *queue)
{
    size_t at = records->order_count++;
    while (at > 0 && goes_before(queue, records->order[(at - 1) / 2])) {
        records->order[at] = records->order[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    records->order[at] = queue;
}

/* The last queue takes the place of the first, and sinks. */
static struct queue *records_pop(struct step_records *records)
{
    struct queue *top = records->order[0];
    records->order[0] = records->order[--records->order_count];
    if (records->order_count > 0)
        records_sift_down(records, 0);
    return top;
}

/* The second and third of the heap are the children of the first: no other queue can be earlier
 * than both.  So most records are recognised as alone in their tick by two comparisons. */
static bool first_is_alone(const struct step_records *records)
{
    uint64_t time = records->order[0]->front.time;
    return (records->order_count < 2 || records->order[1]->front.time > time) &&
           (records->order_count < 3 || records->order[2]->front.time > time);
}

/* Restores the heap after its first queue changed, and removes that if it is empty.  Mostly the
 * same stream has the next record, too. */
static void settle_first(struct step_records *records)
{
    if (records->order[0]->block_count == 0)
        records_pop(records);
    else if (!first_is_alone(records))
        records_sift_down(records, 0);
}

/* ---- queues ---- */

/* Returns the wanted records of a block; NULL: none. */
static const uint8_t *records_wanted_of(const struct step_records *records,
                                        const struct step_block_info *info, bool *is_wanted)
{
    if (records->rules.wanted != NULL) {
        const uint8_t *wanted = records->rules.wanted(records->rules.user, info);
        *is_wanted = wanted != NULL;
        return wanted;
    }
    const uint8_t *wanted =
        records->selection != NULL ? step_selection_wanted(records->selection) : NULL;
    *is_wanted = wanted == NULL;
    for (size_t i = 0; !*is_wanted && i < info->type_count; i++)
        *is_wanted = wanted[info->counts[i].record] != 0;
    return wanted;
}

/* Advances to the stream's next block with wanted records.  Blocks without any are passed over by
 * their summaries, and cost neither reading nor decoding.  The time of the header becomes the
 * queue's: it is the least of the block, so the queue is loaded before the merge passes any of its
 * records. */
static void find_block(struct step_records *records, struct queue *queue)
{
    for (; queue->block_count > 0; queue->blocks++, queue->block_count--) {
        const struct step_block_info *info =
            step_reader_block_info(records->reader, *queue->blocks);
        bool is_wanted;
        records_wanted_of(records, info, &is_wanted);
        if (is_wanted) {
            queue->front.time = info->time_min;
            return;
        }
        records->bytes_done += info->stored_bytes;
    }
}

static void records_let_go(struct step_records *records, struct step_block *block)
{
    records->memory -= step_block_memory(block);
    step_block_destroy(block);
}

/* Returns the spare block for the next one, unless it is much too large; else NULL. A block that is
 * done lends its memory to the next, which is usually about as large.  Without that, each block
 * would be allocated and returned to the system anew; but a large block kept for small ones would
 * waste what other streams need. */
static struct step_block *take_spare(struct step_records *records,
                                     const struct step_block_info *next)
{
    struct step_block *block = records->spare;
    if (block == NULL || block->record_count / 4 > next->record_count)
        return NULL;
    records->spare = NULL;
    records->memory -= step_block_memory(block);
    return block;
}

static void leave_block(struct step_records *records, struct queue *queue)
{
    records->bytes_done += step_reader_block_info(records->reader, *queue->blocks)->stored_bytes;
    if (records->spare == NULL && step_block_memory(queue->block) <= MOST_SPARE)
        records->spare = queue->block;
    else
        records_let_go(records, queue->block);
    queue->block = NULL;
    queue->blocks++;
    queue->block_count--;
    find_block(records, queue);
}

/* A record without a time keeps its place after the previous one. */
static bool look_at_front(const struct step_records *records, struct queue *queue)
{
    if (records->rules.front != NULL)
        return records->rules.front(records->rules.user, &queue->front);
    size_t slot = records->time_slots[queue->front.view.record];
    if (slot != STEP_NO_PROPERTY_SLOT)
        queue->front.time = queue->front.view.slots[slot];
    return true;
}

/* Advances to the next record of the block, or to the next block. */
static void records_advance(struct step_records *records, struct queue *queue)
{
    while (step_block_next(queue->block, &queue->front.view) == STEP_STATUS_OK)
        if (look_at_front(records, queue))
            return;
    leave_block(records, queue);
}

/* Loads the queue's next block; a damaged one is skipped and recorded by the reader.  The memory of
 * the blocks that are loaded already limits this one.  A lack of memory or a failure to read ends
 * the merge, in contrast: skipping would lose blocks that are there. */
static enum step_status records_load(struct step_records *records, struct queue *queue,
                                     struct step_error *error)
{
    struct step_error local = {.offset = STEP_NO_OFFSET};
    bool is_wanted;
    const struct step_block_info *info = step_reader_block_info(records->reader, *queue->blocks);
    const uint8_t *wanted = records_wanted_of(records, info, &is_wanted);
    struct step_block *block = take_spare(records, info);
    enum step_status status = step_reader_load_beside(records->reader, *queue->blocks, wanted,
                                                      records->memory, &block, &local);
    records->memory += block != NULL ? step_block_memory(block) : 0;
    queue->block = block;
    if (status == STEP_STATUS_OK) {
        records_advance(records, queue);
        return status;
    }
    if (status == STEP_STATUS_NO_MEMORY || status == STEP_STATUS_IO) {
        if (block != NULL)
            records_let_go(records, block);
        queue->block = NULL;
        if (error != NULL)
            *error = local;
        return status;
    }
    leave_block(records, queue);
    return STEP_STATUS_OK;
}

/* ---- starting ---- */

/* Makes a queue for each stream.  The blocks are sorted by stream once; a queue is a part of that
 * array. */
static bool make_queues(struct step_records *records)
{
    size_t count = step_reader_block_count(records->reader);
    records->blocks = calloc(count + 1, sizeof *records->blocks);
    if (records->blocks == NULL ||
        step_reader_sort_blocks(records->reader, records->blocks) != STEP_STATUS_OK)
        return false;
    uint64_t last = 0;
    for (size_t i = 0; i < count; i++) {
        const struct step_block_info *info =
            step_reader_block_info(records->reader, records->blocks[i]);
        records->queue_count += i == 0 || info->stream != last;
        last = info->stream;
        records->bytes_all += info->stored_bytes;
    }
    records->queues = calloc(records->queue_count + 1, sizeof *records->queues);
    records->order = calloc(records->queue_count + 1, sizeof(struct queue *));
    if (records->rules.waits != NULL)
        records->tied = calloc(records->queue_count + 1, sizeof(struct queue *));
    if (records->queues == NULL || records->order == NULL ||
        (records->rules.waits != NULL && records->tied == NULL))
        return false;
    struct queue *queue = records->queues - 1;
    for (size_t i = 0; i < count; i++) {
        uint64_t stream = step_reader_block_info(records->reader, records->blocks[i])->stream;
        if (i == 0 || stream != queue->front.stream) {
            *++queue = (struct queue){.blocks = &records->blocks[i]};
            queue->front.queue = (size_t) (queue - records->queues);
            queue->front.stream = stream;
        }
        queue->block_count++;
    }
    return true;
}

static enum step_status records_create(struct step_reader *reader, struct step_selection *selection,
                                       const struct step_records_rules *rules,
                                       struct step_records **out, struct step_error *error)
{
    const struct step_definition *definition = step_reader_borrow_definition(reader);
    struct step_records *records = calloc(1, sizeof *records);
    *out = NULL;
    if (records == NULL)
        return step_no_memory(error, NULL);
    records->reader = reader;
    records->selection = selection;
    if (rules != NULL)
        records->rules = *rules;
    records->time_slots = calloc(definition->record_count + 1, sizeof *records->time_slots);
    if (records->time_slots == NULL || !make_queues(records)) {
        step_records_destroy(records);
        return step_no_memory(error, NULL);
    }
    for (uint32_t i = 0; i < definition->record_count; i++)
        records->time_slots[i] = step_record_find_property(definition, i, "time");
    for (size_t i = 0; i < records->queue_count; i++) {
        find_block(records, &records->queues[i]);
        if (records->queues[i].block_count > 0)
            records_push(records, &records->queues[i]);
    }
    *out = records;
    return STEP_STATUS_OK;
}

enum step_status step_records_create(struct step_reader *reader, struct step_selection *selection,
                                     struct step_records **out, struct step_error *error)
{
    return records_create(reader, selection, NULL, out, error);
}

enum step_status step_records_create_ordered(struct step_reader *reader,
                                             const struct step_records_rules *rules,
                                             struct step_records **out, struct step_error *error)
{
    return records_create(reader, NULL, rules, out, error);
}

void step_records_destroy(struct step_records *records)
{
    if (records == NULL)
        return;
    for (size_t i = 0; records->queues != NULL && i < records->queue_count; i++)
        step_block_destroy(records->queues[i].block);
    step_block_destroy(records->spare);
    free(records->time_slots);
    free(records->blocks);
    free(records->queues);
    free(records->order);
    free(records->tied);
    free(records);
}

/* ---- ties ---- */

/* Loads what is needed to know the heap's first record.  Afterwards it has a front, or the heap is
 * empty.  A block may turn out to begin later than its header says, if its first records are not
 * wanted: the queue then sinks, and another may have to be loaded. */
static enum step_status load_first(struct step_records *records, struct step_error *error)
{
    while (records->order_count > 0 && records->order[0]->block == NULL) {
        enum step_status status = records_load(records, records->order[0], error);
        if (status != STEP_STATUS_OK)
            return status;
        settle_first(records);
    }
    return STEP_STATUS_OK;
}

/* Moves all queues with a front at the heap's first tick to `tied`. Blocks that begin at that tick
 * are loaded for it.  Afterwards nothing of the tick is left in the heap, so the rules see all
 * records that could be waited for. */
static enum step_status collect_ties(struct step_records *records, struct step_error *error)
{
    records->tie_time = records->order[0]->front.time;
    for (;;) {
        enum step_status status = load_first(records, error);
        if (status != STEP_STATUS_OK)
            return status;
        if (records->order_count == 0 || records->order[0]->front.time > records->tie_time)
            return STEP_STATUS_OK;
        records->tied[records->tied_count++] = records_pop(records);
    }
}

/* Returns the tied queue that proceeds: the first of the lowest rank that need not wait.  If all
 * wait, the first proceeds nevertheless: what they wait for is not in the trace, or two wait for
 * each other, and a merge must end. */
static struct queue *choose_tied(struct step_records *records)
{
    size_t first = 0;
    for (size_t i = 1; i < records->tied_count; i++)
        if (records->tied[i]->front.rank < records->tied[first]->front.rank)
            first = i;
    uint8_t rank = records->tied[first]->front.rank;
    size_t seen = 0;
    for (size_t i = first; i < records->tied_count && seen < TIE_PATIENCE; i++) {
        struct queue *queue = records->tied[i];
        if (queue->front.rank != rank)
            continue;
        records->given_is_first = i == first;
        if (!records->rules.waits(records->rules.user, &queue->front))
            return queue;
        seen++;
    }
    records->given_is_first = false;
    return records->tied[first];
}

/* Removes the queue from `tied`: it has no more records at this tick. */
static void untie(struct step_records *records, struct queue *queue)
{
    size_t at = 0;
    while (records->tied[at] != queue)
        at++;
    records->tied_count--;
    memmove(&records->tied[at], &records->tied[at + 1],
            (records->tied_count - at) * sizeof(struct queue *));
    if (queue->block_count > 0)
        records_push(records, queue);
}

static enum step_status leave_tied(struct step_records *records, struct queue *queue,
                                   struct step_error *error)
{
    enum step_status status = STEP_STATUS_OK;
    while (status == STEP_STATUS_OK && queue->block == NULL && queue->block_count > 0 &&
           queue->front.time <= records->tie_time)
        status = records_load(records, queue, error);
    if (queue->block == NULL || queue->front.time > records->tie_time)
        untie(records, queue);
    return status;
}

/* ---- reading ---- */

/* Advances past the record that was returned last. */
static inline __attribute__((always_inline)) enum step_status leave_given(
    struct step_records *records, struct step_error *error)
{
    struct queue *queue = records->given;
    records->given = NULL;
    records_advance(records, queue);
    if (records->given_is_tied)
        return leave_tied(records, queue, error);
    settle_first(records);
    return STEP_STATUS_OK;
}

/* Inlined in both functions below, because a call per record is measurable. */
static inline __attribute__((always_inline)) enum step_status give_next(
    struct step_records *records, const struct step_records_front **front, struct step_error *error)
{
    enum step_status status = STEP_STATUS_OK;
    if (records->given != NULL)
        status = leave_given(records, error);
    if (status == STEP_STATUS_OK && records->tied_count == 0) {
        if (records->order_count > 0 && records->order[0]->block == NULL)
            status = load_first(records, error);
        if (status == STEP_STATUS_OK && records->order_count == 0)
            status = STEP_STATUS_END;
        records->given_is_tied =
            status == STEP_STATUS_OK && records->rules.waits != NULL && !first_is_alone(records);
        if (records->given_is_tied)
            status = collect_ties(records, error);
    }
    if (status != STEP_STATUS_OK)
        return status;
    records->given = records->given_is_tied ? choose_tied(records) : records->order[0];
    *front = &records->given->front;
    return status;
}

enum step_status step_records_next_front(struct step_records *records,
                                         const struct step_records_front **front,
                                         struct step_error *error)
{
    return give_next(records, front, error);
}

/* Alone in its tick, a queue proceeds as long as its records are earlier than those of all others,
 * as first_is_alone() would find for each of them.  Among queues at one tick it proceeds as long as
 * it is at that tick and choose_tied() would choose it again: no queue before it can, if none had
 * to wait, and it need not wait itself. */
size_t step_records_next_run(struct step_records *records, bool waits, size_t most,
                             struct step_records_run *run)
{
    const struct queue *queue = records->given;
    uint64_t before = UINT64_MAX;
    if (queue == NULL || most == 0 ||
        (records->given_is_tied && records->tied_count > 1 && (waits || !records->given_is_first)))
        return 0;
    if (records->given_is_tied)
        before = records->tie_time + (records->tie_time < UINT64_MAX);
    for (size_t i = 1; i < 3 && i < records->order_count && !records->given_is_tied; i++)
        if (records->order[i]->front.time < before)
            before = records->order[i]->front.time;
    return step_block_run(queue->block, queue->front.view.record,
                          records->time_slots[queue->front.view.record], before, most, run);
}

enum step_status step_records_next(struct step_records *records, struct step_record_view *view,
                                   struct step_error *error)
{
    for (;;) {
        const struct step_records_front *front;
        enum step_status status = give_next(records, &front, error);
        if (status != STEP_STATUS_OK)
            return status;
        records->last_stream = front->stream;
        *view = front->view;
        if (records->selection == NULL ||
            step_selection_view(records->selection, &front->view, view))
            return STEP_STATUS_OK;
    }
}

/* Fills `error` with the next damage that was not reported; OK if there is none.  A caller thus
 * hears of damage between the records where it is, once. */
static enum step_status report_damage(struct step_records *records, struct step_error *error)
{
    const struct step_reader *reader = records->reader;
    if (records->damage_reported >= step_reader_damage_count(reader))
        return STEP_STATUS_OK;
    const struct step_damage *damage = step_reader_damage(reader, records->damage_reported++);
    return step_error_set(error, STEP_STATUS_CORRUPT, step_reader_borrow_name(reader),
                          damage->offset, "%s", damage->message);
}

static bool has_unreported(const struct step_records *records)
{
    return records->damage_reported < step_reader_damage_count(records->reader);
}

enum step_status step_records_next_checked(struct step_records *records,
                                           struct step_record_view *view, struct step_error *error)
{
    enum step_status status;
    if (!records->held) {
        if (has_unreported(records))
            return report_damage(records, error);
        status = step_records_next(records, view, error);
        if (status == STEP_STATUS_OK && !has_unreported(records))
            return status;
        records->held = true;
        records->held_status = status;
        records->held_view = *view;
    }
    status = report_damage(records, error); /* loading may have found damage; the record waits
                                               then */
    if (status != STEP_STATUS_OK)
        return status;
    records->held = false;
    *view = records->held_view;
    if (records->held_status != STEP_STATUS_END || records->cut_reported ||
        step_reader_is_whole(records->reader))
        return records->held_status;
    records->cut_reported = true;
    return step_error_set(error, STEP_STATUS_CUT, step_reader_borrow_name(records->reader),
                          step_reader_file_size(records->reader),
                          "the trace was not closed: its end may be missing");
}

uint64_t step_records_stream(const struct step_records *records)
{
    return records->last_stream;
}

size_t step_records_queue_count(const struct step_records *records)
{
    return records->queue_count;
}

void step_records_progress(const struct step_records *records, uint64_t *done, uint64_t *all)
{
    *done = records->bytes_done;
    *all = records->bytes_all;
}
