/* SPDX-License-Identifier: Apache-2.0 */
/* Maps ids of the file to sites and classes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "converter/formats/memory_infra/memory_infra_event.h"
#include "format/core/no_memory.h"

/* Returns the number of a name, or 0 if memory runs out. */
static uint32_t name_number(struct memory_infra *infra, uint64_t space, struct step_bytes name,
                            bool *is_new)
{
    uint32_t id = name_index_put(&infra->names_used, space, name, is_new);
    struct step_bytes copy;
    if (id == 0 || !*is_new)
        return id;
    if (!trace_names_copy(&infra->names, name, &copy))
        return 0;
    name_index_set_text(&infra->names_used, id, copy);
    return id;
}

static uint32_t class_of(struct memory_infra *infra, struct step_bytes name)
{
    bool is_new;
    uint32_t id = name_number(infra, 0, name, &is_new);
    struct trace_class *class = id != 0 ? id_table_get(&infra->names.classes, id) : NULL;
    if (class == NULL)
        return 0;
    if (!class->known)
        *class = (struct trace_class){.name = infra->names_used.entries[id].text, .known = true};
    return id;
}

static uint32_t method_of(struct memory_infra *infra, struct step_bytes name)
{
    bool is_new;
    uint32_t id = name_number(infra, 1, name, &is_new);
    struct trace_method *method = id != 0 ? id_table_get(&infra->names.methods, id) : NULL;
    if (method == NULL)
        return 0;
    if (!method->known)
        *method = (struct trace_method){.name = infra->names_used.entries[id].text, .known = true};
    return id;
}

/* Adds an id of the event to an index, with a copy of its text.  Returns 0 if memory runs out. */
static uint32_t put_id(struct infra_reading *reading, struct name_index *index,
                       struct step_bytes text, bool *is_new)
{
    struct step_bytes copy;
    uint32_t id = name_index_put(index, reading->event.process, text, is_new);
    if (id == 0 || !*is_new)
        return id;
    if (!trace_names_copy(&reading->infra->names, text, &copy))
        return 0;
    name_index_set_text(index, id, copy);
    return id;
}

/* Ids of heaps_v2 are distinct from those of stackFrames; a prefix byte distinguishes them. */
static struct step_bytes id_text(const struct infra_reading *reading, size_t at, bool is_v2,
                                 char *room, size_t room_size)
{
    if (!is_v2)
        return infra_kept(reading, at);
    int length = snprintf(room, room_size, "\x01%s", reading->event.texts + at);
    return (struct step_bytes){(const uint8_t *) room,
                               (size_t) length < room_size ? (size_t) length : room_size - 1};
}

static struct step_bytes string_of(const struct infra_reading *reading, size_t at)
{
    struct memory_infra *infra = reading->infra;
    static const uint8_t unknown[] = {'?'};
    const struct step_bytes none = {unknown, 1};
    if (at == 0)
        return none;
    uint32_t id = name_index_find(&infra->strings, reading->event.process, infra_kept(reading, at));
    if (id != 0)
        return infra->string_texts[id];
    memory_infra_fault(infra, "string %s of heaps_v2 is missing", reading->event.texts + at);
    return none;
}

static bool put_frame(struct infra_reading *reading, const size_t *row)
{
    struct memory_infra *infra = reading->infra;
    bool is_v2 = row[0] == INFRA_V2_FRAME, is_new;
    char room[64];
    uint32_t id = put_id(reading, &infra->frame_ids,
                         id_text(reading, row[1], is_v2, room, sizeof room), &is_new);
    if (id == 0)
        return false;
    while (id >= infra->frame_capacity)
        if (!infra_make_room((void **) &infra->frames, &infra->frame_capacity,
                             infra->frame_capacity, sizeof *infra->frames))
            return false;
    if (!is_new) {
        if (!is_v2)
            memory_infra_fault(infra, "frame %s is defined twice", reading->event.texts + row[1]);
        return true;
    }
    struct memory_infra_frame *frame = &infra->frames[id];
    *frame = (struct memory_infra_frame){.process = reading->event.process};
    struct step_bytes name = is_v2         ? string_of(reading, row[2])
                             : row[2] != 0 ? infra_kept(reading, row[2])
                                           : (struct step_bytes){(const uint8_t *) "?", 1};
    if (!trace_names_copy(&infra->names, name, &frame->name))
        return false;
    /* In heaps_v2, 0 means no parent, like a missing one. */
    if (row[3] == 0 || (is_v2 && strcmp(reading->event.texts + row[3], "0") == 0))
        return true;
    return trace_names_copy(&infra->names, id_text(reading, row[3], is_v2, room, sizeof room),
                            &frame->parent);
}

static bool put_type(struct infra_reading *reading, const size_t *row)
{
    struct memory_infra *infra = reading->infra;
    bool is_v2 = row[0] == INFRA_V2_TYPE, is_new;
    char room[64];
    uint32_t id = put_id(reading, &infra->type_ids,
                         id_text(reading, row[1], is_v2, room, sizeof room), &is_new);
    if (id == 0)
        return false;
    while (id >= infra->type_capacity)
        if (!infra_make_room((void **) &infra->types, &infra->type_capacity, infra->type_capacity,
                             sizeof *infra->types))
            return false;
    if (!is_new)
        return true;
    infra->types[id] =
        class_of(infra, is_v2 ? string_of(reading, row[2]) : infra_kept(reading, row[2]));
    return infra->types[id] != 0;
}

static bool put_string(struct infra_reading *reading, const size_t *row)
{
    struct memory_infra *infra = reading->infra;
    bool is_new;
    uint32_t id = put_id(reading, &infra->strings, infra_kept(reading, row[1]), &is_new);
    if (id == 0)
        return false;
    while (id >= infra->string_capacity)
        if (!infra_make_room((void **) &infra->string_texts, &infra->string_capacity,
                             infra->string_capacity, sizeof *infra->string_texts))
            return false;
    if (!is_new)
        return true;
    return trace_names_copy(
        &infra->names, row[2] != 0 ? infra_kept(reading, row[2]) : (struct step_bytes){NULL, 0},
        &infra->string_texts[id]);
}

enum step_status infra_put_names(struct infra_reading *reading)
{
    struct infra_event *event = &reading->event;
    bool ok = true;
    for (size_t i = 0; ok && i < event->name_count; i++)
        if (event->names[i][0] == INFRA_V2_STRING)
            ok = put_string(reading, event->names[i]);
    for (size_t i = 0; ok && i < event->name_count; i++) {
        size_t kind = event->names[i][0];
        if (kind == INFRA_FRAME || kind == INFRA_V2_FRAME)
            ok = put_frame(reading, event->names[i]);
        else if (kind != INFRA_V2_STRING)
            ok = put_type(reading, event->names[i]);
    }
    return ok ? STEP_STATUS_OK : infra_no_memory(reading);
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
                                      id_text(reading, raw->frame, raw->is_v2, room, sizeof room));
        if (id == 0) {
            memory_infra_fault(infra, "frame %s is missing", reading->event.texts + raw->frame);
            return false;
        }
        value->site = infra->frames[id].site;
        value->is_self = value->is_self || infra->frames[id].is_self;
    }
    if (raw->type != 0) {
        uint32_t id = name_index_find(&infra->type_ids, process,
                                      id_text(reading, raw->type, raw->is_v2, room, sizeof room));
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
    infra->other_method = method_of(infra, (struct step_bytes){(const uint8_t *) "<other>", 7});
    if (ok && infra->other_method != 0)
        return STEP_STATUS_OK;
    return step_no_memory(error, infra->path);
}
