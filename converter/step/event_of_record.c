/* SPDX-License-Identifier: Apache-2.0 */
/* Reads records through what stepc made of the definition. */
#include "converter/step/event_of_record.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "converter/base/no_memory.h"

static const struct {
    uint8_t kind;
    uint8_t flags;
} kinds[STEP_JAVA_RECORD_COUNT] = {
    [STEP_JAVA_CLASS] = {EVENT_KIND_COUNT, 0},
    [STEP_JAVA_METHOD] = {EVENT_KIND_COUNT, 0},
    [STEP_JAVA_THREAD] = {EVENT_KIND_COUNT, 0},
    [STEP_JAVA_EVENT] = {EVENT_KIND_COUNT, 0},
    [STEP_JAVA_METHOD_EVENT] = {EVENT_KIND_COUNT, 0},
    [STEP_JAVA_VM_START] = {EVENT_VM_START, 0},
    [STEP_JAVA_VM_INIT] = {EVENT_VM_INIT, 0},
    [STEP_JAVA_VM_DEATH] = {EVENT_VM_DEATH, 0},
    [STEP_JAVA_CLASS_LOAD] = {EVENT_CLASS_LOAD, 0},
    [STEP_JAVA_CLASS_EXISTING] = {EVENT_CLASS_LOAD, TRACE_EXISTING},
    [STEP_JAVA_THREAD_START] = {EVENT_THREAD_BEGIN, 0},
    [STEP_JAVA_THREAD_EXISTING] = {EVENT_THREAD_BEGIN, TRACE_EXISTING},
    [STEP_JAVA_THREAD_END] = {EVENT_THREAD_END, 0},
    [STEP_JAVA_OBJECT_ALLOC] = {EVENT_OBJECT_ALLOC, 0},
    [STEP_JAVA_OBJECT_EXISTING] = {EVENT_OBJECT_ALLOC, TRACE_EXISTING},
    [STEP_JAVA_OBJECT_ALLOC_AT] = {EVENT_OBJECT_ALLOC, 0},
    [STEP_JAVA_FRAME] = {EVENT_KIND_COUNT, 0},
    [STEP_JAVA_OBJECT_FREE] = {EVENT_OBJECT_FREE, 0},
    [STEP_JAVA_OBJECT_FREE_UNKNOWN] = {EVENT_OBJECT_FREE, 0},
    [STEP_JAVA_METHOD_ENTRY] = {EVENT_METHOD_ENTRY, 0},
    [STEP_JAVA_METHOD_EXIT] = {EVENT_METHOD_EXIT, 0},
    [STEP_JAVA_FRAME_POP] = {EVENT_METHOD_POP, 0},
    [STEP_JAVA_NOT_PROBED] = {EVENT_KIND_COUNT, 0},
    [STEP_JAVA_METHOD_COUNT] = {EVENT_KIND_COUNT, 0},
    [STEP_JAVA_FIELD] = {EVENT_KIND_COUNT, 0},
    [STEP_JAVA_REFERENCE_STORE] = {EVENT_KIND_COUNT, 0},
    [STEP_JAVA_FIELD_STORE] = {EVENT_KIND_COUNT, 0},
    [STEP_JAVA_ELEMENT_STORE] = {EVENT_KIND_COUNT, 0},
    [STEP_JAVA_RANGE_STORE] = {EVENT_KIND_COUNT, 0},
    [STEP_JAVA_CLONE_STORE] = {EVENT_KIND_COUNT, 0},
    [STEP_JAVA_SNAPSHOT] = {EVENT_KIND_COUNT, 0},
    [STEP_JAVA_ROOT] = {EVENT_KIND_COUNT, 0},
    [STEP_JAVA_FIELD_REFERENCE] = {EVENT_KIND_COUNT, 0},
    [STEP_JAVA_ELEMENT_REFERENCE] = {EVENT_KIND_COUNT, 0},
    [STEP_JAVA_OTHER_REFERENCE] = {EVENT_KIND_COUNT, 0},
    [STEP_JAVA_SNAPSHOT_END] = {EVENT_KIND_COUNT, 0},
    [STEP_JAVA_OBJECT_DEATH] = {EVENT_OBJECT_FREE, TRACE_DATED},
};

static uint64_t resolution_of(const struct step_reader *reader)
{
    const char *text = step_reader_property(reader, "resolution-ns");
    unsigned long long value = text != NULL ? strtoull(text, NULL, 10) : 0;
    return value > 0 ? value : 1;
}

static bool has_numbers_in_names(const struct step_reader *reader)
{
    const char *numbers = step_reader_property(reader, THREAD_NUMBERS_PROPERTY);
    return numbers != NULL && strcmp(numbers, THREAD_NUMBERS_IN_NAMES) == 0;
}

void stepfile_decoder_refresh(struct stepfile_decoder *decoder)
{
    decoder->resolution_ns = resolution_of(decoder->reader);
    decoder->numbers_in_names = has_numbers_in_names(decoder->reader);
}

enum step_status stepfile_decoder_init(struct stepfile_decoder *decoder, struct step_reader *reader,
                                       struct trace_names *names, struct step_error *error)
{
    const struct step_definition *definition = step_reader_borrow_definition(reader);
    *decoder = (struct stepfile_decoder){.reader = reader,
                                         .record_count = definition->record_count,
                                         .names = names};
    stepfile_decoder_refresh(decoder);
    enum step_status status = step_java_trace_bind(definition, &decoder->binding, error);
    if (status != STEP_STATUS_OK)
        return status;
    decoder->records = calloc(definition->record_count + 1, sizeof *decoder->records);
    if (decoder->records == NULL)
        return no_memory(error);
    for (size_t i = 0; i < definition->record_count; i++)
        decoder->records[i] = step_java_trace_record(&decoder->binding, (uint32_t) i);
    return STEP_STATUS_OK;
}

void stepfile_decoder_reset(struct stepfile_decoder *decoder)
{
    step_java_trace_unbind(&decoder->binding);
    free(decoder->records);
    decoder->records = NULL;
}

enum step_text_kind stepfile_decoder_kind(const struct stepfile_decoder *decoder, uint32_t record)
{
    int known = record < decoder->record_count ? decoder->records[record] : -1;
    return known >= 0 && known < STEP_JAVA_RECORD_COUNT ? kinds[known].kind : EVENT_KIND_COUNT;
}

/* "?17" for what the dictionary does not have. */
static struct step_bytes placeholder(struct stepfile_decoder *decoder, uint32_t id)
{
    char text[16];
    int length = snprintf(text, sizeof text, "?%" PRIu32, id);
    struct step_bytes copy = {NULL, 0};
    trace_names_copy(decoder->names, (struct step_bytes){(const uint8_t *) text, (size_t) length},
                     &copy);
    return copy;
}

static uint32_t narrow(uint64_t id)
{
    return id < UINT32_MAX ? (uint32_t) id : 0;
}

/* Memory is out: the name stays unknown, and whoever reads the events asks for that. */
static uint32_t give_up(struct stepfile_decoder *decoder)
{
    decoder->names->no_memory = true;
    return 0;
}

static uint32_t resolve_class(struct stepfile_decoder *decoder, uint64_t id)
{
    uint32_t class_id = narrow(id);
    struct trace_class *class = id_table_find(&decoder->names->classes, class_id);
    if (class_id == 0 || (class != NULL && class->known))
        return class_id;
    class = id_table_get(&decoder->names->classes, class_id);
    if (class == NULL)
        return give_up(decoder);
    struct step_java_class entry;
    if (step_java_class_look_up(&decoder->binding, decoder->reader, id, &entry)) {
        class->name = entry.name;
        class->loader = entry.loader;
    } else {
        class->name = placeholder(decoder, class_id);
    }
    class->known = true;
    return class_id;
}

static uint32_t resolve_method(struct stepfile_decoder *decoder, uint64_t id)
{
    uint32_t method_id = narrow(id);
    struct trace_method *method = id_table_find(&decoder->names->methods, method_id);
    if (method_id == 0 || (method != NULL && method->known))
        return method_id;
    method = id_table_get(&decoder->names->methods, method_id);
    if (method == NULL)
        return give_up(decoder);
    struct step_java_method entry;
    if (step_java_method_look_up(&decoder->binding, decoder->reader, id, &entry)) {
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

/* The frame and all that it is called from.  A frame is defined after its parent: what the file
 * says else is passed over, so that there are no cycles. */
static uint32_t resolve_frame(struct stepfile_decoder *decoder, uint64_t id)
{
    for (uint32_t at = narrow(id); at != 0;) {
        struct trace_frame *frame = id_table_find(&decoder->names->frames, at);
        if (frame != NULL && frame->known)
            break;
        struct step_java_frame entry;
        if (!step_java_frame_look_up(&decoder->binding, decoder->reader, at, &entry))
            return at == id ? 0 : narrow(id);
        if ((frame = id_table_get(&decoder->names->frames, at)) == NULL)
            return give_up(decoder);
        frame->parent = entry.parent < at ? (uint32_t) entry.parent : 0;
        frame->method_id = resolve_method(decoder, entry.method);
        frame->line = narrow(entry.line);
        frame->bytecode = narrow(entry.bytecode);
        frame->known = true;
        at = frame->parent;
    }
    return narrow(id);
}

/* Takes the "#17" or "#17 " off the name, and gives the number; `otherwise` where there is none. */
static uint64_t take_number(struct step_bytes *name, uint64_t otherwise)
{
    uint64_t number = 0;
    size_t at = 1;
    if (name->length < 2 || name->data[0] != '#')
        return otherwise;
    for (; at < name->length && name->data[at] != ' '; at++) {
        unsigned digit = (unsigned) name->data[at] - '0';
        if (digit > 9 || __builtin_mul_overflow(number, 10u, &number) ||
            __builtin_add_overflow(number, digit, &number))
            return otherwise;
    }
    at += at < name->length;
    *name = (struct step_bytes){name->data + at, name->length - at};
    return number;
}

uint64_t stepfile_thread_number(const struct step_reader *reader, struct step_bytes *name,
                                uint64_t id)
{
    return has_numbers_in_names(reader) ? take_number(name, id) : id;
}

uint64_t stepfile_decoder_thread_number(const struct stepfile_decoder *decoder, uint64_t id)
{
    struct step_java_thread entry;
    if (!decoder->numbers_in_names ||
        !step_java_thread_look_up(&decoder->binding, decoder->reader, id, &entry))
        return id;
    return take_number(&entry.name, id);
}

static uint32_t resolve_thread(struct stepfile_decoder *decoder, uint64_t id)
{
    uint32_t thread_id = narrow(id);
    struct trace_thread *thread = id_table_find(&decoder->names->threads, thread_id);
    if (thread_id == 0 || (thread != NULL && thread->known))
        return thread_id;
    thread = id_table_get(&decoder->names->threads, thread_id);
    if (thread == NULL)
        return give_up(decoder);
    struct step_java_thread entry;
    thread->number = id;
    if (step_java_thread_look_up(&decoder->binding, decoder->reader, id, &entry)) {
        if (decoder->numbers_in_names)
            thread->number = take_number(&entry.name, id);
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
    size_t row = 0;
    while (row < sizeof rows / sizeof rows[0] && rows[row].record != record)
        row++;
    for (uint32_t i = 0; row < sizeof rows / sizeof rows[0] && i < decoder->record_count; i++)
        if (decoder->records[i] == record &&
            step_reader_dictionary_entry(decoder->reader, i, id) != NULL)
            return rows[row].resolve(decoder, id) != 0;
    return false;
}

/* What the macros below name: a record that has but time and thread, and reading it. */
#define GET(record, ...)                                                                           \
    {                                                                                              \
        struct step_java_##record out;                                                             \
        if (!step_java_##record##_get(&decoder->binding, view, &out))                              \
            return false;                                                                          \
        *ticks = put_common(decoder, event, out.time, out.thread);                                 \
        __VA_ARGS__                                                                                \
        return true;                                                                               \
    }

bool stepfile_decoder_event(struct stepfile_decoder *decoder, const struct step_record_view *view,
                            struct trace_event *event, uint64_t *ticks)
{
    int known = view->record < decoder->record_count ? decoder->records[view->record] : -1;
    if (known < 0 || known >= STEP_JAVA_RECORD_COUNT || kinds[known].kind == EVENT_KIND_COUNT)
        return false;
    *event = (struct trace_event){.kind = kinds[known].kind, .flags = kinds[known].flags};
    switch (known) {
    case STEP_JAVA_OBJECT_ALLOC:
    case STEP_JAVA_OBJECT_EXISTING:
        GET(object_alloc, event->class_id = resolve_class(decoder, out.class_);
            event->size = out.size; event->object = out.object;)
    case STEP_JAVA_OBJECT_ALLOC_AT:
        GET(object_alloc_at, event->class_id = resolve_class(decoder, out.class_);
            event->size = out.size; event->object = out.object;
            event->stack_id = resolve_frame(decoder, out.stack);)
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

bool stepfile_decoder_fact(struct stepfile_decoder *decoder, const struct step_record_view *view,
                           struct trace_fact *fact)
{
    struct step_java_not_probed not_probed;
    struct step_java_method_count count;
    uint64_t ticks;
    if (step_java_not_probed_get(&decoder->binding, view, &not_probed)) {
        *fact = (struct trace_fact){.kind = TRACE_NOT_PROBED,
                                    .class_name = not_probed.class_,
                                    .method_name = not_probed.method,
                                    .descriptor = not_probed.descriptor,
                                    .reason = not_probed.reason,
                                    .missing = not_probed.missing};
        ticks = not_probed.time;
    } else if (step_java_method_count_get(&decoder->binding, view, &count)) {
        *fact = (struct trace_fact){.kind = TRACE_METHOD_COUNT,
                                    .method_id = resolve_method(decoder, count.method),
                                    .calls = count.calls,
                                    .exceptions = count.exceptions,
                                    .inclusive_ns = count.inclusive,
                                    .exclusive_ns = count.exclusive};
        ticks = count.time;
    } else {
        return false;
    }
    if (__builtin_mul_overflow(ticks, decoder->resolution_ns, &fact->time_ns))
        fact->time_ns = UINT64_MAX;
    return true;
}
