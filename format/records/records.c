/* SPDX-License-Identifier: Apache-2.0 */
/* A heap of streams.  A block is loaded when its earliest record is the next one, so that only
 * streams that overlap in time are in memory together. */
#include "steptrace/records.h"

#include <stdlib.h>

struct queue {
    uint64_t stream;
    uint64_t key;         /* time of the record at hand, or the least of the block to be loaded */
    const size_t *blocks; /* numbers of those that are left */
    size_t block_count;
    struct step_block *block; /* NULL: the next one is not loaded */
    struct step_record_view view;
};

struct step_records {
    struct step_reader *reader;
    struct step_selection *selection;
    size_t record_count;
    size_t *time_slots; /* of each record */
    size_t *blocks;     /* all, by stream */
    struct queue *queues;
    struct queue **heap; /* earliest first */
    size_t heap_count;
    struct step_block *spare;
    uint64_t last_stream, bytes_done, bytes_all;
    bool given; /* the first queue's record was given: it is to be advanced */
    /* of step_records_next_checked(): */
    size_t damage_told;
    bool cut_told;
    bool held; /* a record, or how it ended, waits until damage before it was told */
    enum step_status held_status;
    struct step_record_view held_view;
};

static bool goes_before(const struct queue *a, const struct queue *b)
{
    return a->key != b->key ? a->key < b->key : a->stream < b->stream;
}

static void sift_down(struct step_records *records, size_t at)
{
    struct queue **heap = records->heap, *moved = heap[at];
    for (;;) {
        size_t child = 2 * at + 1;
        if (child >= records->heap_count)
            break;
        if (child + 1 < records->heap_count && goes_before(heap[child + 1], heap[child]))
            child++;
        if (!goes_before(heap[child], moved))
            break;
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = moved;
}

static bool has_wanted(const struct step_records *records, const struct step_block_info *info)
{
    const uint8_t *wanted =
        records->selection != NULL ? step_selection_wanted(records->selection) : NULL;
    bool found = wanted == NULL;
    for (size_t i = 0; !found && i < info->type_count; i++)
        found = wanted[info->counts[i].record] != 0;
    return found;
}

/* Goes to the stream's next block that has something wanted.  False: there is none. */
static bool find_block(struct step_records *records, struct queue *queue)
{
    for (; queue->block_count > 0; queue->blocks++, queue->block_count--) {
        const struct step_block_info *info =
            step_reader_block_info(records->reader, *queue->blocks);
        if (has_wanted(records, info)) {
            queue->key = info->time_min;
            return true;
        }
        records->bytes_done += info->stored_bytes;
    }
    return false;
}

struct place {
    uint64_t stream;
    size_t number;
};

static int compare_places(const void *left, const void *right)
{
    const struct place *a = left, *b = right;
    if (a->stream != b->stream)
        return a->stream < b->stream ? -1 : 1;
    return a->number < b->number ? -1 : a->number > b->number;
}

/* Sorts the blocks by stream, and makes a queue of each stream. */
static bool make_queues(struct step_records *records, size_t count, size_t *queue_count)
{
    struct place *places = calloc(count + 1, sizeof *places);
    records->blocks = calloc(count + 1, sizeof *records->blocks);
    records->queues = calloc(count + 1, sizeof *records->queues);
    records->heap = calloc(count + 1, sizeof(struct queue *));
    *queue_count = 0;
    bool good = places != NULL && records->blocks != NULL && records->queues != NULL &&
                records->heap != NULL;
    for (size_t i = 0; good && i < count; i++) {
        const struct step_block_info *info = step_reader_block_info(records->reader, i);
        places[i] = (struct place){info->stream, i};
        records->bytes_all += info->stored_bytes;
    }
    if (good)
        qsort(places, count, sizeof *places, compare_places);
    for (size_t i = 0; good && i < count; i++) {
        records->blocks[i] = places[i].number;
        if (i == 0 || places[i].stream != places[i - 1].stream)
            records->queues[(*queue_count)++] =
                (struct queue){.stream = places[i].stream, .blocks = &records->blocks[i]};
        records->queues[*queue_count - 1].block_count++;
    }
    free(places);
    return good;
}

enum step_status step_records_create(struct step_reader *reader, struct step_selection *selection,
                                     struct step_records **out, struct step_error *error)
{
    const struct step_definition *definition = step_reader_borrow_definition(reader);
    struct step_records *records = calloc(1, sizeof *records);
    size_t queue_count = 0;
    *out = NULL;
    if (records == NULL)
        return step_error_set(error, STEP_STATUS_NO_MEMORY, NULL, STEP_NO_OFFSET, "out of memory");
    records->reader = reader;
    records->selection = selection;
    records->record_count = definition->record_count;
    records->time_slots = calloc(definition->record_count + 1, sizeof *records->time_slots);
    if (records->time_slots == NULL ||
        !make_queues(records, step_reader_block_count(reader), &queue_count)) {
        step_records_destroy(records);
        return step_error_set(error, STEP_STATUS_NO_MEMORY, NULL, STEP_NO_OFFSET, "out of memory");
    }
    for (uint32_t i = 0; i < definition->record_count; i++)
        records->time_slots[i] = step_record_find_property(definition, i, "time");
    for (size_t i = 0; i < queue_count; i++)
        if (find_block(records, &records->queues[i]))
            records->heap[records->heap_count++] = &records->queues[i];
    for (size_t i = records->heap_count / 2; i-- > 0;)
        sift_down(records, i);
    *out = records;
    return STEP_STATUS_OK;
}

void step_records_destroy(struct step_records *records)
{
    if (records == NULL)
        return;
    for (size_t i = 0; i < records->heap_count; i++)
        step_block_destroy(records->heap[i]->block);
    step_block_destroy(records->spare);
    free(records->time_slots);
    free(records->blocks);
    free(records->queues);
    free(records->heap);
    free(records);
}

/* Puts the first queue where it belongs, or takes it out where it has nothing left. */
static void settle(struct step_records *records, bool has_more)
{
    if (!has_more)
        records->heap[0] = records->heap[--records->heap_count];
    if (records->heap_count > 0)
        sift_down(records, 0);
}

/* To the next record of the block, or to the next block.  A record without a time keeps the place
 * of the one before it. */
static void advance(struct step_records *records)
{
    struct queue *queue = records->heap[0];
    if (step_block_next(queue->block, &queue->view) == STEP_STATUS_OK) {
        size_t slot = records->time_slots[queue->view.record];
        queue->key = slot != STEP_NO_PROPERTY_SLOT ? queue->view.slots[slot] : queue->key;
        settle(records, true);
        return;
    }
    records->bytes_done += step_reader_block_info(records->reader, *queue->blocks)->stored_bytes;
    if (records->spare == NULL)
        records->spare = queue->block;
    else
        step_block_destroy(queue->block);
    queue->block = NULL;
    queue->blocks++;
    queue->block_count--;
    settle(records, find_block(records, queue));
}

static enum step_status load(struct step_records *records, struct step_error *error)
{
    struct queue *queue = records->heap[0];
    const uint8_t *wanted =
        records->selection != NULL ? step_selection_wanted(records->selection) : NULL;
    struct step_error local = {.offset = STEP_NO_OFFSET};
    queue->block = records->spare;
    records->spare = NULL;
    enum step_status status =
        step_reader_load(records->reader, *queue->blocks, wanted, &queue->block, &local);
    if (status == STEP_STATUS_OK) {
        advance(records);
        return status;
    }
    records->spare = queue->block;
    queue->block = NULL;
    if (status == STEP_STATUS_NO_MEMORY || status == STEP_STATUS_IO) {
        if (error != NULL)
            *error = local;
        return status;
    }
    queue->blocks++;
    queue->block_count--;
    settle(records, find_block(records, queue));
    return STEP_STATUS_OK;
}

enum step_status step_records_next(struct step_records *records, struct step_record_view *view,
                                   struct step_error *error)
{
    for (;;) {
        if (records->given)
            advance(records);
        records->given = false;
        if (records->heap_count == 0)
            return STEP_STATUS_END;
        struct queue *queue = records->heap[0];
        if (queue->block == NULL) {
            enum step_status status = load(records, error);
            if (status != STEP_STATUS_OK)
                return status;
            continue;
        }
        records->given = true;
        records->last_stream = queue->stream;
        *view = queue->view;
        if (records->selection == NULL ||
            step_selection_view(records->selection, &queue->view, view))
            return STEP_STATUS_OK;
    }
}

/* Fills `error` with the next damage that was not yet told; OK where there is none. */
static enum step_status tell_damage(struct step_records *records, struct step_error *error)
{
    const struct step_reader *reader = records->reader;
    if (records->damage_told >= step_reader_damage_count(reader))
        return STEP_STATUS_OK;
    const struct step_damage *damage = step_reader_damage(reader, records->damage_told++);
    return step_error_set(error, STEP_STATUS_CORRUPT, step_reader_borrow_name(reader),
                          damage->offset, "%s", damage->message);
}

enum step_status step_records_next_checked(struct step_records *records,
                                           struct step_record_view *view, struct step_error *error)
{
    enum step_status status = tell_damage(records, error);
    if (status != STEP_STATUS_OK)
        return status;
    if (!records->held)
        records->held_status = step_records_next(records, &records->held_view, error);
    records->held = true;
    status = tell_damage(records, error); /* it may have come to some; the record waits then */
    if (status != STEP_STATUS_OK)
        return status;
    records->held = false;
    *view = records->held_view;
    if (records->held_status != STEP_STATUS_END || records->cut_told ||
        step_reader_is_whole(records->reader))
        return records->held_status;
    records->cut_told = true;
    return step_error_set(error, STEP_STATUS_CUT, step_reader_borrow_name(records->reader),
                          step_reader_file_size(records->reader),
                          "the trace was not closed: its end may be missing");
}

uint64_t step_records_stream(const struct step_records *records)
{
    return records->last_stream;
}

void step_records_progress(const struct step_records *records, uint64_t *done, uint64_t *all)
{
    *done = records->bytes_done;
    *all = records->bytes_all;
}
