/* SPDX-License-Identifier: Apache-2.0 */
/* Compares ranges, threads and object numbers with the index. */
#include "analyses/tables/block_choice.h"

#include <stdlib.h>
#include <string.h>

#include "converter/containers/no_memory.h"
#include "format/core/grow.h"

/* An index range with numbers from here on cannot be compared with a signed query range. */
#define BEYOND_SIGNED (UINT64_C(1) << 63)

bool block_field_range(const struct tables *tables, size_t block, uint32_t owner, uint32_t field,
                       uint64_t *least, uint64_t *most)
{
    const struct step_definition *definition = tables->definition;
    const struct step_block_info *info = step_reader_block_info(tables->reader, block);
    bool found = false;
    *least = UINT64_MAX;
    *most = 0;
    for (size_t i = 0; i < info->type_count; i++) { /* a record type may override the field */
        uint32_t record = info->counts[i].record;
        if (step_record_extends(definition, record, owner) &&
            definition->records[record].fields[field].modified)
            return false;
    }
    for (size_t i = 0; i < info->range_count; i++) {
        const struct step_field_range *range = &info->ranges[i];
        if (range->field != field || !step_record_extends(definition, owner, range->record))
            continue;
        *least = range->least < *least ? range->least : *least;
        *most = range->most > *most ? range->most : *most;
        found = true;
    }
    return found;
}

static bool is_property(const struct tables *tables, const struct table_cell *cell,
                        const char *property)
{
    return step_record_find_property(tables->definition, cell->owner, property) == cell->slot;
}

/* Returns whether the block may have a row with the column in its wanted range. */
static bool may_have(const struct tables *tables, const struct table_request *request, size_t block,
                     size_t column)
{
    const struct table_cell *cell = &request->table->cells[column];
    const struct step_block_info *info = step_reader_block_info(tables->reader, block);
    uint64_t least, most, block_least, block_most;
    if (cell->owner == STEP_NO_RECORD ||
        (cell->kind != CELL_NUMBER && cell->kind != CELL_ID && cell->kind != CELL_TICKS))
        return true;
    if (request->table->base.columns[column].type == TABLE_INT)
        return true;
    bool any = row_filter_range(&request->filter, column, &least, &most);
    if (is_property(tables, cell, "time")) {
        block_least = info->time_min;
        block_most = info->time_max;
    } else if (is_property(tables, cell, "thread")) {
        block_least = info->thread_min;
        block_most = info->thread_max;
    } else if (!block_field_range(tables, block, cell->owner, cell->field, &block_least,
                                  &block_most)) {
        return true;
    }
    if (cell->kind == CELL_TICKS) {
        block_least = tables_time_ns(tables, block_least);
        block_most = tables_time_ns(tables, block_most);
    }
    return block_most >= BEYOND_SIGNED || (any && block_most >= least && block_least <= most);
}

static bool is_chosen(const struct tables *tables, const struct table_request *request,
                      size_t block)
{
    const struct row_filter *filter = &request->filter;
    const struct step_block_info *info = step_reader_block_info(tables->reader, block);
    bool chosen = true;
    for (size_t i = 0; chosen && i < filter->range_count; i++)
        chosen = may_have(tables, request, block, filter->ranges[i].column);
    if (chosen && filter->threads != NULL &&
        request->table->cells[filter->thread_column].owner != STEP_NO_RECORD &&
        is_property(tables, &request->table->cells[filter->thread_column], "thread"))
        chosen = row_filter_may_have_thread(filter, info->thread_min, info->thread_max);
    return chosen;
}

enum step_status block_choice_init(struct block_choice *choice, const struct tables *tables,
                                   const struct table_request *request, struct step_error *error)
{
    size_t end = step_reader_block_count(tables->reader);
    end = request->part.end_block < end ? request->part.end_block : end;
    *choice = (struct block_choice){.blocks = calloc(end + 1, sizeof *choice->blocks)};
    if (choice->blocks == NULL)
        return no_memory(error);
    for (size_t i = request->part.first_block; i < end; i++) {
        if (block_rows(tables, i, request->table->record) == 0)
            continue;
        if (is_chosen(tables, request, i))
            choice->blocks[choice->count++] = i;
        else
            choice->passed++;
    }
    if (request->by_time)
        blocks_sort_by_time(tables, choice->blocks, choice->count);
    return STEP_STATUS_OK;
}

void block_choice_reset(struct block_choice *choice)
{
    free(choice->blocks);
    *choice = (struct block_choice){0};
}

static int block_choice_compare(const void *a, const void *b, void *user)
{
    const struct tables *tables = user;
    size_t x = *(const size_t *) a;
    size_t y = *(const size_t *) b;
    uint64_t x_time = step_reader_block_info(tables->reader, x)->time_min;
    uint64_t y_time = step_reader_block_info(tables->reader, y)->time_min;
    if (x_time != y_time)
        return x_time < y_time ? -1 : 1;
    return x < y ? -1 : x > y;
}

void blocks_sort_by_time(const struct tables *tables, size_t *blocks, size_t count)
{
    qsort_r(blocks, count, sizeof *blocks, block_choice_compare, (void *) (uintptr_t) tables);
}

/* ---- parts ---- */

struct parts {
    struct table_part *items;
    size_t count, capacity;
};

static bool add_part(struct parts *parts, struct table_part part)
{
    if (!STEP_MAKE_ROOM(parts->items, parts->capacity, parts->count + 1))
        return false;
    parts->items[parts->count++] = part;
    return true;
}

/* Splits the chosen blocks into runs of about `rows` rows. */
static bool block_choice_cut(const struct tables *tables, const struct block_choice *choice,
                             uint32_t record, uint64_t rows, struct parts *parts)
{
    struct table_part part = {0};
    for (size_t i = 0; i < choice->count; i++) {
        size_t block = choice->blocks[i];
        uint64_t here = block_rows(tables, block, record);
        if (part.rows > 0 && part.rows + here > rows) {
            if (!add_part(parts, part))
                return false;
            part = (struct table_part){0};
        }
        if (part.rows == 0)
            part.first_block = block;
        part.rows += here;
        part.end_block = block + 1;
    }
    return part.rows == 0 || add_part(parts, part);
}

enum step_status table_parts(struct tables *tables, const struct table *table,
                             const struct table_query *query, uint64_t rows,
                             struct table_part **out, size_t *count, struct step_error *error)
{
    struct parts parts = {0};
    struct block_choice choice = {0};
    struct table_request request = {.table = table_definition_of(table),
                                    .part = {.end_block = SIZE_MAX}};
    enum step_status status = row_filter_init(&request.filter, table, query, error);
    bool is_cut = request.table->rows_from == ROWS_OF_BLOCKS;
    if (status == STEP_STATUS_OK && is_cut)
        status = block_choice_init(&choice, tables, &request, error);
    bool good =
        status != STEP_STATUS_OK ||
        (is_cut
             ? block_choice_cut(tables, &choice, request.table->record, rows, &parts)
             : add_part(&parts, (struct table_part){0, SIZE_MAX, table_row_count(tables, table)}));
    block_choice_reset(&choice);
    row_filter_reset(&request.filter);
    if (status != STEP_STATUS_OK || !good) {
        free(parts.items);
        return status != STEP_STATUS_OK ? status : no_memory(error);
    }
    *out = parts.items;
    *count = parts.count;
    return status;
}

uint8_t **wanted_fields_create(const struct step_definition *definition, uint32_t record)
{
    uint8_t **fields = calloc(definition->record_count + 1, sizeof *fields);
    for (uint32_t i = 0; fields != NULL && i < definition->record_count; i++) {
        if (!step_record_extends(definition, i, record))
            continue;
        fields[i] = calloc(definition->records[i].field_count + 1, 1);
        if (fields[i] == NULL) {
            wanted_fields_destroy(fields, definition);
            return NULL;
        }
    }
    return fields;
}

void wanted_fields_add(uint8_t **fields, const struct step_definition *definition,
                       const struct table_field *field)
{
    for (uint32_t i = 0; i < definition->record_count; i++)
        if (fields[i] != NULL && step_record_extends(definition, i, field->record))
            fields[i][field->field] = 1;
}

void wanted_fields_destroy(uint8_t **fields, const struct step_definition *definition)
{
    for (uint32_t i = 0; fields != NULL && i < definition->record_count; i++)
        free(fields[i]);
    free(fields);
}
