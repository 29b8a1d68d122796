/* SPDX-License-Identifier: Apache-2.0 */
/* Decodes records with the bindings that stepc generated from the definition. */
#include "converter/step/event_of_record.h"

#include <inttypes.h>
#include <stdio.h>

#include "converter/numbers/trace_ticks.h"

/* Returns the name "?17" for an id that the dictionary does not contain. */
static struct step_bytes placeholder(struct stepfile_decoder *decoder, uint32_t id)
{
    char text[16];
    int length = snprintf(text, sizeof text, "?%" PRIu32, id);
    struct step_bytes copy = {NULL, 0};
    trace_names_copy(decoder->names, (struct step_bytes){(const uint8_t *) text, (size_t) length},
                     &copy);
    return copy;
}

/* Handles memory exhaustion: the name stays unknown, and readers of events check the flag. */
static uint32_t event_of_record_give_up(struct stepfile_decoder *decoder)
{
    decoder->names->no_memory = true;
    return 0;
}

static uint32_t resolve_class(struct stepfile_decoder *decoder, uint64_t id)
{
    uint32_t class_id = java_id(id);
    struct trace_class *class = id_table_find(&decoder->names->classes, class_id);
    if (class_id == 0 || (class != NULL && class->known))
        return class_id;
    class = id_table_get(&decoder->names->classes, class_id);
    if (class == NULL)
        return event_of_record_give_up(decoder);
    struct step_java_class entry;
    if (java_class(&decoder->java, id, &entry)) {
        class->name = entry.name;
        class->loader = entry.loader;
        if (!java_sources_update(&decoder->java))
            return event_of_record_give_up(decoder);
        const struct java_source *source = java_source(&decoder->java, id);
        class->file = source->file;
        class->map_text = source->map_text;
        class->map = source->map;
    } else {
        class->name = placeholder(decoder, class_id);
    }
    class->known = true;
    return class_id;
}

static uint32_t resolve_method(struct stepfile_decoder *decoder, uint64_t id)
{
    uint32_t method_id = java_id(id);
    struct trace_method *method = id_table_find(&decoder->names->methods, method_id);
    if (method_id == 0 || (method != NULL && method->known))
        return method_id;
    method = id_table_get(&decoder->names->methods, method_id);
    if (method == NULL)
        return event_of_record_give_up(decoder);
    struct step_java_method entry;
    if (java_method(&decoder->java, id, &entry)) {
        method->class_id = resolve_class(decoder, entry.class_);
        method->name = entry.name;
        method->descriptor = entry.descriptor;
        method->modifiers = entry.modifiers;
    } else {
        method->name = placeholder(decoder, method_id);
    }
    method->known = true;
    return method_id;
}

/* Adds the frame and its callers. */
static uint32_t resolve_frame(struct stepfile_decoder *decoder, uint64_t id)
{
    if (java_id(id) >= TRACE_DERIVED_FRAME)
        return 0; /* no file has so many */
    for (uint32_t at = java_id(id); at != 0;) {
        struct trace_frame *frame = id_table_find(&decoder->names->frames, at);
        if (frame != NULL && frame->known)
            break;
        struct step_java_frame entry;
        if (!java_frame(&decoder->java, at, &entry))
            return at == id ? 0 : java_id(id);
        if ((frame = id_table_get(&decoder->names->frames, at)) == NULL)
            return event_of_record_give_up(decoder);
        frame->parent = (uint32_t) entry.parent;
        frame->method_id = resolve_method(decoder, entry.method);
        frame->line = java_id(entry.line);
        frame->bytecode = java_id(entry.bytecode);
        frame->known = true;
        at = frame->parent;
    }
    return java_id(id);
}

static uint32_t resolve_thread(struct stepfile_decoder *decoder, uint64_t id)
{
    uint32_t thread_id = java_id(id);
    struct trace_thread *thread = id_table_find(&decoder->names->threads, thread_id);
    if (thread_id == 0 || (thread != NULL && thread->known))
        return thread_id;
    thread = id_table_get(&decoder->names->threads, thread_id);
    if (thread == NULL)
        return event_of_record_give_up(decoder);
    struct step_java_thread entry;
    if (java_thread(&decoder->java, id, &entry, &thread->number)) {
        thread->name = entry.name;
        thread->flags = entry.flags;
    }
    thread->known = true;
    return thread_id;
}

static uint64_t put_common(struct stepfile_decoder *decoder, struct trace_event *event,
                           uint64_t time, uint64_t thread)
{
    event->thread_id = resolve_thread(decoder, thread);
    return time;
}

bool stepfile_decoder_name(struct stepfile_decoder *decoder, int record, uint64_t id)
{
    static const struct {
        int record;
        uint32_t (*resolve)(struct stepfile_decoder *, uint64_t);
    } rows[] = {{STEP_JAVA_CLASS, resolve_class},
                {STEP_JAVA_METHOD, resolve_method},
                {STEP_JAVA_THREAD, resolve_thread},
                {STEP_JAVA_FRAME, resolve_frame}};
    uint32_t of = java_record_of(&decoder->java, record);
    if (of == STEP_NO_RECORD || step_reader_dictionary_entry(decoder->java.reader, of, id) == NULL)
        return false;
    size_t row = 0;
    while (rows[row].record != record)
        row++;
    return rows[row].resolve(decoder, id) != 0;
}

/* Decodes a record into `out`, sets the common members, and returns true. */
#define GET(record, ...)                                                                           \
    {                                                                                              \
        struct step_java_##record out;                                                             \
        if (!step_java_##record##_get(&decoder->java.binding, view, &out))                         \
            return false;                                                                          \
        *ticks = put_common(decoder, event, out.time, out.thread);                                 \
        __VA_ARGS__                                                                                \
        return true;                                                                               \
    }

bool stepfile_decoder_event(struct stepfile_decoder *decoder, const struct step_record_view *view,
                            struct trace_event *event, uint64_t *ticks)
{
    const struct java_kind *kind = java_kind_of(&decoder->java, view->record);
    if (kind->event == EVENT_KIND_COUNT)
        return false;
    *event = (struct trace_event){.kind = kind->event, .flags = kind->flags};
    switch (kind->record) {
    case STEP_JAVA_OBJECT_ALLOC:
    case STEP_JAVA_OBJECT_EXISTING:
        GET(object_alloc, event->class_id = resolve_class(decoder, out.class_);
            event->size = out.size; event->object = out.object;
            event->padding = java_padding(out.padding);)
    case STEP_JAVA_OBJECT_ALLOC_AT:
        GET(object_alloc_at, event->class_id = resolve_class(decoder, out.class_);
            event->size = out.size; event->object = out.object;
            event->padding = java_padding(out.padding);
            event->stack_id = resolve_frame(decoder, out.stack);)
    case STEP_JAVA_OBJECT_SAMPLED:
        GET(object_sampled, event->class_id = resolve_class(decoder, out.class_);
            event->size = out.size; event->object = out.object;
            event->stack_id = resolve_frame(decoder, out.stack);
            event->drawn_bytes = java_interval(out.interval);)
    case STEP_JAVA_OBJECT_FREE:
        GET(object_free, event->object = out.object;)
    case STEP_JAVA_OBJECT_DEATH:
        GET(object_death, event->object = out.object; event->collected_ns = out.collected;
            event->flags |= out.how == 0   ? 0
                            : out.how == 1 ? TRACE_BOUND
                                           : TRACE_BY_COLLECTION;)
    case STEP_JAVA_OBJECT_FREE_UNKNOWN:
        GET(object_free_unknown, event->object = out.object;
            event->class_id = resolve_class(decoder, out.class_);)
    case STEP_JAVA_METHOD_ENTRY:
        GET(method_entry, event->object = out.object;
            event->method_id = resolve_method(decoder, out.method);)
    case STEP_JAVA_METHOD_EXIT:
    case STEP_JAVA_FRAME_POP:
        GET(method_event, event->method_id = resolve_method(decoder, out.method);)
    case STEP_JAVA_CLASS_LOAD:
    case STEP_JAVA_CLASS_EXISTING:
        GET(class_load, event->class_id = resolve_class(decoder, out.class_);)
    default:
        GET(event)
    }
}

/* ---- runs ---- */

/* The slots of the records that are taken by runs, in the order of format/definitions/java.step. */
enum {
    RUN_TIME,
    RUN_THREAD,
    RUN_FREED_OBJECT,
    RUN_CLASS = RUN_FREED_OBJECT,
    RUN_SIZE,
    RUN_OBJECT,
    RUN_PADDING,
    RUN_ALLOC_SLOTS,
    RUN_STACK = RUN_ALLOC_SLOTS,
    RUN_ALLOC_AT_SLOTS
};
_Static_assert((int) STEP_JAVA_OBJECT_ALLOC_SLOT_COUNT == RUN_ALLOC_SLOTS &&
                   (int) STEP_JAVA_OBJECT_ALLOC_AT_SLOT_COUNT == RUN_ALLOC_AT_SLOTS &&
                   (int) STEP_JAVA_OBJECT_FREE_SLOT_COUNT == RUN_FREED_OBJECT + 1,
               "runs have the slots of these records");

bool stepfile_decoder_takes_runs(const struct stepfile_decoder *decoder, uint32_t record)
{
    int known = java_kind_of(&decoder->java, record)->record;
    const struct step_bound_record *bound = &decoder->java.binding.inner->records[record];
    return bound->same && bound->record == (uint32_t) known &&
           step_record_find_property(decoder->java.binding.inner->file, record, "time") ==
               RUN_TIME &&
           (known == STEP_JAVA_OBJECT_ALLOC || known == STEP_JAVA_OBJECT_ALLOC_AT ||
            known == STEP_JAVA_OBJECT_FREE);
}

static inline uint64_t run_value(const struct step_records_run *run, unsigned slot, size_t i)
{
    return run->slots[slot].values[i * run->slots[slot].step];
}

/* Mostly the id was looked up before, and needs no look at the names. */
static inline uint32_t run_id(struct stepfile_decoder *decoder, uint32_t *last, uint64_t id,
                              uint32_t (*resolve)(struct stepfile_decoder *, uint64_t))
{
    uint32_t *known = &last[id % STEPFILE_LAST_IDS];
    if (id != *known) {
        uint32_t resolved = resolve(decoder, id);
        if (resolved != id)
            return resolved;
        *known = resolved;
    }
    return *known;
}

static void run_put_thread(struct stepfile_decoder *decoder, const struct step_records_run *run,
                           size_t i, struct trace_event *event)
{
    uint64_t id = run_value(run, RUN_THREAD, i);
    if (id != decoder->thread)
        decoder->thread = resolve_thread(decoder, id);
    event->thread_id = (uint32_t) decoder->thread;
}

void stepfile_decoder_run(struct stepfile_decoder *decoder, const struct step_records_run *run,
                          struct trace_event *events)
{
    const struct java_kind *kind = java_kind_of(&decoder->java, run->record);
    const uint64_t resolution_ns = decoder->java.resolution_ns;
    const bool has_stack = kind->record == STEP_JAVA_OBJECT_ALLOC_AT;
    const bool is_free = kind->record == STEP_JAVA_OBJECT_FREE;
    for (size_t i = 0; i < run->count; i++) {
        struct trace_event *event = &events[i];
        *event = (struct trace_event){
            .time_ns = trace_ticks_ns(run_value(run, RUN_TIME, i), resolution_ns),
            .object = run_value(run, is_free ? RUN_FREED_OBJECT : RUN_OBJECT, i),
            .kind = kind->event,
            .flags = kind->flags};
        run_put_thread(decoder, run, i, event);
        if (is_free)
            continue;
        event->size = run_value(run, RUN_SIZE, i);
        event->padding = java_padding(run_value(run, RUN_PADDING, i));
        event->class_id =
            run_id(decoder, decoder->classes, run_value(run, RUN_CLASS, i), resolve_class);
        if (has_stack)
            event->stack_id =
                run_id(decoder, decoder->frames, run_value(run, RUN_STACK, i), resolve_frame);
    }
}

bool stepfile_decoder_fact(struct stepfile_decoder *decoder, const struct step_record_view *view,
                           struct trace_fact *fact)
{
    struct step_java_not_probed not_probed;
    struct step_java_method_count count;
    struct step_java_object_given_up given_up;
    struct step_java_eden_class eden_class;
    struct step_java_eden_survived survived;
    struct step_java_eden_age age;
    struct step_java_eden_walk eden_walk;
    uint64_t ticks;
    if (step_java_not_probed_get(&decoder->java.binding, view, &not_probed)) {
        *fact = (struct trace_fact){.kind = TRACE_NOT_PROBED,
                                    .class_name = not_probed.class_,
                                    .method_name = not_probed.method,
                                    .descriptor = not_probed.descriptor,
                                    .reason = not_probed.reason,
                                    .missing = not_probed.missing};
        ticks = not_probed.time;
    } else if (step_java_method_count_get(&decoder->java.binding, view, &count)) {
        *fact = (struct trace_fact){.kind = TRACE_METHOD_COUNT,
                                    .method_id = resolve_method(decoder, count.method),
                                    .calls = count.calls,
                                    .exceptions = count.exceptions,
                                    .inclusive_ns = count.inclusive,
                                    .exclusive_ns = count.exclusive};
        ticks = count.time;
    } else if (step_java_object_given_up_get(&decoder->java.binding, view, &given_up)) {
        *fact = (struct trace_fact){
            .kind = TRACE_GIVEN_UP, .object = given_up.object, .threshold = given_up.threshold};
        ticks = given_up.time;
    } else if (step_java_eden_survived_get(&decoder->java.binding, view, &survived)) {
        *fact = (struct trace_fact){.kind = TRACE_EDEN_CLASS,
                                    .collection = survived.collection,
                                    .class_id = resolve_class(decoder, survived.class_),
                                    .is_of_class = survived.class_ != 0,
                                    .objects = survived.objects,
                                    .bytes = survived.bytes,
                                    .has_survivors = true,
                                    .survived = survived.survived,
                                    .survived_bytes = survived.survived_bytes};
        ticks = survived.time;
    } else if (step_java_eden_age_get(&decoder->java.binding, view, &age)) {
        *fact = (struct trace_fact){.kind = TRACE_EDEN_AGE,
                                    .collection = age.collection,
                                    .class_id = resolve_class(decoder, age.class_),
                                    .is_of_class = age.class_ != 0,
                                    .age = age.age,
                                    .objects = age.objects,
                                    .bytes = age.bytes};
        ticks = age.time;
    } else if (step_java_eden_class_get(&decoder->java.binding, view, &eden_class)) {
        *fact = (struct trace_fact){.kind = TRACE_EDEN_CLASS,
                                    .collection = eden_class.collection,
                                    .class_id = resolve_class(decoder, eden_class.class_),
                                    .is_of_class = eden_class.class_ != 0,
                                    .objects = eden_class.objects,
                                    .bytes = eden_class.bytes};
        ticks = eden_class.time;
    } else if (step_java_eden_walk_get(&decoder->java.binding, view, &eden_walk)) {
        *fact = (struct trace_fact){.kind = TRACE_EDEN_WALK,
                                    .collection = eden_walk.collection,
                                    .how = eden_walk.how,
                                    .counted = eden_walk.counted,
                                    .bytes = eden_walk.known,
                                    .fillers = eden_walk.fillers,
                                    .took_ns = eden_walk.took};
        ticks = eden_walk.time;
    } else {
        return false;
    }
    fact->time_ns = trace_ticks_ns(ticks, decoder->java.resolution_ns);
    return true;
}
