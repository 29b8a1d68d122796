/* SPDX-License-Identifier: Apache-2.0 */
/* Maps ids of the file to sites and classes. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "converter/formats/memory_infra/memory_infra_event.h"
#include "format/core/grow.h"
#include "format/core/step_no_memory.h"

void memory_infra_fault(struct memory_infra *infra, const char *format, ...)
{
    if (infra->fault_count < sizeof infra->first_faults / sizeof infra->first_faults[0]) {
        va_list arguments;
        va_start(arguments, format);
        vsnprintf(infra->first_faults[infra->fault_count], sizeof infra->first_faults[0], format,
                  arguments);
        va_end(arguments);
    }
    infra->fault_count++;
}

void infra_no_memory(struct infra_reading *reading)
{
    if (reading->status == STEP_STATUS_OK)
        reading->status = step_no_memory(reading->error, reading->infra->path);
}

/* Returns a text that the file has, or "?". */
static struct step_bytes kept(const struct infra_reading *reading, size_t at)
{
    return step_text(at != 0 ? reading->event.texts + at : "?");
}

static uint32_t infra_names_class_of(struct memory_infra *infra, struct step_bytes name)
{
    bool is_new;
    return trace_names_class(&infra->names, &infra->names_used, name, &is_new);
}

static uint32_t method_of(struct memory_infra *infra, struct step_bytes name)
{
    uint32_t id = trace_names_method(&infra->names, &infra->names_used, 1, name);
    if (id != 0) /* functions have no class */
        ((struct trace_method *) id_table_find(&infra->names.methods, id))->class_id = 0;
    return id;
}

/* Ids of heaps_v2 are distinct from those of stackFrames; a prefix byte distinguishes them. */
static struct step_bytes id_text(const struct infra_reading *reading, size_t at, bool is_v2,
                                 char room[64])
{
    if (!is_v2)
        return kept(reading, at);
    snprintf(room, 64, "\x01%s", reading->event.texts + at);
    return step_text(room);
}

static struct step_bytes string_of(const struct infra_reading *reading, size_t at)
{
    struct memory_infra *infra = reading->infra;
    if (at == 0)
        return step_text("?");
    uint32_t id = name_index_find(&infra->strings, reading->event.process, kept(reading, at));
    if (id != 0)
        return infra->string_texts[id];
    memory_infra_fault(infra, "string %s of heaps_v2 is missing", reading->event.texts + at);
    return step_text("?");
}

/* Adds an id of the event to an index.  Returns 0 if memory runs out. */
static uint32_t put_id(struct infra_reading *reading, struct name_index *index,
                       const struct infra_name *name, bool is_v2, bool *is_new)
{
    char room[64];
    return trace_names_number(&reading->infra->names, index, reading->event.process,
                              id_text(reading, name->id, is_v2, room), is_new);
}

static bool infra_names_put_frame(struct infra_reading *reading, const struct infra_name *row)
{
    struct memory_infra *infra = reading->infra;
    bool is_v2 = row->kind == INFRA_V2_FRAME, is_new;
    char room[64];
    uint32_t id = put_id(reading, &infra->frame_ids, row, is_v2, &is_new);
    if (id == 0 || !STEP_MAKE_ROOM(infra->frames, infra->frame_capacity, id + (size_t) 1))
        return false;
    if (!is_new && !is_v2)
        memory_infra_fault(infra, "frame %s is defined twice", reading->event.texts + row->id);
    if (!is_new)
        return true;
    struct memory_infra_frame *frame = &infra->frames[id];
    *frame = (struct memory_infra_frame){.process = reading->event.process};
    struct step_bytes name = is_v2 ? string_of(reading, row->name) : kept(reading, row->name);
    if (!trace_names_copy(&infra->names, name, &frame->name))
        return false;
    /* In heaps_v2, 0 means no parent, like a missing one. */
    if (row->parent == 0 || (is_v2 && strcmp(reading->event.texts + row->parent, "0") == 0))
        return true;
    return trace_names_copy(&infra->names, id_text(reading, row->parent, is_v2, room),
                            &frame->parent);
}

static bool infra_names_put_type(struct infra_reading *reading, const struct infra_name *row)
{
    struct memory_infra *infra = reading->infra;
    bool is_v2 = row->kind == INFRA_V2_TYPE, is_new;
    uint32_t id = put_id(reading, &infra->type_ids, row, is_v2, &is_new);
    if (id == 0 || !STEP_MAKE_ROOM(infra->types, infra->type_capacity, id + (size_t) 1))
        return false;
    if (!is_new)
        return true;
    infra->types[id] = infra_names_class_of(infra, is_v2 ? string_of(reading, row->name)
                                                         : kept(reading, row->name));
    return infra->types[id] != 0;
}

static bool infra_names_put_string(struct infra_reading *reading, const struct infra_name *row)
{
    struct memory_infra *infra = reading->infra;
    bool is_new;
    uint32_t id = put_id(reading, &infra->strings, row, false, &is_new);
    if (id == 0 || !STEP_MAKE_ROOM(infra->string_texts, infra->string_capacity, id + (size_t) 1))
        return false;
    struct step_bytes text = row->name != 0 ? kept(reading, row->name) : step_text("");
    return !is_new || trace_names_copy(&infra->names, text, &infra->string_texts[id]);
}

void infra_put_names(struct infra_reading *reading)
{
    const struct infra_event *event = &reading->event;
    bool ok = true;
    for (size_t i = 0; ok && i < event->name_count; i++)
        if (event->names[i].kind == INFRA_V2_STRING)
            ok = infra_names_put_string(reading, &event->names[i]);
    for (size_t i = 0; ok && i < event->name_count; i++) {
        enum infra_name_kind kind = event->names[i].kind;
        if (kind == INFRA_FRAME || kind == INFRA_V2_FRAME)
            ok = infra_names_put_frame(reading, &event->names[i]);
        else if (kind != INFRA_V2_STRING)
            ok = infra_names_put_type(reading, &event->names[i]);
    }
    if (!ok)
        infra_no_memory(reading);
}

bool infra_resolve_value(struct infra_reading *reading, const struct infra_value *raw,
                         struct dump_value *value)
{
    struct memory_infra *infra = reading->infra;
    uint64_t process = reading->event.process;
    char room[64];
    *value = (struct dump_value){
        .is_self = raw->is_old || raw->is_v2, .bytes = raw->bytes, .objects = raw->objects};
    if (raw->frame != 0) {
        uint32_t id = name_index_find(&infra->frame_ids, process,
                                      id_text(reading, raw->frame, raw->is_v2, room));
        if (id == 0) {
            memory_infra_fault(infra, "frame %s is missing", reading->event.texts + raw->frame);
            return false;
        }
        value->site = infra->frames[id].site;
        value->is_self = value->is_self || infra->frames[id].is_self;
    }
    if (raw->type != 0) {
        uint32_t id = name_index_find(&infra->type_ids, process,
                                      id_text(reading, raw->type, raw->is_v2, room));
        if (id == 0) {
            memory_infra_fault(infra, "type %s is missing", reading->event.texts + raw->type);
            return false;
        }
        value->class_id = infra->types[id];
    }
    return true;
}

/* Finds the frame's site.  A frame that is its own ancestor, or whose parent is missing, is treated
 * as an outermost frame. */
static bool resolve_frame(struct memory_infra *infra, uint32_t first, uint32_t *stack)
{
    enum { NEW, OPEN, DONE };
    size_t depth = 0;
    uint32_t outer = 0;
    for (uint32_t at = first;;) {
        struct memory_infra_frame *frame = &infra->frames[at];
        frame->state = OPEN;
        stack[depth++] = at;
        if (frame->parent.data == NULL)
            break;
        uint32_t parent = name_index_find(&infra->frame_ids, frame->process, frame->parent);
        if (parent == 0 || infra->frames[parent].state == OPEN) {
            memory_infra_fault(infra,
                               parent == 0 ? "the parent of frame %.*s is missing"
                                           : "frame %.*s is called from itself",
                               (int) infra->frame_ids.entries[at].text.length,
                               (const char *) infra->frame_ids.entries[at].text.data);
            break;
        }
        if (infra->frames[parent].state == DONE) {
            outer = infra->frames[parent].site;
            break;
        }
        at = parent;
    }
    while (depth > 0) {
        struct memory_infra_frame *frame = &infra->frames[stack[--depth]];
        frame->state = DONE;
        frame->is_self = frame->name.length == 6 && memcmp(frame->name.data, "<self>", 6) == 0;
        frame->site = outer;
        if (frame->is_self)
            continue;
        uint32_t method = method_of(infra, frame->name);
        frame->site = heap_sites_put(&infra->sites,
                                     &(struct heap_site){.parent = outer, .method_id = method});
        if (method == 0 || frame->site == 0)
            return false;
        outer = frame->site;
    }
    return true;
}

enum step_status infra_resolve_frames(struct memory_infra *infra, struct step_error *error)
{
    size_t count = infra->frame_ids.count;
    uint32_t *stack = malloc((count + 1) * sizeof *stack);
    bool ok = stack != NULL;
    for (uint32_t i = 1; ok && i <= count; i++)
        if (infra->frames[i].state == 0)
            ok = resolve_frame(infra, i, stack);
    free(stack);
    infra->other_method = method_of(infra, step_text("<other>"));
    if (ok && infra->other_method != 0)
        return STEP_STATUS_OK;
    return step_no_memory(error, infra->path);
}
