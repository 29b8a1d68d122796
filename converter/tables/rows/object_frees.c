/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks in the order of time, but those that no birth can meet. */
#include "converter/tables/rows/object_frees.h"

#include <stdlib.h>

#include "converter/base/no_memory.h"
#include "converter/tables/block_choice.h"
#include "converter/tables/wanted_fields.h"

/* Blocks of frees that may have objects that are wanted. */
static void choose_blocks(struct object_frees *frees, const struct object_births *births,
                          uint32_t object_field)
{
    const struct tables *tables = frees->tables;
    const struct block_choice *choice = object_births_choice(births);
    uint64_t least, most, from, to;
    bool has_range = object_births_range(births, &least, &most);
    uint64_t first = UINT64_MAX;
    for (size_t i = 0; i < choice->count; i++) {
        uint64_t time = step_reader_block_info(tables->reader, choice->blocks[i])->time_min;
        first = time < first ? time : first;
    }
    for (size_t i = 0; i < step_reader_block_count(tables->reader); i++) {
        if (block_rows(tables, i, frees->record) == 0)
            continue;
        bool is_late = step_reader_block_info(tables->reader, i)->time_max >= first;
        if (has_range && block_field_range(tables, i, frees->record, object_field, &from, &to))
            is_late = is_late && to >= least && from <= most;
        if (is_late)
            frees->blocks[frees->block_count++] = i;
        else
            frees->blocks_passed++;
    }
    blocks_sort_by_time(tables, frees->blocks, frees->block_count);
}

static bool is_number(const struct step_record *record, size_t field)
{
    return field != SIZE_MAX && record->fields[field].kind == STEP_TYPE_INT &&
           record->fields[field].array_depth == 0;
}

enum step_status object_frees_open(struct object_frees *frees, struct tables *tables,
                                   const struct object_births *births, bool wants_collections,
                                   struct step_error *error)
{
    const struct step_definition *definition = tables->definition;
    size_t blocks = step_reader_block_count(tables->reader);
    frees->tables = tables;
    frees->blocks = calloc(blocks + 1, sizeof *frees->blocks);
    frees->record = tables_record(tables, "java.ObjectFree");
    if (frees->blocks == NULL)
        return no_memory(error);
    if (frees->record == STEP_NO_RECORD)
        return STEP_STATUS_OK;
    const struct step_record *record = &definition->records[frees->record];
    size_t time = step_record_find_field(record, "time");
    size_t object = step_record_find_field(record, "object");
    if (!is_number(record, time) || !is_number(record, object))
        return STEP_STATUS_OK;
    frees->fields = wanted_fields_create(definition, frees->record);
    if (frees->fields == NULL)
        return no_memory(error);
    wanted_fields_add(frees->fields, definition, frees->record, (uint32_t) time);
    wanted_fields_add(frees->fields, definition, frees->record, (uint32_t) object);
    frees->has_collected = wants_collections && tables_collected_field(tables, &frees->collected);
    if (frees->has_collected)
        wanted_fields_add(frees->fields, definition, frees->collected.record,
                          frees->collected.field);
    frees->time_slot = tables_slot(definition, frees->record, (uint32_t) time);
    frees->object_slot = tables_slot(definition, frees->record, (uint32_t) object);
    choose_blocks(frees, births, (uint32_t) object);
    return wants_collections ? tables_find_collections(tables, error) : STEP_STATUS_OK;
}

void object_frees_close(struct object_frees *frees)
{
    if (frees->tables != NULL)
        wanted_fields_destroy(frees->fields, frees->tables->definition);
    step_block_destroy(frees->block);
    free(frees->blocks);
}

bool object_frees_next_time(const struct object_frees *frees, uint64_t *ticks)
{
    if (frees->block_at == frees->block_count)
        return false;
    size_t block = frees->blocks[frees->block_at];
    *ticks = step_reader_block_info(frees->tables->reader, block)->time_max;
    return true;
}

enum step_status object_frees_load(struct object_frees *frees, struct step_error *error)
{
    struct step_reader *reader = frees->tables->reader;
    size_t block = frees->blocks[frees->block_at++];
    frees->row = 0;
    frees->objects.count = 0;
    enum step_status status = step_reader_load_fields(
        reader, block, (const uint8_t *const *) frees->fields, &frees->block, error);
    frees->blocks_read++;
    if (status == STEP_STATUS_OK)
        status = collected_view_set(&frees->deaths, frees->block, frees->record, frees->time_slot,
                                    frees->has_collected ? &frees->collected : NULL, error);
    if (status == STEP_STATUS_OK)
        status = step_block_column(frees->block, frees->record, frees->record, frees->object_slot,
                                   &frees->objects, error);
    if (tables_is_damage(status))
        frees->objects.count = 0;
    return tables_is_damage(status) ? STEP_STATUS_OK : status;
}
