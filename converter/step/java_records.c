/* SPDX-License-Identifier: Apache-2.0 */
/* The table of kinds, and look-ups in the trace's dictionaries. */
#include "converter/step/java_records.h"

#include <stdlib.h>
#include <string.h>

#include "converter/containers/no_memory.h"
#include "converter/numbers/trace_ticks.h"
#include "converter/trace/source_map.h"
#include "format/core/grow.h"

/* ---- kinds ---- */

#define NO_EVENT EVENT_KIND_COUNT
#define NO_GRAPH GRAPH_EVENT_KIND_COUNT
#define OF_GRAPH JAVA_IS_OF_GRAPH
#define OBJECT JAVA_WAITS_OBJECT
#define SOURCE (JAVA_WAITS_OBJECT | JAVA_WAITS_SOURCE)
#define TARGET (JAVA_WAITS_OBJECT | JAVA_WAITS_TARGET)

/* Searched by record type; types that are missing have no event. */
static const struct java_kind table[] = {
    {STEP_JAVA_VM_START, EVENT_VM_START, 0, NO_GRAPH, 0},
    {STEP_JAVA_VM_INIT, EVENT_VM_INIT, 0, NO_GRAPH, 0},
    {STEP_JAVA_VM_DEATH, EVENT_VM_DEATH, 0, GRAPH_END, JAVA_IS_LAST},
    {STEP_JAVA_CLASS_LOAD, EVENT_CLASS_LOAD, 0, NO_GRAPH, 0},
    {STEP_JAVA_CLASS_EXISTING, EVENT_CLASS_LOAD, TRACE_EXISTING, NO_GRAPH, 0},
    {STEP_JAVA_THREAD_START, EVENT_THREAD_BEGIN, 0, NO_GRAPH, 0},
    {STEP_JAVA_THREAD_EXISTING, EVENT_THREAD_BEGIN, TRACE_EXISTING, NO_GRAPH, 0},
    {STEP_JAVA_THREAD_END, EVENT_THREAD_END, 0, NO_GRAPH, 0},
    {STEP_JAVA_OBJECT_ALLOC, EVENT_OBJECT_ALLOC, 0, GRAPH_ALLOC, 0},
    {STEP_JAVA_OBJECT_ALLOC_AT, EVENT_OBJECT_ALLOC, 0, GRAPH_ALLOC, 0},
    {STEP_JAVA_OBJECT_SAMPLED, EVENT_OBJECT_ALLOC, 0, GRAPH_ALLOC, 0},
    {STEP_JAVA_OBJECT_EXISTING, EVENT_OBJECT_ALLOC, TRACE_EXISTING, GRAPH_EXISTING, 0},
    {STEP_JAVA_OBJECT_FREE, EVENT_OBJECT_FREE, 0, GRAPH_FREE, OBJECT},
    {STEP_JAVA_OBJECT_FREE_UNKNOWN, EVENT_OBJECT_FREE, 0, GRAPH_FREE, OBJECT},
    {STEP_JAVA_OBJECT_DEATH, EVENT_OBJECT_FREE, TRACE_DATED, GRAPH_DEATH, OBJECT | OF_GRAPH},
    {STEP_JAVA_METHOD_ENTRY, EVENT_METHOD_ENTRY, 0, GRAPH_ENTRY, OBJECT},
    {STEP_JAVA_METHOD_EXIT, EVENT_METHOD_EXIT, 0, GRAPH_EXIT, 0},
    {STEP_JAVA_FRAME_POP, EVENT_METHOD_POP, 0, GRAPH_EXIT, 0},
    {STEP_JAVA_REFERENCE_STORE, NO_EVENT, 0, NO_GRAPH, OF_GRAPH},
    {STEP_JAVA_FIELD_STORE, NO_EVENT, 0, GRAPH_FIELD, TARGET | OF_GRAPH},
    {STEP_JAVA_ELEMENT_STORE, NO_EVENT, 0, GRAPH_ELEMENT, TARGET | OF_GRAPH},
    {STEP_JAVA_RANGE_STORE, NO_EVENT, 0, GRAPH_RANGE, SOURCE | OF_GRAPH},
    {STEP_JAVA_CLONE_STORE, NO_EVENT, 0, GRAPH_CLONE, SOURCE | OF_GRAPH},
    {STEP_JAVA_SNAPSHOT, NO_EVENT, 0, GRAPH_SNAPSHOT, OF_GRAPH},
    {STEP_JAVA_ROOT, NO_EVENT, 0, GRAPH_ROOT, OF_GRAPH},
    {STEP_JAVA_FIELD_REFERENCE, NO_EVENT, 0, GRAPH_HAS_FIELD, OF_GRAPH},
    {STEP_JAVA_ELEMENT_REFERENCE, NO_EVENT, 0, GRAPH_HAS_ELEMENT, OF_GRAPH},
    {STEP_JAVA_OTHER_REFERENCE, NO_EVENT, 0, GRAPH_HAS_OTHER, OF_GRAPH},
    {STEP_JAVA_SNAPSHOT_END, NO_EVENT, 0, GRAPH_SNAPSHOT_END, OF_GRAPH},
    {STEP_JAVA_PHASE_BEGIN, NO_EVENT, 0, NO_GRAPH, JAVA_BEGINS_PHASE | OF_GRAPH},
    {STEP_JAVA_PHASE_END, NO_EVENT, 0, NO_GRAPH, JAVA_ENDS_PHASE | OF_GRAPH},
};

const struct java_kind java_kind_none = {-1, NO_EVENT, 0, NO_GRAPH, 0};

static const struct java_kind *java_records_find(int record)
{
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
        if (table[i].record == record)
            return &table[i];
    return &java_kind_none;
}

static bool has_numbers_in_names(const struct step_reader *reader)
{
    const char *numbers = step_reader_property(reader, THREAD_NUMBERS_PROPERTY);
    return numbers != NULL && strcmp(numbers, THREAD_NUMBERS_IN_NAMES) == 0;
}

void java_records_refresh(struct java_records *java)
{
    java->resolution_ns = trace_resolution_ns(java->reader);
    java->unit = time_unit_of_clock(step_reader_property(java->reader, "clock"));
    java->numbers_in_names = has_numbers_in_names(java->reader);
}

enum step_status java_records_init(struct java_records *java, struct step_reader *reader,
                                   struct step_error *error)
{
    const struct step_definition *definition = step_reader_borrow_definition(reader);
    *java = (struct java_records){.reader = reader};
    id_table_init(&java->sources, sizeof(struct java_source));
    java_records_refresh(java);
    enum step_status status = step_java_trace_bind(definition, &java->binding, error);
    if (status != STEP_STATUS_OK)
        return status;
    java->kinds = calloc(definition->record_count + 1, sizeof *java->kinds);
    if (java->kinds == NULL)
        return no_memory(error);
    for (; java->count < definition->record_count; java->count++)
        java->kinds[java->count] =
            java_records_find(step_java_trace_record(&java->binding, java->count));
    return java_sources_update(java) ? STEP_STATUS_OK : no_memory(error);
}

void java_records_reset(struct java_records *java)
{
    if (java->binding.inner != NULL)
        step_java_trace_unbind(&java->binding);
    free(java->kinds);
    struct java_source *source;
    for (uint32_t i = 0; (source = id_table_next(&java->sources, &i)) != NULL; i++)
        source_map_destroy(source->map);
    id_table_reset(&java->sources);
    *java = (struct java_records){0};
}

/* ---- names ---- */

struct step_bytes java_class_name(const struct java_records *java, uint64_t id)
{
    struct step_java_class entry;
    return java_class(java, id, &entry) ? entry.name : step_text("?");
}

/* Returns false if out of memory. */
static bool set_source(struct java_records *java, const struct step_java_source_file *entry)
{
    struct java_source *source = id_table_get(&java->sources, (uint32_t) entry->class_);
    if (source == NULL)
        return false;
    struct source_map *map = entry->map.length > 0 ? source_map_create(entry->map) : NULL;
    source_map_destroy(source->map);
    *source = (struct java_source){entry->file, entry->map, map};
    return true;
}

bool java_sources_update(struct java_records *java)
{
    uint64_t count = java_entry_count(java, STEP_JAVA_SOURCE_FILE);
    uint64_t classes = java->sources_known < count ? java_entry_count(java, STEP_JAVA_CLASS) : 0;
    for (; java->sources_known < count; java->sources_known++) {
        struct step_java_source_file entry;
        if (step_java_source_file_look_up(&java->binding, java->reader, java->sources_known + 1,
                                          &entry) &&
            entry.class_ <= classes && entry.class_ <= UINT32_MAX && !set_source(java, &entry))
            return false;
    }
    return true;
}

const struct java_source *java_source(const struct java_records *java, uint64_t class)
{
    static const struct java_source unknown;
    const struct java_source *source =
        class <= UINT32_MAX ? id_table_find(&java->sources, (uint32_t) class) : NULL;
    return source != NULL ? source : &unknown;
}

struct frame_place java_place(const struct java_records *java, uint64_t class,
                              const struct step_java_frame *frame)
{
    const struct java_source *source = java_source(java, class);
    struct frame_place place = {
        .line = frame->line, .bytecode = frame->bytecode, .file = source->file};
    source_map_find(source->map, &place);
    return place;
}

bool java_frame(const struct java_records *java, uint64_t id, struct step_java_frame *entry)
{
    if (!step_java_frame_look_up(&java->binding, java->reader, id, entry))
        return false;
    if (entry->parent >= id)
        entry->parent = 0;
    return true;
}

/* Removes "#17" or "#17 " from the name and returns the number; `otherwise` if there is none. */
static uint64_t java_records_take_number(struct step_bytes *name, uint64_t otherwise)
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

bool java_thread(const struct java_records *java, uint64_t id, struct step_java_thread *entry,
                 uint64_t *number)
{
    *number = id;
    if (!step_java_thread_look_up(&java->binding, java->reader, id, entry))
        return false;
    if (java->numbers_in_names)
        *number = java_records_take_number(&entry->name, id);
    return true;
}
