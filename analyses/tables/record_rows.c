/* SPDX-License-Identifier: Apache-2.0 */
/* Rows that are records of one type, read block by block. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyses/tables/block_choice.h"
#include "analyses/tables/makers.h"
#include "analyses/tables/tables_trace.h"
#include "converter/containers/no_memory.h"
#include "converter/numbers/estimates.h"
#include "converter/records/record_values.h"

struct record_rows {
    struct table_rows base;
    struct column_room *room; /* by column */
    char **json;              /* by column, for CELL_JSON: the texts, concatenated */
    struct block_choice choice;
    size_t at; /* index into `choice` */
    uint8_t **fields;
    struct table_field collected, drawn, class, time;
    bool has_collected, has_drawn, has_totals;
    /* The current block. */
    struct step_block *block;
    size_t row, row_count;
    struct step_column_view *views; /* by column */
    struct step_column_view types;
    struct collected_view deaths; /* for CELL_COLLECTION */
    struct step_column_view
        drawn_view; /* for CELL_WEIGHT; no rows: all with the trace's interval */
    struct step_column_view class_view, time_view; /* for CELL_WEIGHT with exact totals */
    uint64_t bound_ticks;                          /* maximum time of the block */
};

/* Returns whether the column's values are of a field. */
static bool is_of_field(const struct table_cell *cell)
{
    return cell->kind != CELL_MADE && cell->kind != CELL_IS && cell->kind != CELL_TYPE;
}

/* Returns whether the column has a view of a field: the trace's definition may lack it. */
static bool has_view(const struct table_cell *cell)
{
    return is_of_field(cell) && cell->owner != STEP_NO_RECORD;
}

/* Copies the validity of the rows from `from` on to a bitmap that starts with them. */
static void take_validity(struct record_rows *rows, size_t column, size_t from, size_t count,
                          struct table_vector *vector)
{
    const uint8_t *validity = rows->views[column].validity;
    uint8_t *out = rows->room[column].validity;
    vector->validity = NULL;
    vector->null_count = 0;
    if (validity == NULL)
        return;
    size_t valid = 0;
    memset(out, 0, count / 8 + 1);
    for (size_t i = 0; i < count; i++) {
        unsigned bit = validity[(from + i) / 8] >> (from + i) % 8 & 1u;
        out[i / 8] |= (uint8_t) (bit << i % 8);
        valid += bit;
    }
    vector->null_count = count - valid;
    vector->validity = valid < count ? out : NULL;
}

static void put_numbers(const struct step_column_view *view, size_t from, size_t count,
                        uint64_t *out)
{
    for (size_t i = 0; i < count; i++)
        out[i] = view->values[(from + i) * view->step];
}

/* Returns the weight that exact totals of classes leave of one by chance. */
static double corrected(const struct record_rows *rows, size_t row, uint64_t size, double chance)
{
    const struct tables *tables = rows->base.tables;
    uint64_t class_id = rows->class_view.values[row * rows->class_view.step];
    uint64_t ticks = rows->time_view.values[row * rows->time_view.step];
    return sample_totals_weight(
        tables->weights.totals,
        trace_class_of(&tables->weighed->names, class_id <= UINT32_MAX ? (uint32_t) class_id : 0)
            ->name,
        tables_time_ns(tables, ticks), size, chance);
}

/* From sizes, the bits of doubles. */
static void put_weights(const struct record_rows *rows, const struct step_column_view *view,
                        size_t from, size_t count, uint64_t *out)
{
    const struct step_column_view *drawn = &rows->drawn_view;
    for (size_t i = 0; i < count; i++) {
        uint64_t interval = drawn->count > 0 ? drawn->values[(from + i) * drawn->step] : 0;
        uint64_t size = view->values[(from + i) * view->step];
        double weight = sample_weight(size, java_interval(interval) != 0
                                                ? interval
                                                : rows->base.tables->sample_interval_bytes);
        if (rows->has_totals)
            weight = corrected(rows, from + i, size, weight);
        memcpy(&out[i], &weight, sizeof weight);
    }
}

static void put_times(const struct record_rows *rows, const struct step_column_view *view,
                      size_t from, size_t count, uint64_t *out)
{
    const struct tables *tables = rows->base.tables;
    if (tables_time_ns(tables, rows->bound_ticks) < UINT64_MAX) {
        for (size_t i = 0; i < count; i++)
            out[i] = view->values[(from + i) * view->step] * tables->resolution_ns;
        return;
    }
    for (size_t i = 0; i < count; i++)
        out[i] = tables_time_ns(tables, view->values[(from + i) * view->step]);
}

/* Makes zeros null. */
static void null_zeros(struct record_rows *rows, size_t column, const uint64_t *values,
                       size_t count, struct table_vector *vector)
{
    uint8_t *validity = rows->room[column].validity;
    size_t zeros = 0;
    for (size_t i = 0; i < count; i++)
        zeros += values[i] == 0;
    vector->null_count = zeros;
    vector->validity = zeros > 0 ? validity : NULL;
    if (zeros == 0)
        return;
    memset(validity, 0, count / 8 + 1);
    for (size_t i = 0; i < count; i++)
        validity[i / 8] |= (uint8_t) ((values[i] != 0) << i % 8);
}

static uint32_t record_rows_code_of(struct tables *tables, enum cell_kind kind, uint64_t id)
{
    return kind == CELL_CLASS    ? tables_class_code(tables, id)
           : kind == CELL_METHOD ? tables_method_code(tables, id)
                                 : tables_class_code(tables, tables_method_class(tables, id));
}

/* Looks up the names of ids; id 0 becomes null. */
static bool put_codes(struct record_rows *rows, size_t column, size_t from, size_t count,
                      struct table_vector *vector)
{
    struct tables *tables = rows->base.tables;
    enum cell_kind kind = rows->base.request->table->cells[column].kind;
    const struct step_column_view *view = &rows->views[column];
    uint32_t *codes = rows->room[column].values;
    uint8_t *validity = rows->room[column].validity;
    uint64_t last = 0;
    uint32_t last_code = 0;
    bool last_known = false;
    size_t valid = 0;
    memset(validity, 0, count / 8 + 1);
    for (size_t i = 0; i < count; i++) {
        uint64_t id = view->values[(from + i) * view->step];
        if (id != last) {
            last_code = record_rows_code_of(tables, kind, id);
            last = id;
            last_known = kind != CELL_METHOD_CLASS || tables_method_class(tables, id) != 0;
            if (last_code == NO_NAME_CODE)
                return false;
        }
        bool known = id != 0 && last_known;
        codes[i] = known ? last_code : 0;
        validity[i / 8] |= (uint8_t) (known << i % 8);
        valid += known;
    }
    vector->codes = codes;
    vector->null_count = count - valid;
    vector->validity = valid < count ? validity : NULL;
    vector->dictionary =
        kind == CELL_METHOD ? &tables->method_names.dictionary : &tables->class_names.dictionary;
    return true;
}

static void put_texts(const struct step_column_view *view, size_t from, size_t count,
                      struct step_bytes *out)
{
    for (size_t i = 0; i < count; i++) {
        const struct step_bytes *bytes = step_slot_bytes(view->values[(from + i) * view->step]);
        out[i] = bytes != NULL ? *bytes : (struct step_bytes){NULL, 0};
    }
}

static bool record_rows_put_json(struct record_rows *rows, size_t column, size_t from, size_t count)
{
    const struct tables *tables = rows->base.tables;
    const struct table_cell *cell = &rows->base.request->table->cells[column];
    const struct step_field *field = &tables->definition->records[cell->owner].fields[cell->field];
    const struct step_column_view *view = &rows->views[column];
    char **json = &rows->json[column];
    struct step_bytes *texts = rows->room[column].values;
    struct record_values values;
    size_t length = 0;
    free(*json);
    *json = NULL;
    FILE *memory = open_memstream(json, &length);
    if (memory == NULL)
        return false;
    record_values_init(&values, tables->reader, memory);
    for (size_t i = 0; i < count; i++) {
        long start = ftell(memory);
        if (view->validity == NULL || (view->validity[(from + i) / 8] >> (from + i) % 8 & 1) != 0)
            record_values_put(&values, field, 0, &view->values[(from + i) * view->step], true);
        texts[i] = (struct step_bytes){NULL, (size_t) (ftell(memory) - start)};
    }
    if (fclose(memory) != 0)
        return false;
    const uint8_t *at = (const uint8_t *) *json;
    for (size_t i = 0; i < count; i++) {
        texts[i].data = at;
        at += texts[i].length;
    }
    return true;
}

static void put_flags(const struct record_rows *rows, uint32_t owner, size_t from, size_t count,
                      uint8_t *out)
{
    const struct step_definition *definition = rows->base.tables->definition;
    uint64_t last = UINT64_MAX;
    bool is = false;
    if (rows->types.step == 0 && count > 0) { /* all records have the same type */
        is = owner != STEP_NO_RECORD &&
             step_record_extends(definition, (uint32_t) rows->types.values[0], owner);
        memset(out, is, count);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        uint64_t type = rows->types.values[(from + i) * rows->types.step];
        if (type != last)
            is = owner != STEP_NO_RECORD && step_record_extends(definition, (uint32_t) type, owner);
        last = type;
        out[i] = is;
    }
}

static void record_rows_put_types(const struct record_rows *rows, size_t from, size_t count,
                                  uint32_t *out)
{
    for (size_t i = 0; i < count; i++)
        out[i] = (uint32_t) rows->types.values[(from + i) * rows->types.step];
}

static void record_rows_put_collections(const struct record_rows *rows, size_t from, size_t count,
                                        uint64_t *out)
{
    uint64_t last = 0;
    uint64_t number = 0;
    for (size_t i = 0; i < count; i++) {
        uint64_t ticks = collected_view_ticks(&rows->deaths, from + i);
        if (i == 0 || ticks != last)
            number = 1 + tables_collections_before(rows->base.tables,
                                                   tables_time_ns(rows->base.tables, ticks));
        last = ticks;
        out[i] = number;
    }
}

static void put_nothing(struct record_rows *rows, size_t column, size_t count,
                        struct table_vector *vector)
{
    static const struct table_dictionary nothing;
    memset(rows->room[column].values, 0, count * sizeof(struct step_bytes));
    memset(rows->room[column].validity, 0, count / 8 + 1);
    vector->numbers = rows->room[column].values;
    vector->validity = rows->room[column].validity;
    vector->null_count = count;
    vector->dictionary = &nothing;
}

/* Fills a column with rows of the block from `from` on, replacing its contents.  Returns false
 * if out of memory. */
static bool record_rows_fill(struct record_rows *rows, size_t column, size_t from, size_t count)
{
    const struct table_cell *cell = &rows->base.request->table->cells[column];
    const struct step_column_view *view = &rows->views[column];
    struct table_vector *vector = &rows->base.vectors[column];
    if (!column_room_make(&rows->room[column], rows->base.request->batch_rows,
                          sizeof(struct step_bytes)))
        return false;
    void *values = rows->room[column].values;
    if (is_of_field(cell) && !has_view(cell)) {
        put_nothing(rows, column, count, vector);
        return true;
    }
    take_validity(rows, column, from, count, vector);
    switch (cell->kind) {
    case CELL_ID:
    case CELL_NUMBER:
        vector->numbers = view->values + from;
        if (view->step != 1) { /* 0: one value for all rows; more: field of a numbered record */
            put_numbers(view, from, count, values);
            vector->numbers = values;
        }
        if (cell->kind == CELL_ID)
            null_zeros(rows, column, vector->numbers, count, vector);
        return true;
    case CELL_TICKS:
        put_times(rows, view, from, count, values);
        break;
    case CELL_CLASS:
    case CELL_METHOD:
    case CELL_METHOD_CLASS:
        return put_codes(rows, column, from, count, vector);
    case CELL_TEXT:
        put_texts(view, from, count, values);
        vector->texts = values;
        return true;
    case CELL_JSON:
        vector->texts = values;
        return record_rows_put_json(rows, column, from, count);
    case CELL_IS:
        put_flags(rows, cell->owner, from, count, values);
        vector->flags = values;
        return true;
    case CELL_TYPE:
        record_rows_put_types(rows, from, count, values);
        vector->codes = values;
        vector->dictionary = &rows->base.tables->type_names.dictionary;
        return true;
    case CELL_COLLECTION:
        record_rows_put_collections(rows, from, count, values);
        break;
    case CELL_WEIGHT:
        put_weights(rows, view, from, count, values);
        break;
    case CELL_MADE:
    case CELL_LIFE_WEIGHT:
        return true;
    }
    vector->numbers = values;
    return true;
}

static enum step_status view_block(struct record_rows *rows, struct step_error *error)
{
    const struct table_definition *table = rows->base.request->table;
    enum step_status status = STEP_STATUS_OK;
    for (size_t i = 0; i < table->base.column_count && status == STEP_STATUS_OK; i++) {
        const struct table_cell *cell = &table->cells[i];
        if (rows->base.request->needed[i] == 0 || !has_view(cell))
            continue;
        status = step_block_column(rows->block, table->record, cell->owner, cell->slot,
                                   &rows->views[i], error);
        if (status == STEP_STATUS_OK && cell->kind == CELL_COLLECTION)
            status = collected_view_set(&rows->deaths, rows->block, table->record, cell->slot,
                                        rows->has_collected ? &rows->collected : NULL, error);
        if (status == STEP_STATUS_OK && cell->kind == CELL_WEIGHT && rows->has_drawn)
            status = step_block_column(rows->block, table->record, rows->drawn.record,
                                       rows->drawn.slot, &rows->drawn_view, error);
    }
    if (status == STEP_STATUS_OK && rows->has_totals)
        status = step_block_column(rows->block, table->record, rows->class.record, rows->class.slot,
                                   &rows->class_view, error);
    if (status == STEP_STATUS_OK && rows->has_totals)
        status = step_block_column(rows->block, table->record, rows->time.record, rows->time.slot,
                                   &rows->time_view, error);
    if (status == STEP_STATUS_OK)
        status = step_block_types(rows->block, table->record, &rows->types, error);
    rows->row_count = rows->types.count;
    return status;
}

/* Loads the next readable block. */
static enum step_status record_rows_load(struct record_rows *rows, struct step_error *error)
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
        rows->bound_ticks = step_reader_block_info(reader, block)->time_max;
        if (status == STEP_STATUS_OK)
            status = view_block(rows, error);
        if (status != STEP_STATUS_OK && !tables_is_damage(status))
            return status;
        if (status != STEP_STATUS_OK)
            rows->row_count = 0;
    }
    return STEP_STATUS_OK;
}

static enum step_status record_rows_next(struct table_rows *base, size_t *count,
                                         struct step_error *error)
{
    struct record_rows *rows = (struct record_rows *) base;
    const struct table *table = &base->request->table->base;
    if (rows->row == rows->row_count) {
        enum step_status status = record_rows_load(rows, error);
        if (status != STEP_STATUS_OK)
            return status;
    }
    size_t left = rows->row_count - rows->row;
    *count = left < base->request->batch_rows ? left : base->request->batch_rows;
    for (size_t i = 0; i < table->column_count; i++) {
        if (base->request->needed[i] == 0)
            continue;
        if (!record_rows_fill(rows, i, rows->row, *count))
            return no_memory(error);
    }
    base->first_id = ((uint64_t) rows->choice.blocks[rows->at - 1] << 32) + rows->row + 1;
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

/* ---- life cycle ---- */

static void record_rows_reset(struct table_rows *base)
{
    struct record_rows *rows = (struct record_rows *) base;
    for (size_t i = 0; i < base->request->table->base.column_count; i++) {
        if (rows->room != NULL)
            column_room_reset(&rows->room[i]);
        if (rows->json != NULL)
            free(rows->json[i]);
    }
    free(rows->room);
    free(rows->json);
    free(rows->views);
    wanted_fields_destroy(rows->fields, base->tables->definition);
    step_block_destroy(rows->block);
    block_choice_reset(&rows->choice);
}

static void want_drawn(struct record_rows *rows)
{
    const struct tables *tables = rows->base.tables;
    rows->has_drawn = tables_field(tables, DRAWN_FIELD, &rows->drawn);
    if (rows->has_drawn)
        wanted_fields_add(rows->fields, tables->definition, &rows->drawn);
}

/* The totals say by class and time what a sample stands for. */
static enum step_status want_totals(struct record_rows *rows, struct step_error *error)
{
    struct tables *tables = rows->base.tables;
    enum step_status status = tables_find_weights(tables, error);
    if (status != STEP_STATUS_OK || tables->weights.totals == NULL)
        return status;
    rows->has_totals = tables_field(tables, CLASS_FIELD, &rows->class) &&
                       tables_field(tables, TIME_FIELD, &rows->time);
    if (rows->has_totals) {
        wanted_fields_add(rows->fields, tables->definition, &rows->class);
        wanted_fields_add(rows->fields, tables->definition, &rows->time);
    }
    return status;
}

static enum step_status record_rows_open(struct table_rows *base, struct step_error *error)
{
    struct record_rows *rows = (struct record_rows *) base;
    const struct table_request *request = base->request;
    const struct table_definition *table = request->table;
    struct tables *tables = rows->base.tables;
    enum step_status status = STEP_STATUS_OK;
    rows->fields = wanted_fields_create(tables->definition, table->record);
    rows->views = calloc(table->base.column_count + 1, sizeof *rows->views);
    rows->room = calloc(table->base.column_count + 1, sizeof *rows->room);
    rows->json = calloc(table->base.column_count + 1, sizeof *rows->json);
    if (rows->fields == NULL || rows->views == NULL || rows->room == NULL || rows->json == NULL)
        return no_memory(error);
    for (size_t i = 0; i < table->base.column_count && status == STEP_STATUS_OK; i++) {
        if (request->needed[i] == 0)
            continue;
        if (has_view(&table->cells[i]))
            wanted_fields_add(rows->fields, tables->definition,
                              &(struct table_field){table->cells[i].owner, table->cells[i].field,
                                                    table->cells[i].slot});
        if (table->cells[i].kind == CELL_WEIGHT) {
            want_drawn(rows);
            status = want_totals(rows, error);
        }
        if (table->cells[i].kind != CELL_COLLECTION)
            continue;
        rows->has_collected = tables_field(tables, COLLECTED_FIELD, &rows->collected);
        if (rows->has_collected)
            wanted_fields_add(rows->fields, tables->definition, &rows->collected);
        status = tables_find_collections(tables, error);
    }
    if (status == STEP_STATUS_OK)
        status = block_choice_init(&rows->choice, tables, request, error);
    base->work.blocks_passed = rows->choice.passed;
    return status;
}

const struct table_rows_operations record_rows = {.size_bytes = sizeof(struct record_rows),
                                                  .open = record_rows_open,
                                                  .next = record_rows_next,
                                                  .reset = record_rows_reset};
