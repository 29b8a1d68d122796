/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Converts records to graph events and merges them by time; names of a graph's classes, fields and
 * sites.
 *
 * Records of two threads within one tick have no order.  A store in one thread may refer to an
 * object that another allocated in the same tick; replayed in the wrong order, its target would be
 * unknown and the edge lost.  So graph_source_must_wait() holds such a record back until the object
 * is known, as long as the other stream has records of that tick (step_records_rules).
 */
#include "converter/graph/graph_source.h"

#include <stdlib.h>
#include <string.h>

#include "converter/containers/no_memory.h"
#include "converter/files/record_layout.h"
#include "converter/numbers/trace_ticks.h"

uint64_t graph_source_ns(const struct graph_source *source, uint64_t ticks)
{
    return trace_ticks_ns(ticks, source->java.resolution_ns);
}

/* ---- records ---- */

#define GET(record, ...)                                                                           \
    {                                                                                              \
        struct step_java_##record out;                                                             \
        if (!step_java_##record##_get(&source->java.binding, view, &out))                          \
            return false;                                                                          \
        event->time = out.time;                                                                    \
        event->thread_id = java_id(out.thread);                                                    \
        __VA_ARGS__                                                                                \
        return true;                                                                               \
    }

/* Sets the members that the kind uses; leaves the others unchanged. */
static bool read_event(const struct graph_source *source, const struct step_record_view *view,
                       struct graph_event *event)
{
    const struct java_kind *kind = java_kind_of(&source->java, view->record);
    if (kind->graph == GRAPH_EVENT_KIND_COUNT)
        return false;
    event->kind = kind->graph;
    switch (kind->record) {
    case STEP_JAVA_OBJECT_ALLOC:
    case STEP_JAVA_OBJECT_EXISTING:
        GET(object_alloc, event->object = out.object; event->class_id = java_id(out.class_);
            event->amount = out.size; event->site = 0; event->padding = java_padding(out.padding);)
    case STEP_JAVA_OBJECT_ALLOC_AT:
        GET(object_alloc_at, event->object = out.object; event->class_id = java_id(out.class_);
            event->amount = out.size; event->site = java_id(out.stack);
            event->padding = java_padding(out.padding);)
    case STEP_JAVA_OBJECT_SAMPLED:
        GET(object_sampled, event->object = out.object; event->class_id = java_id(out.class_);
            event->amount = out.size; event->site = java_id(out.stack);
            event->padding = java_padding(out.padding);)
    case STEP_JAVA_OBJECT_FREE:
    case STEP_JAVA_OBJECT_FREE_UNKNOWN:
        GET(object_free, event->object = out.object; event->amount = out.time;
            event->number = kind->record == STEP_JAVA_OBJECT_FREE_UNKNOWN;)
    case STEP_JAVA_OBJECT_DEATH:
        GET(object_death, event->object = out.object; event->amount = out.collected;)
    case STEP_JAVA_METHOD_ENTRY:
        GET(method_entry, event->object = out.object; event->number = out.method;)
    case STEP_JAVA_METHOD_EXIT:
    case STEP_JAVA_FRAME_POP:
        GET(method_event, event->number = out.method;
            event->amount = kind->record == STEP_JAVA_FRAME_POP;)
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

/* ---- order ---- */

static const uint8_t *graph_source_wanted_of(void *user, const struct step_block_info *info)
{
    const struct graph_source *source = user;
    return block_has_wanted(info, source->wanted) ? source->wanted : NULL;
}

static bool graph_source_take_front(void *user, struct step_records_front *front)
{
    struct graph_source *source = user;
    struct graph_event *event = &source->fronts[front->queue];
    if (!read_event(source, &front->view, event))
        return false;
    front->time = event->time;
    front->rank = java_rank(java_kind_of(&source->java, front->view.record), front->stream);
    return true;
}

static bool is_missing(const struct graph_source *source, uint64_t object)
{
    return object != 0 && !source->knows(source->user, object);
}

/* Only objects of the same tick are worth waiting for.  If none comes, the merge releases the
 * record, which is then counted as one of an unknown object. */
static bool graph_source_must_wait(void *user, const struct step_records_front *front)
{
    const struct graph_source *source = user;
    const struct graph_event *event = &source->fronts[front->queue];
    unsigned traits = java_kind_of(&source->java, front->view.record)->traits;
    return ((traits & JAVA_WAITS_OBJECT) != 0 && is_missing(source, event->object)) ||
           ((traits & JAVA_WAITS_SOURCE) != 0 && is_missing(source, event->source)) ||
           ((traits & JAVA_WAITS_TARGET) != 0 && is_missing(source, event->target));
}

/* ---- life cycle ---- */

/* The index has the counts of all blocks, so it is known without reading whether a trace has
 * stores. */
static void graph_source_count_records(struct graph_source *source)
{
    for (size_t k = 0; k < step_reader_block_count(source->java.reader); k++) {
        const struct step_block_info *info = step_reader_block_info(source->java.reader, k);
        if (info->time_max > source->inventory.last_tick)
            source->inventory.last_tick = info->time_max;
        for (size_t i = 0; i < info->type_count; i++) {
            uint8_t kind = java_kind_of(&source->java, info->counts[i].record)->graph;
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
    *source = (struct graph_source){0};
    enum step_status status = java_records_init(&source->java, reader, error);
    if (status != STEP_STATUS_OK)
        return status;
    source->wanted = calloc(source->java.count + 1, 1);
    if (source->wanted == NULL)
        return no_memory(error);
    if (java_record_of(&source->java, STEP_JAVA_OBJECT_ALLOC) == STEP_NO_RECORD)
        return step_error_set(error, STEP_STATUS_FORMAT, step_reader_borrow_name(reader),
                              STEP_NO_OFFSET, "no trace of a Java program's objects");
    graph_source_count_records(source);
    return STEP_STATUS_OK;
}

enum step_status graph_source_start(struct graph_source *source, uint32_t kinds_wanted,
                                    graph_knows knows, const void *user, struct step_error *error)
{
    struct step_records_rules rules = {.user = source,
                                       .wanted = graph_source_wanted_of,
                                       .front = graph_source_take_front,
                                       .waits = knows != NULL ? graph_source_must_wait : NULL};
    source->knows = knows;
    source->user = user;
    for (uint32_t i = 0; i < source->java.count; i++) {
        uint8_t kind = java_kind_of(&source->java, i)->graph;
        source->wanted[i] =
            kind != GRAPH_EVENT_KIND_COUNT && (kinds_wanted & GRAPH_EVENT_BIT(kind)) != 0;
    }
    step_records_destroy(source->merged);
    free(source->fronts);
    source->merged = NULL;
    source->fronts = NULL;
    enum step_status status =
        step_records_create_ordered(source->java.reader, &rules, &source->merged, error);
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
    java_records_reset(&source->java);
    free(source->wanted);
    free(source->fronts);
    *source = (struct graph_source){0};
}

static const struct frame_place nowhere;

void keeper_name_class(const struct graph_source *source, uint32_t class_id,
                       struct keeper_name *name)
{
    frame_text((struct step_bytes){NULL, 0}, java_class_name(&source->java, class_id), nowhere,
               name->text, sizeof name->text);
}

void keeper_name_field(const struct graph_source *source, uint32_t field, struct keeper_name *name)
{
    struct step_java_field entry;
    if (java_field(&source->java, field, &entry))
        frame_text(java_class_name(&source->java, entry.class_), entry.name, nowhere, name->text,
                   sizeof name->text);
    else
        strcpy(name->text, "?");
}

static struct step_bytes graph_source_frame_of(const void *frames, uint64_t *id,
                                               char room[FRAME_TEXT])
{
    const struct graph_source *source = frames;
    struct step_java_frame frame;
    struct step_java_method method;
    bool is_known = java_frame(&source->java, *id, &frame);
    *id = is_known ? frame.parent : 0;
    if (!is_known || !java_method(&source->java, frame.method, &method))
        return step_text("?");
    size_t length = frame_text(java_class_name(&source->java, method.class_), method.name,
                               java_place(&source->java, method.class_, &frame), room, FRAME_TEXT);
    return (struct step_bytes){(const uint8_t *) room, length};
}

static void graph_source_put_part(struct step_bytes part, void *user)
{
    struct keeper_name *name = user;
    size_t used = strlen(name->text), room = sizeof name->text - 1 - used;
    size_t length = part.length < room ? part.length : room;
    memcpy(name->text + used, part.data, length);
    name->text[used + length] = '\0';
}

struct stack_text keeper_site_stack(const struct graph_source *source, uint32_t site,
                                    uint64_t depth)
{
    return (struct stack_text){graph_source_frame_of, source, site, depth};
}

void keeper_name_site(const struct graph_source *source, uint32_t site, uint64_t depth,
                      struct keeper_name *name)
{
    strcpy(name->text, site == 0 ? "?" : "");
    if (site != 0)
        stack_text_parts(keeper_site_stack(source, site, depth), graph_source_put_part, name);
}
