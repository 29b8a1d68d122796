/* SPDX-License-Identifier: Apache-2.0 */
/* Reads only the blocks that have such events, and of them only times and numbers. */
#include "converter/tables/rows/entry_times.h"

#include "converter/base/no_memory.h"
#include "converter/tables/block_choice.h"
#include "converter/tables/wanted_fields.h"

const struct entry_events entry_times_of_classes = {"class", "java.ClassLoad", "java.ClassExisting",
                                                    NULL};
const struct entry_events entry_times_of_threads = {"thread", "java.ThreadStart",
                                                    "java.ThreadExisting", "java.ThreadEnd"};

struct reading {
    struct entry_times *times;
    struct tables *tables;
    uint32_t record, existing;
    size_t time_slot, id_slot;
    bool is_end;
};

void entry_times_reset(struct entry_times *times)
{
    if (times->is_read)
        id_table_reset(&times->times);
    times->is_read = false;
}

const struct entry_time *entry_times_of(const struct entry_times *times, uint64_t id)
{
    static const struct entry_time nothing;
    const struct entry_time *time =
        times->is_read && id < UINT32_MAX ? id_table_find(&times->times, (uint32_t) id) : NULL;
    return time != NULL ? time : &nothing;
}

/* Of several the first begin and the last end count. */
static bool note(const struct reading *reading, uint64_t id, uint64_t time_ns, uint32_t type)
{
    struct entry_time *time =
        id < UINT32_MAX ? id_table_get(&reading->times->times, (uint32_t) id) : NULL;
    if (time == NULL)
        return id >= UINT32_MAX;
    if (reading->is_end) {
        time->end_ns = time_ns;
        time->has_end = true;
    } else if (!time->has_begin) {
        time->begin_ns = time_ns;
        time->has_begin = true;
        time->is_existing = type == reading->existing;
    }
    return true;
}

static enum step_status read_block(const struct reading *reading, struct step_block *block,
                                   struct step_error *error)
{
    struct step_column_view times, ids, types;
    uint32_t record = reading->record;
    enum step_status status =
        step_block_column(block, record, record, reading->time_slot, &times, error);
    if (status == STEP_STATUS_OK)
        status = step_block_column(block, record, record, reading->id_slot, &ids, error);
    if (status == STEP_STATUS_OK)
        status = step_block_types(block, record, &types, error);
    for (size_t i = 0; status == STEP_STATUS_OK && i < times.count; i++)
        if (!note(reading, ids.values[i * ids.step],
                  tables_time_ns(reading->tables, times.values[i * times.step]),
                  (uint32_t) types.values[i * types.step]))
            status = no_memory(error);
    return status;
}

static enum step_status read_blocks(const struct reading *reading, uint8_t **fields,
                                    struct step_error *error)
{
    struct tables *tables = reading->tables;
    struct step_block *block = NULL;
    enum step_status status = STEP_STATUS_OK;
    for (size_t i = 0; i < step_reader_block_count(tables->reader) && status == STEP_STATUS_OK;
         i++) {
        if (block_rows(tables, i, reading->record) == 0)
            continue;
        status = step_reader_load_fields(tables->reader, i, (const uint8_t *const *) fields, &block,
                                         error);
        if (status == STEP_STATUS_OK)
            status = read_block(reading, block, error);
        if (tables_is_damage(status))
            status = STEP_STATUS_OK;
    }
    step_block_destroy(block);
    return status;
}

static bool is_number(const struct step_record *record, size_t field)
{
    return field != SIZE_MAX && record->fields[field].array_depth == 0 &&
           (record->fields[field].kind == STEP_TYPE_INT ||
            step_field_is_identifier(&record->fields[field]));
}

static enum step_status read_records(struct reading *reading, const char *name,
                                     const char *id_field, struct step_error *error)
{
    const struct step_definition *definition = reading->tables->definition;
    reading->record = tables_record(reading->tables, name);
    if (reading->record == STEP_NO_RECORD)
        return STEP_STATUS_OK;
    const struct step_record *record = &definition->records[reading->record];
    size_t time = step_record_find_field(record, "time");
    size_t id = step_record_find_field(record, id_field);
    if (!is_number(record, time) || !is_number(record, id))
        return STEP_STATUS_OK;
    uint8_t **fields = wanted_fields_create(definition, reading->record);
    if (fields == NULL)
        return no_memory(error);
    wanted_fields_add(fields, definition, reading->record, (uint32_t) time);
    wanted_fields_add(fields, definition, reading->record, (uint32_t) id);
    reading->time_slot = tables_slot(definition, reading->record, (uint32_t) time);
    reading->id_slot = tables_slot(definition, reading->record, (uint32_t) id);
    enum step_status status = read_blocks(reading, fields, error);
    wanted_fields_destroy(fields, definition);
    return status;
}

enum step_status entry_times_read(struct entry_times *times, struct tables *tables,
                                  const struct entry_events *events, struct step_error *error)
{
    struct reading reading = {
        .times = times, .tables = tables, .existing = tables_record(tables, events->existing)};
    id_table_init(&times->times, sizeof(struct entry_time));
    times->is_read = true;
    enum step_status status = read_records(&reading, events->begin, events->field, error);
    reading.is_end = true;
    if (status == STEP_STATUS_OK && events->end != NULL)
        status = read_records(&reading, events->end, events->field, error);
    return status;
}
