/* SPDX-License-Identifier: Apache-2.0 */
/* Reads Meta-TF: Java traces with java.dtd, and heap traces as records. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "converter/containers/no_memory.h"
#include "converter/formats/metatf/metatf_format.h"
#include "converter/formats/metatf/metatf_trace.h"
#include "converter/numbers/trace_ticks.h"
#include "converter/trace/event.h"
#include "converter/trace/names.h"
#include "format/core/grow.h"
#include "format/core/search.h"
#include "steptrace/java_metatf.h"

enum metatf_table { METATF_CLASSES, METATF_METHODS, METATF_THREADS, METATF_FRAMES, METATF_TABLES };

/* Offsets of the entries of a table, ascending. */
struct metatf_places {
    uint64_t *items;
    size_t count;
    size_t capacity;
};

struct metatf_source {
    struct event_source base;
    struct metatf_trace trace;
    struct metatf_places places[METATF_TABLES];
    const char *missing; /* an entry that a record names and no table has; NULL: none */
    uint64_t missing_position;
    struct step_java_metatf_event pending; /* the first event after the properties */
    bool has_pending;
};

/* ---- tables ---- */

/* Returns the new entry of a record in a table, or NULL if memory runs out. */
static void *mtf_source_add_entry(struct metatf_source *source, enum metatf_table table,
                                  struct id_table *entries,
                                  const struct step_java_metatf_event *event)
{
    struct metatf_places *places = &source->places[table];
    if (places->count >= UINT32_MAX ||
        !STEP_MAKE_ROOM(places->items, places->capacity, places->count + 1))
        return NULL;
    places->items[places->count++] = event->position;
    return id_table_get(entries, (uint32_t) places->count);
}

static void miss(struct metatf_source *source, enum metatf_table table, uint64_t position)
{
    static const char *const entries[METATF_TABLES] = {"class", "method", "thread", "frame"};
    source->missing = entries[table];
    source->missing_position = position;
}

/* Sets *id to the number of the entry at `position`, or to 0 for position 0.  Returns false if
 * there is no entry.  Inline because each event needs four lookups. */
static inline bool mtf_source_find(struct metatf_source *source, enum metatf_table table,
                                   uint64_t position, uint32_t *id)
{
    const struct metatf_places *places = &source->places[table];
    *id = 0;
    if (position == 0)
        return true;
    size_t at = step_lower_bound(places->items, places->count, position);
    if (at == places->count || places->items[at] != position) {
        miss(source, table, position);
        return false;
    }
    *id = (uint32_t) at + 1;
    return true;
}

/* ---- tables of records ----
 * Each function adds a record to its table. It returns false if memory runs out, or if an entry
 * that the record names is missing. */

static bool mtf_source_take_class(struct metatf_source *source,
                                  const struct step_java_metatf_event *event)
{
    const struct step_java_metatf_classes_class *in = &event->as.classes_class;
    struct trace_names *names = &source->base.names;
    struct trace_class *class =
        mtf_source_add_entry(source, METATF_CLASSES, &names->classes, event);
    if (class == NULL || !trace_names_copy(names, in->name_data, &class->name))
        return false;
    class->loader = in->loader;
    class->known = true;
    return true;
}

static bool take_method(struct metatf_source *source, const struct step_java_metatf_event *event)
{
    const struct step_java_metatf_methods_method *in = &event->as.methods_method;
    struct trace_names *names = &source->base.names;
    uint32_t class_id;
    if (!mtf_source_find(source, METATF_CLASSES, in->class_, &class_id))
        return false;
    struct trace_method *method =
        mtf_source_add_entry(source, METATF_METHODS, &names->methods, event);
    if (method == NULL || !trace_names_copy(names, in->name_data, &method->name) ||
        !trace_names_copy(names, in->descriptor_data, &method->descriptor))
        return false;
    method->class_id = class_id;
    method->modifiers = in->modifiers;
    method->known = true;
    return true;
}

static bool mtf_source_take_thread(struct metatf_source *source,
                                   const struct step_java_metatf_event *event)
{
    const struct step_java_metatf_threads_thread *in = &event->as.threads_thread;
    struct trace_names *names = &source->base.names;
    struct trace_thread *thread =
        mtf_source_add_entry(source, METATF_THREADS, &names->threads, event);
    if (thread == NULL || !trace_names_copy(names, in->name_data, &thread->name))
        return false;
    thread->number = in->number;
    thread->flags = in->flags;
    thread->known = true;
    return true;
}

static bool take_frame(struct metatf_source *source, const struct step_java_metatf_event *event)
{
    const struct step_java_metatf_frames_frame *in = &event->as.frames_frame;
    uint32_t parent, method;
    if (!mtf_source_find(source, METATF_FRAMES, in->parent, &parent) ||
        !mtf_source_find(source, METATF_METHODS, in->method, &method))
        return false;
    struct trace_frame *frame =
        mtf_source_add_entry(source, METATF_FRAMES, &source->base.names.frames, event);
    if (frame == NULL)
        return false;
    *frame = (struct trace_frame){.parent = parent,
                                  .method_id = method,
                                  .line = (uint32_t) in->line,
                                  .bytecode = (uint32_t) in->bytecode,
                                  .known = true};
    return true;
}

/* ---- event kinds, by kind of record ---- */

static const uint8_t kinds[] = {
    [STEP_JAVA_METATF_EVENTS_VMSTART] = EVENT_VM_START,
    [STEP_JAVA_METATF_EVENTS_VMINIT] = EVENT_VM_INIT,
    [STEP_JAVA_METATF_EVENTS_VMDEATH] = EVENT_VM_DEATH,
    [STEP_JAVA_METATF_EVENTS_CLASSLOAD] = EVENT_CLASS_LOAD,
    [STEP_JAVA_METATF_EVENTS_THREADSTART] = EVENT_THREAD_BEGIN,
    [STEP_JAVA_METATF_EVENTS_THREADEND] = EVENT_THREAD_END,
    [STEP_JAVA_METATF_EVENTS_ALLOC] = EVENT_OBJECT_ALLOC,
    [STEP_JAVA_METATF_EVENTS_FREE] = EVENT_OBJECT_FREE,
    [STEP_JAVA_METATF_EVENTS_ENTER] = EVENT_METHOD_ENTRY,
    [STEP_JAVA_METATF_EVENTS_LEAVE] = EVENT_METHOD_EXIT,
    [STEP_JAVA_METATF_EVENTS_POP] = EVENT_METHOD_POP,
};

/* References of an event, as offsets. */
struct references {
    uint64_t class_place, method_place, frame_place;
};

static struct references mtf_source_take_fields(const struct step_java_metatf_event *in,
                                                struct trace_event *event)
{
    struct references refer = {0, 0, 0};
    switch (in->kind) {
    case STEP_JAVA_METATF_EVENTS_CLASSLOAD:
        refer.class_place = in->as.events_classLoad.class_;
        event->flags = (uint8_t) in->as.events_classLoad.flags & TRACE_EXISTING;
        break;
    case STEP_JAVA_METATF_EVENTS_THREADSTART:
        event->flags = (uint8_t) in->as.events_threadStart.flags & TRACE_EXISTING;
        break;
    case STEP_JAVA_METATF_EVENTS_ALLOC:
        refer.class_place = in->as.events_alloc.class_;
        refer.frame_place = in->as.events_alloc.frame;
        event->size = in->as.events_alloc.size;
        event->object = in->as.events_alloc.object;
        event->flags = (uint8_t) in->as.events_alloc.flags & TRACE_EXISTING;
        break;
    case STEP_JAVA_METATF_EVENTS_FREE:
        refer.class_place = in->as.events_free.class_;
        event->object = in->as.events_free.object;
        break;
    case STEP_JAVA_METATF_EVENTS_ENTER:
        refer.method_place = in->as.events_enter.method;
        event->object = in->as.events_enter.object;
        break;
    case STEP_JAVA_METATF_EVENTS_LEAVE:
        refer.method_place = in->as.events_leave.method;
        break;
    case STEP_JAVA_METATF_EVENTS_POP:
        refer.method_place = in->as.events_pop.method;
        break;
    default:
        break;
    }
    return refer;
}

/* ---- records ---- */

static char *mtf_source_text_of(struct step_bytes bytes)
{
    char *text = malloc(bytes.length + 1);
    if (text != NULL) {
        if (bytes.length > 0)
            memcpy(text, bytes.data, bytes.length);
        text[bytes.length] = '\0';
    }
    return text;
}

#define PROPERTIES_MAX 4096u

static enum step_status take_property(struct metatf_source *source,
                                      const struct step_java_metatf_event *event,
                                      struct step_error *error)
{
    const struct step_java_metatf_properties_property *in = &event->as.properties_property;
    struct trace_about *about = &source->base.about;
    struct trace_property *grown =
        about->property_count < PROPERTIES_MAX
            ? realloc(about->properties, (about->property_count + 1) * sizeof *grown)
            : NULL;
    if (grown == NULL)
        return no_memory(error);
    about->properties = grown;
    struct trace_property *property = &grown[about->property_count++];
    *property = (struct trace_property){trace_text_of(mtf_source_text_of(in->key_data)),
                                        trace_text_of(mtf_source_text_of(in->value_data))};
    if (!trace_text_is_there(property->key) || !trace_text_is_there(property->value))
        return no_memory(error);
    if (about->resolution_ns == 0 && trace_text_is(property->key, "resolution-ns"))
        about->resolution_ns = trace_number(property->value.unshown, 0);
    return STEP_STATUS_OK;
}

/* Reports a missing entry that the current record names or, if there is none, lack of memory. */
static enum step_status mtf_source_refuse(const struct metatf_source *source,
                                          struct step_error *error)
{
    if (source->missing == NULL)
        return no_memory(error);
    return step_error_set(error, STEP_STATUS_CORRUPT, source->base.path,
                          metatf_reader_offset(source->trace.reader),
                          "record %" PRIu64 ": there is no %s at offset %" PRIu64,
                          metatf_reader_record_number(source->trace.reader), source->missing,
                          source->missing_position);
}

/* Reads up to the next event, and adds table entries on the way. */
static enum step_status next_event(struct metatf_source *source,
                                   struct step_java_metatf_event *event, struct step_error *error)
{
    for (;;) {
        bool is_taken = true;
        enum step_status status =
            step_java_metatf_get_next_event(source->trace.reader, event, error);
        if (status != STEP_STATUS_OK)
            return status;
        switch (event->kind) {
        case STEP_JAVA_METATF_CLASSES_CLASS:
            is_taken = mtf_source_take_class(source, event);
            break;
        case STEP_JAVA_METATF_METHODS_METHOD:
            is_taken = take_method(source, event);
            break;
        case STEP_JAVA_METATF_THREADS_THREAD:
            is_taken = mtf_source_take_thread(source, event);
            break;
        case STEP_JAVA_METATF_FRAMES_FRAME:
            is_taken = take_frame(source, event);
            break;
        case STEP_JAVA_METATF_PROPERTIES_PROPERTY:
            status = take_property(source, event, error);
            break;
        case STEP_JAVA_METATF_COMMENT:
            break;
        default:
            return STEP_STATUS_OK;
        }
        if (!is_taken)
            return mtf_source_refuse(source, error);
        if (status != STEP_STATUS_OK)
            return status;
    }
}

static enum step_status mtf_source_take_event(struct metatf_source *source,
                                              const struct step_java_metatf_event *in,
                                              struct trace_event *event, struct step_error *error)
{
    /* time and thread are the first members of each event's struct */
    const struct step_java_metatf_events_vmStart *common = &in->as.events_vmStart;
    *event = (struct trace_event){.kind = kinds[in->kind], .time_ns = common->time};
    struct references refer = mtf_source_take_fields(in, event);
    if (!mtf_source_find(source, METATF_THREADS, common->thread, &event->thread_id) ||
        !mtf_source_find(source, METATF_CLASSES, refer.class_place, &event->class_id) ||
        !mtf_source_find(source, METATF_METHODS, refer.method_place, &event->method_id) ||
        !mtf_source_find(source, METATF_FRAMES, refer.frame_place, &event->stack_id))
        return mtf_source_refuse(source, error);
    return event_source_follow(&source->base, event) ? STEP_STATUS_OK : no_memory(error);
}

static bool mtf_source_is_damage(enum step_status status)
{
    return status == STEP_STATUS_CORRUPT || status == STEP_STATUS_CUT ||
           status == STEP_STATUS_LIMIT || status == STEP_STATUS_UNSUPPORTED;
}

static enum step_status read_one(struct metatf_source *source, struct trace_event *event,
                                 struct step_error *error)
{
    struct step_java_metatf_event in;
    struct step_error local = {.offset = STEP_NO_OFFSET};
    enum step_status status = STEP_STATUS_OK;
    if (source->base.about.is_stopped)
        return STEP_STATUS_END;
    if (source->has_pending) {
        in = source->pending;
        source->has_pending = false;
    } else {
        status = next_event(source, &in, &local);
    }
    if (status == STEP_STATUS_OK)
        status = mtf_source_take_event(source, &in, event, &local);
    if (mtf_source_is_damage(status)) {
        trace_stop_at_damage(&source->base.about, &local);
        return STEP_STATUS_END;
    }
    if (status != STEP_STATUS_OK && status != STEP_STATUS_END && error != NULL)
        *error = local;
    return status;
}

static enum step_status mtf_source_read_events(struct event_source *base,
                                               struct trace_event *events, size_t capacity,
                                               size_t *count, struct step_error *error)
{
    struct metatf_source *source = (struct metatf_source *) base;
    size_t filled = 0;
    enum step_status status = STEP_STATUS_OK;
    while (filled < capacity && status == STEP_STATUS_OK) {
        status = read_one(source, &events[filled], error);
        if (status == STEP_STATUS_OK)
            filled += event_source_takes(base, &events[filled]);
    }
    *count = filled;
    return status == STEP_STATUS_END && filled > 0 ? STEP_STATUS_OK : status;
}

/* ---- summary ---- */

static double mtf_source_progress(struct event_source *base)
{
    struct metatf_source *source = (struct metatf_source *) base;
    return metatf_trace_progress(&source->trace);
}

static void mtf_source_destroy(struct event_source *base)
{
    struct metatf_source *source = (struct metatf_source *) base;
    metatf_trace_reset(&source->trace);
    for (unsigned i = 0; i < METATF_TABLES; i++)
        free(source->places[i].items);
    for (size_t i = 0; i < base->about.property_count; i++) {
        free((void *) (uintptr_t) base->about.properties[i].key.unshown);
        free((void *) (uintptr_t) base->about.properties[i].value.unshown);
    }
    free(base->about.properties);
    event_source_reset(base);
    free(source);
}

static const struct event_source_operations operations = {
    .read = mtf_source_read_events,
    .progress = mtf_source_progress,
    .destroy = mtf_source_destroy,
};

/* ---- opening ---- */

/* Reads up to the first event, so that the properties are known. */
static enum step_status mtf_source_begin(struct metatf_source *source, struct step_error *error)
{
    struct step_error local = {.offset = STEP_NO_OFFSET};
    enum step_status status = next_event(source, &source->pending, &local);
    source->has_pending = status == STEP_STATUS_OK;
    if (mtf_source_is_damage(status))
        trace_stop_at_damage(&source->base.about, &local);
    else if (status != STEP_STATUS_OK && status != STEP_STATUS_END) {
        if (error != NULL)
            *error = local;
        return status;
    }
    return STEP_STATUS_OK;
}

/* Opens a trace with another DTD than Java's: HATF's, or one that only verbs that read records
 * support. */
static enum step_status open_other(struct metatf_source *source, const char *dtd_path,
                                   struct opened_trace *out, struct step_error *error)
{
    enum step_status status =
        metatf_alloc_source_create(source->base.path, dtd_path, &out->allocs, error);
    if (status != STEP_STATUS_UNSUPPORTED) {
        mtf_source_destroy(&source->base);
        return status;
    }
    source->base.content = TRACE_OF_METATF_RECORDS;
    out->events = &source->base;
    return STEP_STATUS_OK;
}

enum step_status metatf_source_create(const char *path, const struct event_selection *selected,
                                      struct opened_trace *out, struct step_error *error)
{
    struct metatf_source *source = calloc(1, sizeof *source);
    if (source == NULL)
        return no_memory(error);
    enum step_status status = metatf_trace_open(&source->trace, path, selected->dtd_path, error);
    event_source_init(&source->base, &operations, path, selected);
    source->base.about.format = "mtf";
    source->base.about.file_bytes = source->trace.file_bytes;
    if (status == STEP_STATUS_OK &&
        metatf_reader_check(source->trace.reader, &step_java_metatf_dtd, NULL) != STEP_STATUS_OK)
        return open_other(source, selected->dtd_path, out, error);
    if (status == STEP_STATUS_OK)
        status = mtf_source_begin(source, error);
    if (status == STEP_STATUS_OK)
        out->events = &source->base;
    else
        mtf_source_destroy(&source->base);
    return status;
}
