/* SPDX-License-Identifier: Apache-2.0 */
/* What is asked of the trace and its definition. */
#include "converter/tables/tables_trace.h"

#include <stdlib.h>

uint32_t tables_record(const struct tables *tables, const char *name)
{
    return step_definition_find(tables->definition, name);
}

size_t tables_slot(const struct step_definition *definition, uint32_t record, uint32_t field)
{
    size_t slot = 0;
    for (uint32_t i = 0; i < field; i++) {
        const struct step_field *before = &definition->records[record].fields[i];
        slot +=
            step_field_is_nested(before) ? step_record_slot_count(definition, before->record) : 1;
    }
    return slot;
}

const struct step_reader *tables_borrow_reader(const struct tables *tables)
{
    return tables->reader;
}

uint64_t tables_start_time_ns(const struct tables *tables)
{
    const char *text = step_reader_property(tables->reader, "start-time-ns");
    return text != NULL ? strtoull(text, NULL, 10) : 0;
}

enum step_status tables_damage(const struct tables *tables, struct step_error *error)
{
    const struct step_reader *reader = tables->reader;
    size_t count = step_reader_damage_count(reader);
    if (count > 0) {
        const struct step_damage *damage = step_reader_damage(reader, 0);
        return step_error_set(error, STEP_STATUS_CORRUPT, tables->path, damage->offset,
                              count > 1 ? "%s; and %zu more places" : "%s", damage->message,
                              count - 1);
    }
    if (tables->damage.status != STEP_STATUS_OK) {
        if (error != NULL)
            *error = tables->damage;
        return STEP_STATUS_CORRUPT;
    }
    if (!step_reader_is_whole(reader) && !step_reader_is_running(reader))
        return step_error_set(error, STEP_STATUS_CORRUPT, tables->path,
                              step_reader_file_size(reader),
                              "the trace ends before its end: it was cut, or its process died");
    return STEP_STATUS_OK;
}

uint64_t table_row_count(const struct tables *tables, const struct table *table)
{
    const struct table_definition *definition = table_definition_of(table);
    uint64_t rows = 0;
    if (definition->record == STEP_NO_RECORD)
        return 0;
    if (definition->rows_from == ROWS_OF_DICTIONARY)
        return step_reader_dictionary_count(tables->reader, definition->record);
    for (size_t i = 0; i < step_reader_block_count(tables->reader); i++) {
        const struct step_block_info *info = step_reader_block_info(tables->reader, i);
        for (size_t k = 0; k < info->type_count; k++)
            if (step_record_extends(tables->definition, info->counts[k].record, definition->record))
                rows += info->counts[k].count;
    }
    return rows;
}

bool table_has_fast_range(const struct tables *tables, const struct table *table, size_t column)
{
    (void) tables;
    return table_definition_of(table)->rows_from == ROWS_OF_DICTIONARY && column == 0;
}
