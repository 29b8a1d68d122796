/* SPDX-License-Identifier: Apache-2.0 */
/* Records into graph events, merged by time. */
#include "converter/graph/graph_source.h"

#include <stdlib.h>
#include <string.h>

#include "converter/base/no_memory.h"
#include "steptrace/live.h"

/* At one tick; the higher waits for the lower. */
enum rank { RANK_GLOBAL, RANK_BUFFER, RANK_FREES, RANK_LAST };

/* 1 + the kind, so that what is not in the table is none. */
#define KIND(kind) (uint8_t)((kind) + 1)
static const uint8_t kinds[STEP_JAVA_RECORD_COUNT] = {
    [STEP_JAVA_VM_DEATH] = KIND(GRAPH_END),
    [STEP_JAVA_OBJECT_ALLOC] = KIND(GRAPH_ALLOC),
    [STEP_JAVA_OBJECT_ALLOC_AT] = KIND(GRAPH_ALLOC),
    [STEP_JAVA_OBJECT_EXISTING] = KIND(GRAPH_EXISTING),
    [STEP_JAVA_OBJECT_FREE] = KIND(GRAPH_FREE),
    [STEP_JAVA_OBJECT_FREE_UNKNOWN] = KIND(GRAPH_FREE),
    [STEP_JAVA_OBJECT_DEATH] = KIND(GRAPH_DEATH),
    [STEP_JAVA_METHOD_ENTRY] = KIND(GRAPH_ENTRY),
    [STEP_JAVA_METHOD_EXIT] = KIND(GRAPH_EXIT),
    [STEP_JAVA_FRAME_POP] = KIND(GRAPH_EXIT),
    [STEP_JAVA_FIELD_STORE] = KIND(GRAPH_FIELD),
    [STEP_JAVA_ELEMENT_STORE] = KIND(GRAPH_ELEMENT),
    [STEP_JAVA_RANGE_STORE] = KIND(GRAPH_RANGE),
    [STEP_JAVA_CLONE_STORE] = KIND(GRAPH_CLONE),
    [STEP_JAVA_SNAPSHOT] = KIND(GRAPH_SNAPSHOT),
    [STEP_JAVA_ROOT] = KIND(GRAPH_ROOT),
    [STEP_JAVA_FIELD_REFERENCE] = KIND(GRAPH_HAS_FIELD),
    [STEP_JAVA_ELEMENT_REFERENCE] = KIND(GRAPH_HAS_ELEMENT),
    [STEP_JAVA_OTHER_REFERENCE] = KIND(GRAPH_HAS_OTHER),
    [STEP_JAVA_SNAPSHOT_END] = KIND(GRAPH_SNAPSHOT_END),
};

/* Numbers that no dictionary reaches are not known. */
static uint32_t narrow(uint64_t value)
{
    return value < UINT32_MAX ? (uint32_t) value : 0;
}

/* The kind that records of the file's type become; GRAPH_EVENT_KIND_COUNT: none. */
static enum graph_event_kind graph_source_kind(const struct graph_source *source, uint32_t record)
{
    int known = record < source->record_count ? source->records[record] : -1;
    return known >= 0 && known < STEP_JAVA_RECORD_COUNT && kinds[known] != 0
               ? (enum graph_event_kind)(kinds[known] - 1)
               : GRAPH_EVENT_KIND_COUNT;
}

uint64_t graph_source_ns(const struct graph_source *source, uint64_t ticks)
{
    uint64_t ns;
    return __builtin_mul_overflow(ticks, source->resolution_ns, &ns) ? UINT64_MAX : ns;
}

/* ---- records ---- */

#define GET(record, ...)                                                                           \
    {                                                                                              \
        struct step_java_##record out;                                                             \
        if (!step_java_##record##_get(&source->binding, view, &out))                               \
            return false;                                                                          \
        event->time = out.time;                                                                    \
        event->thread_id = narrow(out.thread);                                                     \
        __VA_ARGS__                                                                                \
        return true;                                                                               \
    }

/* Sets what the kind has; the rest is left as it was. */
static bool read_event(const struct graph_source *source, const struct step_record_view *view,
                       struct graph_event *event)
{
    int known = view->record < source->record_count ? source->records[view->record] : -1;
    if (known < 0 || known >= STEP_JAVA_RECORD_COUNT || kinds[known] == 0)
        return false;
    event->kind = (uint8_t) (kinds[known] - 1);
    switch (known) {
    case STEP_JAVA_OBJECT_ALLOC:
    case STEP_JAVA_OBJECT_EXISTING:
        GET(object_alloc, event->object = out.object; event->class_id = narrow(out.class_);
            event->amount = out.size; event->site = 0;)
    case STEP_JAVA_OBJECT_ALLOC_AT:
        GET(object_alloc_at, event->object = out.object; event->class_id = narrow(out.class_);
            event->amount = out.size; event->site = narrow(out.stack);)
    case STEP_JAVA_OBJECT_FREE:
    case STEP_JAVA_OBJECT_FREE_UNKNOWN:
        GET(object_free, event->object = out.object; event->amount = out.time;
            event->number = known == STEP_JAVA_OBJECT_FREE_UNKNOWN;)
    case STEP_JAVA_OBJECT_DEATH:
        GET(object_death, event->object = out.object; event->amount = out.collected;)
    case STEP_JAVA_METHOD_ENTRY:
        GET(method_entry, event->object = out.object; event->number = out.method;)
    case STEP_JAVA_METHOD_EXIT:
    case STEP_JAVA_FRAME_POP:
        GET(method_event, event->number = out.method;)
    case STEP_JAVA_FIELD_STORE:
        GET(field_store, event->object = out.holder; event->target = out.target;
            event->number = out.field;)
    case STEP_JAVA_ELEMENT_STORE:
        GET(element_store, event->object = out.holder; event->target = out.target;
            event->number = out.index;)
    case STEP_JAVA_RANGE_STORE:
        GET(range_store, event->object = out.holder; event->source = out.source;
            event->number = out.index; event->from = out.source_index; event->amount = out.length;)
    case STEP_JAVA_CLONE_STORE:
        GET(clone_store, event->object = out.holder; event->source = out.source;)
    case STEP_JAVA_SNAPSHOT:
        GET(snapshot, event->number = out.number;
            event->amount = out.reason.length == 5 && memcmp(out.reason.data, "start", 5) == 0;)
    case STEP_JAVA_ROOT:
        GET(root, event->target = out.target; event->number = out.kind; event->from = out.owner;
            event->source = out.method;)
    case STEP_JAVA_FIELD_REFERENCE:
        GET(field_reference, event->object = out.holder; event->target = out.target;
            event->number = out.field;)
    case STEP_JAVA_ELEMENT_REFERENCE:
        GET(element_reference, event->object = out.holder; event->target = out.target;
            event->number = out.index;)
    case STEP_JAVA_OTHER_REFERENCE:
        GET(other_reference, event->object = out.holder; event->target = out.target;
            event->number = out.kind;)
    case STEP_JAVA_SNAPSHOT_END:
        GET(snapshot_end, event->number = out.number; event->amount = out.unknown;)
    default:
        GET(event)
    }
}

/* ---- the order ---- */

static const uint8_t *wanted_of(void *user, const struct step_block_info *info)
{
    const struct graph_source *source = user;
    for (size_t i = 0; i < info->type_count; i++)
        if (source->wanted[info->counts[i].record])
            return source->wanted;
    return NULL;
}

static bool take_front(void *user, struct step_records_front *front)
{
    struct graph_source *source = user;
    struct graph_event *event = &source->fronts[front->queue];
    if (!read_event(source, &front->view, event))
        return false;
    front->time = event->time;
    front->rank = front->stream == STEP_LIVE_STREAM_GLOBAL
                      ? (event->kind == GRAPH_END ? RANK_LAST : RANK_GLOBAL)
                  : front->stream == STEP_LIVE_STREAM_FREES ? RANK_FREES
                                                            : RANK_BUFFER;
    return true;
}

static bool is_missing(const struct graph_source *source, uint64_t object)
{
    return object != 0 && !source->knows(source->user, object);
}

static bool must_wait(void *user, const struct step_records_front *front)
{
    const struct graph_source *source = user;
    const struct graph_event *event = &source->fronts[front->queue];
    switch ((enum graph_event_kind) event->kind) {
    case GRAPH_FREE:
    case GRAPH_DEATH:
    case GRAPH_ENTRY:
        return is_missing(source, event->object);
    case GRAPH_RANGE:
    case GRAPH_CLONE:
        return is_missing(source, event->object) || is_missing(source, event->source);
    case GRAPH_FIELD:
    case GRAPH_ELEMENT:
        return is_missing(source, event->object) || is_missing(source, event->target);
    default:
        return false;
    }
}

/* ---- from start to end ---- */

static void count_records(struct graph_source *source)
{
    for (size_t k = 0; k < step_reader_block_count(source->reader); k++) {
        const struct step_block_info *info = step_reader_block_info(source->reader, k);
        if (info->time_max > source->inventory.last_tick)
            source->inventory.last_tick = info->time_max;
        for (size_t i = 0; i < info->type_count; i++) {
            enum graph_event_kind kind = graph_source_kind(source, info->counts[i].record);
            if (kind != GRAPH_EVENT_KIND_COUNT)
                source->inventory.counts[kind] += info->counts[i].count;
        }
    }
}

bool graph_source_has_stores(const struct graph_source *source)
{
    const uint64_t *counts = source->inventory.counts;
    return counts[GRAPH_FIELD] + counts[GRAPH_ELEMENT] + counts[GRAPH_RANGE] + counts[GRAPH_CLONE] >
           0;
}

enum step_status graph_source_init(struct graph_source *source, struct step_reader *reader,
                                   struct step_error *error)
{
    const struct step_definition *definition = step_reader_borrow_definition(reader);
    const char *resolution = step_reader_property(reader, "resolution-ns");
    unsigned long long ns = resolution != NULL ? strtoull(resolution, NULL, 10) : 0;
    *source = (struct graph_source){.reader = reader,
                                    .resolution_ns = ns > 0 ? ns : 1,
                                    .record_count = definition->record_count};
    enum step_status status = step_java_trace_bind(definition, &source->binding, error);
    if (status != STEP_STATUS_OK)
        return status;
    source->records = calloc(definition->record_count + 1, sizeof *source->records);
    source->wanted = calloc(definition->record_count + 1, 1);
    if (source->records == NULL || source->wanted == NULL)
        return no_memory(error);
    bool has_objects = false;
    for (uint32_t i = 0; i < definition->record_count; i++) {
        source->records[i] = step_java_trace_record(&source->binding, i);
        has_objects |= source->records[i] == STEP_JAVA_OBJECT_ALLOC;
    }
    if (!has_objects)
        return step_error_set(error, STEP_STATUS_FORMAT, step_reader_borrow_name(reader),
                              STEP_NO_OFFSET, "no trace of a Java program's objects");
    count_records(source);
    return STEP_STATUS_OK;
}

enum step_status graph_source_start(struct graph_source *source, uint32_t kinds_wanted,
                                    graph_knows knows, const void *user, struct step_error *error)
{
    struct step_records_rules rules = {.user = source,
                                       .wanted = wanted_of,
                                       .front = take_front,
                                       .waits = knows != NULL ? must_wait : NULL};
    source->knows = knows;
    source->user = user;
    for (uint32_t i = 0; i < source->record_count; i++) {
        enum graph_event_kind kind = graph_source_kind(source, i);
        source->wanted[i] =
            kind != GRAPH_EVENT_KIND_COUNT && (kinds_wanted & GRAPH_EVENT_BIT(kind)) != 0;
    }
    step_records_destroy(source->merged);
    free(source->fronts);
    source->merged = NULL;
    source->fronts = NULL;
    enum step_status status =
        step_records_create_ordered(source->reader, &rules, &source->merged, error);
    if (status != STEP_STATUS_OK)
        return status;
    source->fronts = calloc(step_records_queue_count(source->merged) + 1, sizeof *source->fronts);
    return source->fronts != NULL ? STEP_STATUS_OK : no_memory(error);
}

enum step_status graph_source_next(struct graph_source *source, const struct graph_event **event,
                                   struct step_error *error)
{
    const struct step_records_front *front;
    enum step_status status = step_records_next_front(source->merged, &front, error);
    if (status == STEP_STATUS_OK)
        *event = &source->fronts[front->queue];
    return status;
}

void graph_source_reset(struct graph_source *source)
{
    step_records_destroy(source->merged);
    if (source->binding.inner != NULL)
        step_java_trace_unbind(&source->binding);
    free(source->records);
    free(source->wanted);
    free(source->fronts);
    *source = (struct graph_source){0};
}
