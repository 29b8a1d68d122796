/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers table entries in order of appearance.  References always follow their entries. */
#include "converter/formats/metatf/metatf_tables.h"

#include <stdlib.h>

#include "format/core/grow.h"

/* Returns the number of the new entry, or 0 if memory runs out. */
static uint32_t add_place(struct metatf_places *places, uint64_t position)
{
    if (places->count == places->capacity) {
        uint64_t *items = places->count < UINT32_MAX ? step_grown(places->items, &places->capacity,
                                                                  places->count + 1, sizeof *items)
                                                     : NULL;
        if (items == NULL)
            return 0;
        places->items = items;
    }
    places->items[places->count++] = position;
    return (uint32_t) places->count;
}

struct metatf_dangling metatf_tables_miss(enum metatf_table table, uint64_t position)
{
    static const char *const entries[METATF_TABLES] = {"class", "method", "thread", "frame"};
    return (struct metatf_dangling){entries[table], position};
}

static enum step_status take_class(struct metatf_tables *tables,
                                   const struct step_java_metatf_event *event)
{
    const struct step_java_metatf_classes_class *in = &event->as.classes_class;
    uint32_t id = add_place(&tables->places[METATF_CLASSES], event->position);
    struct trace_class *class = id != 0 ? id_table_get(&tables->names->classes, id) : NULL;
    if (class == NULL || !trace_names_copy(tables->names, in->name_data, &class->name))
        return STEP_STATUS_NO_MEMORY;
    class->loader = in->loader;
    class->known = true;
    return STEP_STATUS_OK;
}

static enum step_status take_method(struct metatf_tables *tables,
                                    const struct step_java_metatf_event *event,
                                    struct metatf_dangling *dangling)
{
    const struct step_java_metatf_methods_method *in = &event->as.methods_method;
    uint32_t class_id;
    if (!metatf_tables_find(tables, METATF_CLASSES, in->class_, &class_id, dangling))
        return STEP_STATUS_CORRUPT;
    struct trace_names *names = tables->names;
    uint32_t id = add_place(&tables->places[METATF_METHODS], event->position);
    struct trace_method *method = id != 0 ? id_table_get(&names->methods, id) : NULL;
    if (method == NULL || !trace_names_copy(names, in->name_data, &method->name) ||
        !trace_names_copy(names, in->descriptor_data, &method->descriptor))
        return STEP_STATUS_NO_MEMORY;
    method->class_id = class_id;
    method->modifiers = in->modifiers;
    method->known = true;
    return STEP_STATUS_OK;
}

static enum step_status take_thread(struct metatf_tables *tables,
                                    const struct step_java_metatf_event *event)
{
    const struct step_java_metatf_threads_thread *in = &event->as.threads_thread;
    uint32_t id = add_place(&tables->places[METATF_THREADS], event->position);
    struct trace_thread *thread = id != 0 ? id_table_get(&tables->names->threads, id) : NULL;
    if (thread == NULL || !trace_names_copy(tables->names, in->name_data, &thread->name))
        return STEP_STATUS_NO_MEMORY;
    thread->number = in->number;
    thread->flags = in->flags;
    thread->known = true;
    return STEP_STATUS_OK;
}

static enum step_status take_frame(struct metatf_tables *tables,
                                   const struct step_java_metatf_event *event,
                                   struct metatf_dangling *dangling)
{
    const struct step_java_metatf_frames_frame *in = &event->as.frames_frame;
    uint32_t parent, method;
    if (!metatf_tables_find(tables, METATF_FRAMES, in->parent, &parent, dangling))
        return STEP_STATUS_CORRUPT;
    if (!metatf_tables_find(tables, METATF_METHODS, in->method, &method, dangling))
        return STEP_STATUS_CORRUPT;
    uint32_t id = add_place(&tables->places[METATF_FRAMES], event->position);
    struct trace_frame *frame = id != 0 ? id_table_get(&tables->names->frames, id) : NULL;
    if (frame == NULL)
        return STEP_STATUS_NO_MEMORY;
    *frame = (struct trace_frame){.parent = parent,
                                  .method_id = method,
                                  .line = (uint32_t) in->line,
                                  .bytecode = (uint32_t) in->bytecode,
                                  .known = true};
    return STEP_STATUS_OK;
}

enum step_status metatf_tables_take(struct metatf_tables *tables,
                                    const struct step_java_metatf_event *event,
                                    struct metatf_dangling *dangling)
{
    switch (event->kind) {
    case STEP_JAVA_METATF_CLASSES_CLASS:
        return take_class(tables, event);
    case STEP_JAVA_METATF_METHODS_METHOD:
        return take_method(tables, event, dangling);
    case STEP_JAVA_METATF_THREADS_THREAD:
        return take_thread(tables, event);
    case STEP_JAVA_METATF_FRAMES_FRAME:
        return take_frame(tables, event, dangling);
    default:
        return STEP_STATUS_OK;
    }
}

void metatf_tables_reset(struct metatf_tables *tables)
{
    for (unsigned i = 0; i < METATF_TABLES; i++)
        free(tables->places[i].items);
}
