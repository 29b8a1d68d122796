/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes Meta-TF: events with java.dtd, HATF's records with hatf.dtd or hatf-split.dtd.  Classes,
 * methods, threads and frames are in separate sections, and records refer to them by their offsets
 * there.
 */
#include <stdlib.h>
#include <string.h>

#include "converter/cli/arguments.h"
#include "converter/containers/no_memory.h"
#include "converter/files/trace_gap.h"
#include "converter/formats/metatf/metatf_format.h"
#include "converter/formats/metatf/metatf_trace.h"
#include "converter/trace/copy_loss.h"
#include "converter/trace/trace_sink.h"
#include "steptrace/hatf_metatf.h"
#include "steptrace/hatf_split_metatf.h"
#include "steptrace/java_metatf.h"

/* An index, or a single run, is laid out as in the paper: ints of 4 bytes, a header for each
 * section, no compression, and the DTD in a separate file. */
void metatf_layout_options(struct metatf_writer_options *how,
                           const struct format_settings *settings)
{
    static const enum metatf_layout layouts[] = {[METATF_BY_SEGMENTS] = METATF_SEGMENTS,
                                                 [METATF_BY_INDEX] = METATF_INDEX,
                                                 [METATF_BY_RECORDS] = METATF_RECORDS};
    const struct metatf_look *look = format_settings_get(settings, &metatf_options);
    metatf_writer_options_init(how);
    how->layout = layouts[look->layout];
    bool is_ours = how->layout == METATF_SEGMENTS;
    how->wide = look->bits != METATF_32_BITS;
    how->short_ints = how->wide && !is_ours;
    if (look->order != METATF_OWN_ORDER)
        how->big_endian = look->order == METATF_BIG_ENDIAN;
    how->embed_dtd = is_ours;
    how->compression =
        look->is_unpacked || !is_ours ? STEP_COMPRESSION_NONE : STEP_COMPRESSION_ZSTD;
    how->level = format_settings_level(settings);
    if (how->layout == METATF_INDEX)
        how->segment_bytes = SIZE_MAX / 8;
}

static enum step_status create_writer(const struct format_output *to, const struct metatf_dtd *dtd,
                                      const char *dtd_name, struct metatf_writer **out,
                                      struct step_error *error)
{
    struct metatf_writer_options how;
    metatf_layout_options(&how, to->settings);
    how.dtd = dtd;
    how.dtd_name = dtd_name;
    how.output = output_file_as_output(to->file);
    return metatf_writer_create(&how, out, error);
}

/* ---- events ---- */

struct metatf_sink {
    struct trace_sink base;
    const struct trace_names *names; /* borrowed */
    struct metatf_writer *writer;
    bool is_part;              /* events are filtered: frees include their class */
    struct id_table places[4]; /* offsets in the sections, by number of the names; 0: not written */
    struct frame_chain chain;
    enum step_status status;
    struct step_error error;
};

enum { CLASSES, METHODS, THREADS, FRAMES, TABLES };

static void put_java(struct metatf_sink *sink, const struct step_java_metatf_event *event)
{
    if (sink->status == STEP_STATUS_OK)
        sink->status = step_java_metatf_put_event(sink->writer, event, &sink->error);
}

/* Returns the offset's slot; *slot is 0 until the entry is written. */
static uint64_t *slot_of(struct metatf_sink *sink, unsigned table, uint32_t id)
{
    uint64_t *slot = id_table_get(&sink->places[table], id);
    if (slot == NULL && sink->status == STEP_STATUS_OK)
        sink->status = no_memory(&sink->error);
    return slot;
}

static uint64_t write_entry(struct metatf_sink *sink, uint64_t *slot,
                            const struct step_java_metatf_event *entry)
{
    put_java(sink, entry);
    return *slot = metatf_writer_position(sink->writer);
}

static uint64_t class_place(struct metatf_sink *sink, uint32_t id)
{
    uint64_t *slot = id != 0 ? slot_of(sink, CLASSES, id) : NULL;
    if (slot == NULL || *slot != 0)
        return slot != NULL ? *slot : 0;
    const struct trace_class *class = trace_class_of(sink->names, id);
    struct step_java_metatf_event event = {.kind = STEP_JAVA_METATF_CLASSES_CLASS};
    event.as.classes_class.loader = class->loader;
    event.as.classes_class.name_data = class->name;
    return write_entry(sink, slot, &event);
}

static uint64_t method_place(struct metatf_sink *sink, uint32_t id)
{
    uint64_t *slot = id != 0 ? slot_of(sink, METHODS, id) : NULL;
    if (slot == NULL || *slot != 0)
        return slot != NULL ? *slot : 0;
    const struct trace_method *method = trace_method_of(sink->names, id);
    struct step_java_metatf_event event = {.kind = STEP_JAVA_METATF_METHODS_METHOD};
    event.as.methods_method.class_ = class_place(sink, method->class_id);
    event.as.methods_method.modifiers = method->modifiers;
    event.as.methods_method.name_data = method->name;
    event.as.methods_method.descriptor_data = method->descriptor;
    return write_entry(sink, slot, &event);
}

static uint64_t thread_place(struct metatf_sink *sink, uint32_t id)
{
    uint64_t *slot = id != 0 ? slot_of(sink, THREADS, id) : NULL;
    if (slot == NULL || *slot != 0)
        return slot != NULL ? *slot : 0;
    const struct trace_thread *thread = trace_thread_of(sink->names, id);
    struct step_java_metatf_event event = {.kind = STEP_JAVA_METATF_THREADS_THREAD};
    event.as.threads_thread.number = thread->number;
    event.as.threads_thread.flags = thread->flags;
    event.as.threads_thread.name_data = thread->name;
    return write_entry(sink, slot, &event);
}

/* Callers come first. */
static uint64_t frame_place(struct metatf_sink *sink, uint32_t id)
{
    struct frame_chain *chain = &sink->chain;
    if (!frame_chain_find(chain, sink->names, &sink->places[FRAMES], id))
        sink->status = no_memory(&sink->error);
    while (chain->count > 0 && sink->status == STEP_STATUS_OK) {
        uint32_t at = chain->ids[--chain->count];
        const struct trace_frame *frame = trace_frame_of(sink->names, at);
        const uint64_t *parent = id_table_find(&sink->places[FRAMES], frame->parent);
        struct step_java_metatf_event event = {.kind = STEP_JAVA_METATF_FRAMES_FRAME};
        event.as.frames_frame.parent = parent != NULL ? *parent : 0;
        event.as.frames_frame.method = method_place(sink, frame->method_id);
        event.as.frames_frame.line = frame->line;
        event.as.frames_frame.bytecode = frame->bytecode;
        uint64_t *slot = slot_of(sink, FRAMES, at);
        if (slot != NULL)
            write_entry(sink, slot, &event);
    }
    const uint64_t *place = id_table_find(&sink->places[FRAMES], id);
    return place != NULL && sink->status == STEP_STATUS_OK ? *place : 0;
}

static void mtf_sink_put_object(struct metatf_sink *sink, const struct trace_event *event,
                                struct step_java_metatf_event *out)
{
    if (event->kind == EVENT_OBJECT_ALLOC) {
        out->kind = STEP_JAVA_METATF_EVENTS_ALLOC;
        out->as.events_alloc.class_ = class_place(sink, event->class_id);
        out->as.events_alloc.size = event->size;
        out->as.events_alloc.object = event->object;
        out->as.events_alloc.flags = event->flags & TRACE_EXISTING;
        out->as.events_alloc.frame = frame_place(sink, trace_recorded_stack(event));
        return;
    }
    /* readers know the class from the allocation, if that is present and has the same class */
    bool is_known = !sink->is_part && (event->flags & TRACE_BORN_CLASS) != 0;
    out->kind = STEP_JAVA_METATF_EVENTS_FREE;
    out->as.events_free.object = event->object;
    out->as.events_free.class_ = is_known ? 0 : class_place(sink, event->class_id);
}

static void mtf_sink_put_event(struct metatf_sink *sink, const struct trace_event *event)
{
    struct step_java_metatf_event out = {.section = 0};
    /* time and thread are the first members of each event's struct */
    struct step_java_metatf_events_vmStart *common = &out.as.events_vmStart;
    switch ((enum step_text_kind) event->kind) {
    case EVENT_VM_START:
        out.kind = STEP_JAVA_METATF_EVENTS_VMSTART;
        break;
    case EVENT_VM_INIT:
        out.kind = STEP_JAVA_METATF_EVENTS_VMINIT;
        break;
    case EVENT_VM_DEATH:
        out.kind = STEP_JAVA_METATF_EVENTS_VMDEATH;
        break;
    case EVENT_CLASS_LOAD:
        out.kind = STEP_JAVA_METATF_EVENTS_CLASSLOAD;
        out.as.events_classLoad.class_ = class_place(sink, event->class_id);
        out.as.events_classLoad.flags = event->flags & TRACE_EXISTING;
        break;
    case EVENT_OBJECT_ALLOC:
    case EVENT_OBJECT_FREE:
        mtf_sink_put_object(sink, event, &out);
        break;
    case EVENT_THREAD_BEGIN:
        out.kind = STEP_JAVA_METATF_EVENTS_THREADSTART;
        out.as.events_threadStart.flags = event->flags & TRACE_EXISTING;
        break;
    case EVENT_THREAD_END:
        out.kind = STEP_JAVA_METATF_EVENTS_THREADEND;
        break;
    case EVENT_METHOD_ENTRY:
        out.kind = STEP_JAVA_METATF_EVENTS_ENTER;
        out.as.events_enter.method = method_place(sink, event->method_id);
        out.as.events_enter.object = event->object;
        break;
    case EVENT_METHOD_EXIT:
    case EVENT_METHOD_POP:
        out.kind = event->kind == EVENT_METHOD_EXIT ? STEP_JAVA_METATF_EVENTS_LEAVE
                                                    : STEP_JAVA_METATF_EVENTS_POP;
        out.as.events_leave.method = method_place(sink, event->method_id);
        break;
    case EVENT_KIND_COUNT:
        return;
    }
    common->time = event->time_ns;
    common->thread = thread_place(sink, event->thread_id);
    put_java(sink, &out);
}

static enum step_status mtf_sink_put(struct trace_sink *base, const struct trace_event *events,
                                     size_t count, struct step_error *error)
{
    struct metatf_sink *sink = (struct metatf_sink *) base;
    for (size_t i = 0; i < count && sink->status == STEP_STATUS_OK; i++)
        mtf_sink_put_event(sink, &events[i]);
    if (sink->status != STEP_STATUS_OK && error != NULL)
        *error = sink->error;
    return sink->status;
}

static void mtf_sink_put_property(struct metatf_sink *sink, struct trace_text key,
                                  struct trace_text value)
{
    struct step_java_metatf_event event = {.kind = STEP_JAVA_METATF_PROPERTIES_PROPERTY};
    event.as.properties_property.key_data = trace_text_bytes(key);
    event.as.properties_property.value_data = trace_text_bytes(value);
    put_java(sink, &event);
}

static enum step_status mtf_sink_close(struct trace_sink *base, struct step_error *error)
{
    struct metatf_sink *sink = (struct metatf_sink *) base;
    char text[COPY_LOSS_ROOM];
    const char *loss = copy_loss_new(&base->source->about, text);
    if (loss != NULL)
        mtf_sink_put_property(sink, trace_text_of(TRACE_INCOMPLETE), trace_text_of(loss));
    if (sink->status != STEP_STATUS_OK && error != NULL)
        *error = sink->error;
    return sink->status == STEP_STATUS_OK ? metatf_writer_close(sink->writer, error) : sink->status;
}

static void mtf_sink_reset(struct trace_sink *base)
{
    struct metatf_sink *sink = (struct metatf_sink *) base;
    metatf_writer_destroy(sink->writer);
    for (unsigned i = 0; i < TABLES; i++)
        id_table_reset(&sink->places[i]);
    free(sink->chain.ids);
}

/* Writes a comment to each section, so that no entry of a table has offset 0, and the properties.
 */
static enum step_status mtf_sink_begin(struct metatf_sink *sink, const struct event_source *source,
                                       bool has_pieces, struct step_error *error)
{
    static const char *const comments[TABLES] = {"classes", "methods", "threads", "frames"};
    for (uint32_t i = 0; i < TABLES && sink->status == STEP_STATUS_OK; i++)
        sink->status = metatf_writer_comment(sink->writer, i + 1, comments[i], strlen(comments[i]),
                                             &sink->error);
    struct trace_property property;
    for (size_t i = 0; (property = trace_property_of(&source->about, i)).key.unshown != NULL; i++)
        mtf_sink_put_property(sink, property.key, property.value);
    if (sink->status == STEP_STATUS_OK && has_pieces)
        sink->status = metatf_writer_flush(sink->writer, &sink->error);
    if (sink->status != STEP_STATUS_OK && error != NULL)
        *error = sink->error;
    return sink->status;
}

static enum step_status mtf_sink_open(struct trace_sink *base, const struct format_output *to,
                                      struct step_error *error)
{
    const struct metatf_look *look = format_settings_get(to->settings, &metatf_options);
    struct metatf_sink *sink = (struct metatf_sink *) base;
    sink->names = &to->source->names;
    sink->is_part = !to->source->filter.everything;
    for (unsigned i = 0; i < TABLES; i++)
        id_table_init(&sink->places[i], sizeof(uint64_t));
    enum step_status status =
        create_writer(to, &step_java_metatf_dtd, METATF_JAVA_DTD, &sink->writer, error);
    return status == STEP_STATUS_OK
               ? mtf_sink_begin(sink, to->source, look->layout != METATF_BY_INDEX, error)
               : status;
}

static const struct trace_sink_operations operations = {
    .size_bytes = sizeof(struct metatf_sink),
    .open = mtf_sink_open,
    .put = mtf_sink_put,
    .close = mtf_sink_close,
    .reset = mtf_sink_reset,
};

/* ---- HATF's records ---- */

struct metatf_record_sink {
    struct trace_sink base;
    struct metatf_writer *writer;
    uint32_t records[HATF_METADATA]; /* by tag, in the section "heap" */
};

const char *const metatf_heap_records[HATF_METADATA] = {
    "alloc",        "free",          "reallocNoAlloc", "reallocAllocFree",
    "reallocAlloc", "reallocFree",   "createHeap",     "destroyHeap",
    "createThread", "destroyThread", "comment"};

static enum step_status mtf_sink_put_record(struct trace_sink *base,
                                            const struct hatf_record *record,
                                            struct step_error *error)
{
    struct metatf_record_sink *sink = (struct metatf_record_sink *) base;
    struct metatf_value values[9] = {{.number = 0}};
    size_t count = 1;
    if (record->tag >= HATF_METADATA)
        return STEP_STATUS_OK;
    if (record->tag == HATF_COMMENT)
        return metatf_writer_comment(sink->writer, 1, record->comment.data, record->comment.length,
                                     error);
    if (hatf_tag_has(record->tag, HATF_SIZE))
        values[count++].number = record->size;
    if (hatf_tag_has(record->tag, HATF_ADDRESS))
        values[count++].number = record->address;
    if (record->tag >= HATF_REALLOC_NO_ALLOC && record->tag <= HATF_REALLOC_FREE)
        values[count++].number = record->new_address;
    if (record->tag == HATF_CREATE_HEAP || record->tag == HATF_DESTROY_HEAP)
        values[count++].number = record->heap;
    values[count++].number = record->thread;
    if (record->tag < HATF_CREATE_HEAP)
        values[count++].number = record->heap;
    values[count++].number = record->time;
    values[count++].number = record->attributes.length;
    values[count++].bytes = record->attributes;
    return metatf_writer_put(sink->writer, 1, sink->records[record->tag], values, count, NULL,
                             error);
}

static enum step_status close_records(struct trace_sink *base, struct step_error *error)
{
    struct metatf_record_sink *sink = (struct metatf_record_sink *) base;
    return metatf_writer_close(sink->writer, error);
}

static void reset_records(struct trace_sink *base)
{
    struct metatf_record_sink *sink = (struct metatf_record_sink *) base;
    metatf_writer_destroy(sink->writer);
}

static enum step_status open_records(struct trace_sink *base, const struct format_output *to,
                                     struct step_error *error)
{
    struct metatf_record_sink *sink = (struct metatf_record_sink *) base;
    bool split = alloc_options_of(to->settings)->split == HATF_SPLIT_ADDRESS;
    const struct metatf_dtd *dtd = split ? &step_hatf_split_metatf_dtd : &step_hatf_metatf_dtd;
    for (unsigned tag = 0; tag < HATF_METADATA; tag++)
        sink->records[tag] = metatf_section_record(&dtd->sections[1], metatf_heap_records[tag]);
    return create_writer(to, dtd, split ? METATF_HATF_SPLIT_DTD : METATF_HATF_DTD, &sink->writer,
                         error);
}

static const struct trace_sink_operations record_operations = {
    .size_bytes = sizeof(struct metatf_record_sink),
    .open = open_records,
    .put_alloc = mtf_sink_put_record,
    .close = close_records,
    .reset = reset_records,
};

static const struct format_option look_rows[] = {
    {{"unpacked", 0, NULL, "Meta-TF: do not compress sections", take_flag, NULL},
     offsetof(struct metatf_look, is_unpacked)},
    {{"layout", 0, "HOW", "Meta-TF: segments (default); index or records, as in the paper",
      WORDS_OF(unsigned, "segments", "index", "records")},
     offsetof(struct metatf_look, layout)},
    {{"bits", 0, "N", "Meta-TF: 32 (class 1) or 64 (class 2, the default)",
      WORDS_OF(unsigned, "", "32", "64")},
     offsetof(struct metatf_look, bits)},
    {{"byte-order", 0, "ORDER", "Meta-TF: little or big; this machine's if not given",
      WORDS_OF(unsigned, "", "little", "big")},
     offsetof(struct metatf_look, order)},
    {.place = 0}};

const struct format_options metatf_options = {sizeof(struct metatf_look), look_rows, NULL};

static const struct format_options *const options_of[] = {
    &metatf_options, &alloc_split_options, &alloc_omit_options, &compression_options, NULL};

const struct trace_format format_mtf = {
    .name = "mtf",
    .ending = ".mtf",
    .help = "Meta-TF, with its DTD in it",
    .options = options_of,
    .magic = "\177MTF",
    .open_source = metatf_source_create,
    .sink = &operations,
    .alloc_sink = &record_operations,
};
