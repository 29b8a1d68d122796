/* SPDX-License-Identifier: Apache-2.0 */
/* Rows that are the records of one type: block after block, batch after batch. */
#include "converter/tables/rows/record_rows.h"

#include <stdlib.h>

#include "converter/base/no_memory.h"
#include "converter/tables/rows/makers.h"
#include "converter/tables/rows/record_batch.h"
#include "converter/tables/wanted_fields.h"

struct record_rows {
    struct table_rows base;
    struct block_choice choice;
    size_t at; /* in the choice */
    uint8_t **fields;
    struct step_block *block;
    size_t row, row_count; /* of the block */
    struct record_batch batch;
    struct collected_field collected;
    bool has_collected;
};

static struct record_rows *of(struct table_rows *rows)
{
    return (struct record_rows *) rows;
}

static enum step_status view_block(struct record_rows *rows, struct step_error *error)
{
    const struct table_definition *table = rows->base.wish->table;
    enum step_status status = STEP_STATUS_OK;
    for (size_t i = 0; i < table->base.column_count && status == STEP_STATUS_OK; i++) {
        const struct table_cell *cell = &table->cells[i];
        if (rows->base.wish->needed[i] == 0 || !record_cell_has_view(cell))
            continue;
        status = step_block_column(rows->block, table->record, cell->owner, cell->slot,
                                   &rows->batch.views[i], error);
        if (status == STEP_STATUS_OK && cell->kind == CELL_COLLECTION)
            status = collected_view_set(&rows->batch.deaths, rows->block, table->record, cell->slot,
                                        rows->has_collected ? &rows->collected : NULL, error);
    }
    if (status == STEP_STATUS_OK)
        status = step_block_types(rows->block, table->record, &rows->batch.types, error);
    rows->row_count = rows->batch.types.count;
    return status;
}

/* The next block that can be read. */
static enum step_status load(struct record_rows *rows, struct step_error *error)
{
    struct step_reader *reader = rows->base.tables->reader;
    rows->row = rows->row_count = 0;
    while (rows->row_count == 0) {
        if (rows->at == rows->choice.count)
            return STEP_STATUS_END;
        size_t block = rows->choice.blocks[rows->at++];
        enum step_status status = step_reader_load_fields(
            reader, block, (const uint8_t *const *) rows->fields, &rows->block, error);
        rows->base.work.blocks_read++;
        rows->batch.bound_ticks = step_reader_block_info(reader, block)->time_max;
        if (status == STEP_STATUS_OK)
            status = view_block(rows, error);
        if (status != STEP_STATUS_OK && !tables_is_damage(status))
            return status;
        if (status != STEP_STATUS_OK)
            rows->row_count = 0;
    }
    return STEP_STATUS_OK;
}

static enum step_status next(struct table_rows *base, size_t *count, struct step_error *error)
{
    struct record_rows *rows = of(base);
    const struct table *table = &base->wish->table->base;
    if (rows->row == rows->row_count) {
        enum step_status status = load(rows, error);
        if (status != STEP_STATUS_OK)
            return status;
    }
    size_t left = rows->row_count - rows->row;
    *count = left < base->wish->batch_rows ? left : base->wish->batch_rows;
    for (size_t i = 0; i < table->column_count; i++) {
        if (base->wish->needed[i] == 0)
            continue;
        if (!record_batch_fill(&rows->batch, i, rows->row, *count))
            return no_memory(error);
    }
    rows->row += *count;
    return STEP_STATUS_OK;
}

bool record_rows_next_time(const struct table_rows *base, uint64_t *ticks)
{
    const struct record_rows *rows = (const struct record_rows *) base;
    *ticks = 0;
    if (rows->row < rows->row_count)
        return true;
    if (rows->at >= rows->choice.count)
        return false;
    *ticks = step_reader_block_info(base->tables->reader, rows->choice.blocks[rows->at])->time_min;
    return true;
}

const struct block_choice *record_rows_choice(const struct table_rows *base)
{
    return &((const struct record_rows *) base)->choice;
}

/* ---- from start to end ---- */

static void destroy(struct table_rows *base)
{
    struct record_rows *rows = of(base);
    record_batch_reset(&rows->batch);
    wanted_fields_destroy(rows->fields, base->tables->definition);
    step_block_destroy(rows->block);
    block_choice_reset(&rows->choice);
    table_rows_reset(base);
    free(rows);
}

static const struct table_rows_operations operations = {.next = next, .destroy = destroy};

static enum step_status prepare(struct record_rows *rows, struct step_error *error)
{
    const struct table_wish *wish = rows->base.wish;
    const struct table_definition *table = wish->table;
    struct tables *tables = rows->base.tables;
    enum step_status status = STEP_STATUS_OK;
    rows->fields = wanted_fields_create(tables->definition, table->record);
    if (!record_batch_init(&rows->batch, tables, wish, rows->base.vectors) || rows->fields == NULL)
        return no_memory(error);
    for (size_t i = 0; i < table->base.column_count && status == STEP_STATUS_OK; i++) {
        if (wish->needed[i] == 0)
            continue;
        if (record_cell_has_view(&table->cells[i]))
            wanted_fields_add(rows->fields, tables->definition, table->cells[i].owner,
                              table->cells[i].field);
        if (table->cells[i].kind != CELL_COLLECTION)
            continue;
        rows->has_collected = tables_collected_field(tables, &rows->collected);
        if (rows->has_collected)
            wanted_fields_add(rows->fields, tables->definition, rows->collected.record,
                              rows->collected.field);
        status = tables_find_collections(tables, error);
    }
    return status;
}

enum step_status record_rows_create(struct tables *tables, const struct table_wish *wish,
                                    struct table_rows **out, struct step_error *error)
{
    struct record_rows *rows = calloc(1, sizeof *rows);
    if (rows == NULL)
        return no_memory(error);
    enum step_status status = table_rows_init(&rows->base, &operations, tables, wish, error);
    if (status == STEP_STATUS_OK)
        status = prepare(rows, error);
    if (status == STEP_STATUS_OK)
        status = block_choice_init(&rows->choice, tables, wish, error);
    rows->base.work.blocks_passed = rows->choice.passed;
    *out = &rows->base;
    if (status != STEP_STATUS_OK) {
        destroy(&rows->base);
        *out = NULL;
    }
    return status;
}
