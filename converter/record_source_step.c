/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records of STEP traces with the records of hatf.step: their streams merged by time and, at equal
 * times, by number.  A stream's block is loaded when its time has come.
 */
#include <stdlib.h>
#include <string.h>

#include "heap_model.h"
#include "heap_step.h"
#include "record_source.h"
#include "steptrace/hatf_trace.h"

struct queue {
    uint64_t stream;
    const size_t *blocks; /* numbers of its blocks, in order */
    size_t block_count;
    size_t next_block;
    struct step_block *block;     /* being read, or NULL */
    struct step_record_view view; /* the record at the front, where there is a block */
    uint64_t ticks;               /* of that record, or of the next block's first */
};

struct block_place {
    uint64_t stream;
    size_t number;
};

struct step_record_source {
    struct record_source base;
    struct step_reader *reader;
    struct hatf_trace_binding binding;
    struct heap_model *model; /* where the trace has places */
    uint64_t resolution_ns;
    struct queue *queues;
    size_t *blocks;      /* what the queues' lists point into */
    struct queue **heap; /* those that have records left, the earliest first */
    size_t heap_count;
    bool moves_on; /* the front of the first queue was given */
    bool lost;     /* a block was damaged */
    uint64_t bytes_all;
    uint64_t bytes_done;
    struct step_bytes next_attributes; /* of HEAP_NEXT_ATTRIBUTES: a copy */
    bool has_next_attributes;
    uint8_t next_bytes[HATF_ATTRIBUTES_MAX];
};

static struct step_record_source *of(struct record_source *source)
{
    return (struct step_record_source *) source;
}

static const struct step_record_source *of_const(const struct record_source *source)
{
    return (const struct step_record_source *) source;
}

bool step_reader_has_heap_events(const struct step_reader *reader)
{
    return step_definition_find(step_reader_borrow_definition(reader), "heap.Event") !=
           STEP_NO_RECORD;
}

/* ---- the order of the streams ---- */

/* A queue without a block goes before others of its time: its first record is to be known first. */
static bool goes_before(const struct queue *a, const struct queue *b)
{
    if (a->ticks != b->ticks)
        return a->ticks < b->ticks;
    if ((a->block == NULL) != (b->block == NULL))
        return a->block == NULL;
    return a->stream < b->stream;
}

static void sift_down(struct step_record_source *source, size_t at)
{
    struct queue **heap = source->heap;
    struct queue *queue = heap[at];
    for (;;) {
        size_t child = 2 * at + 1;
        if (child >= source->heap_count)
            break;
        if (child + 1 < source->heap_count && goes_before(heap[child + 1], heap[child]))
            child++;
        if (!goes_before(heap[child], queue))
            break;
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = queue;
}

static void drop_first(struct step_record_source *source)
{
    source->heap[0] = source->heap[--source->heap_count];
    if (source->heap_count > 0)
        sift_down(source, 0);
}

/* The time of the record at the front; what has none goes with the one before it. */
static void look_at_front(struct step_record_source *source, struct queue *queue)
{
    struct heap_event event;
    if (heap_event_get(&source->binding, &queue->view, &event))
        queue->ticks = event.time;
}

/* Puts the queue before its next block, whose records are no earlier. */
static void await_block(struct step_record_source *source, struct queue *queue)
{
    step_block_destroy(queue->block);
    queue->block = NULL;
    if (queue->next_block < queue->block_count)
        queue->ticks =
            step_reader_block_info(source->reader, queue->blocks[queue->next_block])->time_min;
}

static void advance(struct step_record_source *source, struct queue *queue)
{
    if (step_block_next(queue->block, &queue->view) == STEP_STATUS_OK)
        look_at_front(source, queue);
    else
        await_block(source, queue);
}

/* Loads the queue's next block; a damaged one is passed over, and known by the reader. */
static enum step_status load(struct step_record_source *source, struct queue *queue,
                             struct step_error *error)
{
    struct step_error local = {.offset = STEP_NO_OFFSET};
    size_t number = queue->blocks[queue->next_block++];
    source->bytes_done += step_reader_block_info(source->reader, number)->stored_bytes;
    enum step_status status = step_reader_load(source->reader, number, NULL, &queue->block, &local);
    if (status == STEP_STATUS_OK) {
        advance(source, queue);
        return status;
    }
    if (status == STEP_STATUS_NO_MEMORY || status == STEP_STATUS_IO) {
        *error = local;
        return status;
    }
    source->lost = true;
    await_block(source, queue);
    return STEP_STATUS_OK;
}

/* Brings the next record to the front of the first queue; END after the last. */
static enum step_status settle(struct step_record_source *source, struct step_error *error)
{
    if (source->moves_on) {
        advance(source, source->heap[0]);
        source->moves_on = false;
    }
    for (;;) {
        if (source->heap_count == 0)
            return STEP_STATUS_END;
        struct queue *queue = source->heap[0];
        if (queue->block == NULL && queue->next_block == queue->block_count) {
            drop_first(source);
            continue;
        }
        sift_down(source, 0);
        queue = source->heap[0];
        if (queue->block != NULL)
            return STEP_STATUS_OK;
        enum step_status status = load(source, queue, error);
        if (status != STEP_STATUS_OK)
            return status;
    }
}

/* ---- records ---- */

static enum step_status damage_of(const struct step_record_source *source, const char *what,
                                  struct step_error *error)
{
    return step_error_set(error, STEP_STATUS_CORRUPT, source->base.path, STEP_NO_OFFSET, "%s",
                          what);
}

static enum step_status no_memory(struct step_error *error)
{
    return step_error_set(error, STEP_STATUS_NO_MEMORY, NULL, STEP_NO_OFFSET, "out of memory");
}

static void take_attributes(struct step_record_source *source, uint64_t id,
                            struct hatf_record *record)
{
    struct heap_attributes entry;
    if (source->has_next_attributes)
        record->attributes = source->next_attributes;
    else if (id != 0 && heap_attributes_look_up(&source->binding, source->reader, id, &entry) &&
             entry.value.length <= HATF_ATTRIBUTES_MAX)
        record->attributes = entry.value;
    source->has_next_attributes = false;
}

static enum step_status give(enum heap_answer answer, const struct step_record_source *source,
                             struct step_error *error)
{
    if (answer == HEAP_NO_MEMORY)
        return no_memory(error);
    return answer == HEAP_IMPOSSIBLE
               ? damage_of(source, "a place that the heap's model does not have", error)
               : STEP_STATUS_OK;
}

/* The addresses, from the record itself or from the model. */
static enum step_status take_addresses(struct step_record_source *source, bool is_placed,
                                       uint64_t old, uint64_t new, struct hatf_record *record,
                                       struct step_error *error)
{
    const struct heap_step_form *form = &heap_step_forms[record->tag];
    if (is_placed && source->lost)
        return damage_of(source,
                         "what follows a damaged block cannot be told: its addresses are "
                         "places",
                         error);
    if (is_placed) {
        const struct heap_place place = {old, new};
        return give(heap_model_find(source->model, &place, record), source, error);
    }
    record->address = form->has_old ? old : new;
    record->new_address = form->has_old ? new : 0;
    return source->model != NULL ? give(heap_model_note(source->model, record), source, error)
                                 : STEP_STATUS_OK;
}

static bool tag_of(int known, enum hatf_tag *tag, bool *is_placed)
{
    for (unsigned i = 0; i < HATF_COMMENT; i++) {
        const struct heap_step_form *form = &heap_step_forms[i];
        if (known != form->plain && known != form->placed)
            continue;
        *tag = (enum hatf_tag) i;
        *is_placed = known != form->plain;
        return true;
    }
    return false;
}

static enum step_status take_event(struct step_record_source *source,
                                   const struct step_record_view *view, int known,
                                   struct hatf_record *record, struct step_error *error)
{
    uint64_t values[HEAP_STEP_SLOTS];
    bool is_placed;
    if (!tag_of(known, &record->tag, &is_placed))
        return STEP_STATUS_END;
    const struct heap_step_form *form = &heap_step_forms[record->tag];
    bool has_heap = hatf_tag_has(record->tag, HATF_HEAP);
    bool has_size = hatf_tag_has(record->tag, HATF_SIZE);
    size_t count = 3u + has_heap + has_size + form->has_old + form->has_new;
    const uint64_t *slots =
        step_binding_slots(source->binding.inner, view, (uint32_t) known, count, values);
    if (slots == NULL)
        return STEP_STATUS_END;
    if (__builtin_mul_overflow(slots[0], source->resolution_ns, &record->time))
        record->time = UINT64_MAX;
    record->thread = slots[1];
    take_attributes(source, slots[2], record);
    slots += 3;
    record->heap = has_heap ? *slots++ : 0;
    record->size = has_size ? *slots++ : 0;
    uint64_t old = form->has_old ? *slots++ : 0;
    uint64_t new = form->has_new ? *slots++ : 0;
    return take_addresses(source, is_placed, old, new, record, error);
}

/* END for a record that is none of HATF's. */
static enum step_status take(struct step_record_source *source, const struct step_record_view *view,
                             struct hatf_record *record, struct step_error *error)
{
    struct heap_comment comment;
    struct heap_next_attributes next;
    int known = hatf_trace_record(&source->binding, view->record);
    *record = (struct hatf_record){.tag = HATF_COMMENT};
    if (known == HEAP_COMMENT && heap_comment_get(&source->binding, view, &comment)) {
        record->comment = comment.text;
        if (record->comment.length > HATF_COMMENT_MAX)
            record->comment.length = HATF_COMMENT_MAX;
        return STEP_STATUS_OK;
    }
    if (known == HEAP_NEXT_ATTRIBUTES && heap_next_attributes_get(&source->binding, view, &next)) {
        if (next.value.length > HATF_ATTRIBUTES_MAX)
            return damage_of(source, "attributes of more than 65535 bytes", error);
        if (next.value.length > 0)
            memcpy(source->next_bytes, next.value.data, next.value.length);
        source->next_attributes = (struct step_bytes){source->next_bytes, next.value.length};
        source->has_next_attributes = true;
        return STEP_STATUS_END;
    }
    return take_event(source, view, known, record, error);
}

static enum step_status next_record(struct record_source *base, struct hatf_record *record,
                                    struct step_error *error)
{
    struct step_record_source *source = of(base);
    enum step_status status = STEP_STATUS_END;
    while (status == STEP_STATUS_END) {
        status = settle(source, error);
        if (status != STEP_STATUS_OK)
            return status;
        source->moves_on = true;
        status = take(source, &source->heap[0]->view, record, error);
    }
    return status;
}

/* ---- what is known of it ---- */

static void summary(const struct record_source *base, struct trace_summary *out)
{
    const struct step_record_source *source = of_const(base);
    *out = (struct trace_summary){.format = "step (heap)",
                                  .whole = step_reader_is_whole(source->reader),
                                  .running = step_reader_is_running(source->reader),
                                  .recovered = step_reader_recovered_count(source->reader),
                                  .file_bytes = step_reader_file_size(source->reader),
                                  .resolution_ns = source->resolution_ns};
}

static size_t property_count(const struct record_source *base)
{
    return step_reader_property_count(of_const(base)->reader);
}

static void property(const struct record_source *base, size_t i, const char **key,
                     const char **value)
{
    *key = step_reader_property_key(of_const(base)->reader, i);
    *value = step_reader_property_value(of_const(base)->reader, i);
}

static size_t damage_count(const struct record_source *base)
{
    return step_reader_damage_count(of_const(base)->reader);
}

static const struct step_damage *damage(const struct record_source *base, size_t i)
{
    return step_reader_damage(of_const(base)->reader, i);
}

static double progress(const struct record_source *base)
{
    const struct step_record_source *source = of_const(base);
    return source->bytes_all > 0 ? (double) source->bytes_done / (double) source->bytes_all : 1.0;
}

static void destroy(struct record_source *base)
{
    struct step_record_source *source = of(base);
    for (size_t i = 0; source->queues != NULL && source->queues[i].block_count > 0; i++)
        step_block_destroy(source->queues[i].block);
    if (source->binding.inner != NULL)
        hatf_trace_unbind(&source->binding);
    heap_model_destroy(source->model);
    step_reader_destroy(source->reader);
    free(source->queues);
    free(source->blocks);
    free(source->heap);
    free(source);
}

static const struct record_source_operations operations = {
    .next = next_record,
    .summary = summary,
    .property_count = property_count,
    .property = property,
    .damage_count = damage_count,
    .damage = damage,
    .progress = progress,
    .destroy = destroy,
};

/* ---- opening ---- */

static int compare_places(const void *left, const void *right)
{
    const struct block_place *a = left;
    const struct block_place *b = right;
    if (a->stream != b->stream)
        return a->stream < b->stream ? -1 : 1;
    return a->number < b->number ? -1 : a->number > b->number;
}

static bool has_places(const struct step_record_source *source, const struct step_block_info *info)
{
    for (size_t i = 0; i < info->type_count; i++) {
        int known = hatf_trace_record(&source->binding, info->counts[i].record);
        enum hatf_tag tag;
        bool is_placed;
        if (tag_of(known, &tag, &is_placed) && is_placed)
            return true;
    }
    return false;
}

static void make_queues(struct step_record_source *source, const struct block_place *places,
                        size_t count)
{
    struct queue *queue = source->queues - 1;
    for (size_t i = 0; i < count; i++) {
        source->blocks[i] = places[i].number;
        if (i == 0 || places[i].stream != places[i - 1].stream) {
            ++queue;
            *queue = (struct queue){.stream = places[i].stream, .blocks = &source->blocks[i]};
            source->heap[source->heap_count++] = queue;
        }
        queue->block_count++;
    }
    for (size_t i = 0; i < source->heap_count; i++)
        await_block(source, &source->queues[i]);
    for (size_t i = source->heap_count; i-- > 0;)
        sift_down(source, i);
}

static enum step_status start(struct step_record_source *source, struct step_error *error)
{
    size_t count = step_reader_block_count(source->reader);
    const char *resolution = step_reader_property(source->reader, "resolution-ns");
    unsigned long long value = resolution != NULL ? strtoull(resolution, NULL, 10) : 0;
    source->resolution_ns = value > 0 ? value : 1;
    enum step_status status =
        hatf_trace_bind(step_reader_borrow_definition(source->reader), &source->binding, error);
    if (status != STEP_STATUS_OK)
        return status;
    struct block_place *places = calloc(count + 1, sizeof *places);
    source->blocks = calloc(count + 1, sizeof *source->blocks);
    source->queues = calloc(count + 1, sizeof *source->queues);
    source->heap = calloc(count + 1, sizeof *source->heap);
    bool ok =
        places != NULL && source->blocks != NULL && source->queues != NULL && source->heap != NULL;
    bool is_placed = false;
    for (size_t i = 0; ok && i < count; i++) {
        const struct step_block_info *info = step_reader_block_info(source->reader, i);
        places[i] = (struct block_place){info->stream, i};
        source->bytes_all += info->stored_bytes;
        is_placed = is_placed || has_places(source, info);
    }
    if (ok) {
        qsort(places, count, sizeof *places, compare_places);
        make_queues(source, places, count);
    }
    free(places);
    if (ok && is_placed)
        ok = (source->model = heap_model_create(true)) != NULL;
    return ok ? STEP_STATUS_OK : no_memory(error);
}

enum step_status step_record_source_create(const char *path, struct step_reader *reader,
                                           struct record_source **out, struct step_error *error)
{
    struct step_record_source *source = calloc(1, sizeof *source);
    if (source == NULL) {
        step_reader_destroy(reader);
        return no_memory(error);
    }
    source->base.operations = &operations;
    source->base.path = path;
    source->reader = reader;
    enum step_status status = start(source, error);
    if (status == STEP_STATUS_OK)
        *out = &source->base;
    else
        destroy(&source->base);
    return status;
}
