/* SPDX-License-Identifier: Apache-2.0 */
/* A function for each kind of cell. */
#include "converter/tables/rows/record_batch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "converter/records/record_values.h"

/* A column of the batch at hand. */
struct slice_room {
    void *values;
    uint8_t *validity;
    char *json; /* of CELL_JSON: the texts, one after the other */
};

bool record_batch_init(struct record_batch *batch, struct tables *tables,
                       const struct table_wish *wish, struct table_vector *vectors)
{
    size_t columns = wish->table->base.column_count;
    *batch = (struct record_batch){.tables = tables, .wish = wish, .vectors = vectors};
    batch->views = calloc(columns + 1, sizeof *batch->views);
    batch->room = calloc(columns + 1, sizeof *batch->room);
    return batch->views != NULL && batch->room != NULL;
}

void record_batch_reset(struct record_batch *batch)
{
    for (size_t i = 0; batch->room != NULL && i < batch->wish->table->base.column_count; i++) {
        free(batch->room[i].values);
        free(batch->room[i].validity);
        free(batch->room[i].json);
    }
    free(batch->room);
    free(batch->views);
}

bool record_cell_is_absent(const struct table_cell *cell)
{
    return cell->owner == STEP_NO_RECORD && cell->kind != CELL_MADE && cell->kind != CELL_IS &&
           cell->kind != CELL_TYPE;
}

bool record_cell_has_view(const struct table_cell *cell)
{
    return cell->kind != CELL_MADE && cell->kind != CELL_IS && cell->kind != CELL_TYPE &&
           !record_cell_is_absent(cell);
}

static bool has_room(struct record_batch *batch, size_t column, size_t bytes)
{
    struct slice_room *room = &batch->room[column];
    size_t count = batch->wish->batch_rows;
    if (room->values == NULL)
        room->values = malloc(count * bytes + 1);
    if (room->validity == NULL)
        room->validity = malloc(count / 8 + 1);
    return room->values != NULL && room->validity != NULL;
}

/* The validity of rows `from` on, as a bitmap that begins with them. */
static void take_validity(struct record_batch *batch, size_t column, size_t from, size_t count,
                          struct table_vector *vector)
{
    const uint8_t *validity = batch->views[column].validity;
    uint8_t *out = batch->room[column].validity;
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

static void put_times(const struct record_batch *batch, const struct step_column_view *view,
                      size_t from, size_t count, uint64_t *out)
{
    const struct tables *tables = batch->tables;
    if (tables_time_ns(tables, batch->bound_ticks) < UINT64_MAX) {
        for (size_t i = 0; i < count; i++)
            out[i] = view->values[(from + i) * view->step] * tables->resolution_ns;
        return;
    }
    for (size_t i = 0; i < count; i++)
        out[i] = tables_time_ns(tables, view->values[(from + i) * view->step]);
}

/* Where 0 stands for nothing. */
static void null_zeros(struct record_batch *batch, size_t column, const uint64_t *values,
                       size_t count, struct table_vector *vector)
{
    uint8_t *validity = batch->room[column].validity;
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

static uint32_t code_of(struct tables *tables, enum cell_kind kind, uint64_t id)
{
    return kind == CELL_CLASS    ? tables_class_code(tables, id)
           : kind == CELL_METHOD ? tables_method_code(tables, id)
                                 : tables_class_code(tables, tables_method_class(tables, id));
}

/* Names of numbers; those of 0 are null. */
static bool put_codes(struct record_batch *batch, size_t column, size_t from, size_t count,
                      struct table_vector *vector)
{
    struct tables *tables = batch->tables;
    enum cell_kind kind = batch->wish->table->cells[column].kind;
    const struct step_column_view *view = &batch->views[column];
    uint32_t *codes = batch->room[column].values;
    uint8_t *validity = batch->room[column].validity;
    uint64_t last = 0;
    uint32_t last_code = 0;
    bool last_known = false;
    size_t valid = 0;
    memset(validity, 0, count / 8 + 1);
    for (size_t i = 0; i < count; i++) {
        uint64_t id = view->values[(from + i) * view->step];
        if (id != last) {
            last_code = code_of(tables, kind, id);
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

static bool put_json(struct record_batch *batch, size_t column, size_t from, size_t count)
{
    const struct tables *tables = batch->tables;
    const struct table_cell *cell = &batch->wish->table->cells[column];
    const struct step_field *field = &tables->definition->records[cell->owner].fields[cell->field];
    const struct step_column_view *view = &batch->views[column];
    struct slice_room *room = &batch->room[column];
    struct step_bytes *texts = room->values;
    struct record_values values;
    size_t length = 0;
    free(room->json);
    room->json = NULL;
    FILE *memory = open_memstream(&room->json, &length);
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
    const uint8_t *at = (const uint8_t *) room->json;
    for (size_t i = 0; i < count; i++) {
        texts[i].data = at;
        at += texts[i].length;
    }
    return true;
}

static void put_flags(const struct record_batch *batch, uint32_t owner, size_t from, size_t count,
                      uint8_t *out)
{
    const struct step_definition *definition = batch->tables->definition;
    uint64_t last = UINT64_MAX;
    bool is = false;
    if (batch->types.step == 0 && count > 0) { /* all are of one type */
        is = owner != STEP_NO_RECORD &&
             step_record_extends(definition, (uint32_t) batch->types.values[0], owner);
        memset(out, is, count);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        uint64_t type = batch->types.values[(from + i) * batch->types.step];
        if (type != last)
            is = owner != STEP_NO_RECORD && step_record_extends(definition, (uint32_t) type, owner);
        last = type;
        out[i] = is;
    }
}

static void put_types(const struct record_batch *batch, size_t from, size_t count, uint32_t *out)
{
    for (size_t i = 0; i < count; i++)
        out[i] = (uint32_t) batch->types.values[(from + i) * batch->types.step];
}

static void put_collections(const struct record_batch *batch, size_t from, size_t count,
                            uint64_t *out)
{
    uint64_t last = 0;
    uint64_t number = 0;
    for (size_t i = 0; i < count; i++) {
        uint64_t ticks = collected_view_ticks(&batch->deaths, from + i);
        if (i == 0 || ticks != last)
            number =
                1 + tables_collections_before(batch->tables, tables_time_ns(batch->tables, ticks));
        last = ticks;
        out[i] = number;
    }
}

static void put_nothing(struct record_batch *batch, size_t column, size_t count,
                        struct table_vector *vector)
{
    static const struct table_dictionary nothing;
    memset(batch->room[column].values, 0, count * sizeof(struct step_bytes));
    memset(batch->room[column].validity, 0, count / 8 + 1);
    vector->numbers = batch->room[column].values;
    vector->validity = batch->room[column].validity;
    vector->null_count = count;
    vector->dictionary = &nothing;
}

bool record_batch_fill(struct record_batch *batch, size_t column, size_t from, size_t count)
{
    const struct table_cell *cell = &batch->wish->table->cells[column];
    const struct step_column_view *view = &batch->views[column];
    struct table_vector *vector = &batch->vectors[column];
    if (!has_room(batch, column, sizeof(struct step_bytes)))
        return false;
    void *values = batch->room[column].values;
    if (record_cell_is_absent(cell)) {
        put_nothing(batch, column, count, vector);
        return true;
    }
    take_validity(batch, column, from, count, vector);
    switch (cell->kind) {
    case CELL_ID:
    case CELL_NUMBER:
        vector->numbers = view->values + from;
        if (view->step == 0)
            put_numbers(view, from, count, values);
        if (view->step == 0)
            vector->numbers = values;
        if (cell->kind == CELL_ID)
            null_zeros(batch, column, vector->numbers, count, vector);
        return true;
    case CELL_TICKS:
        put_times(batch, view, from, count, values);
        break;
    case CELL_CLASS:
    case CELL_METHOD:
    case CELL_METHOD_CLASS:
        return put_codes(batch, column, from, count, vector);
    case CELL_TEXT:
        put_texts(view, from, count, values);
        vector->texts = values;
        return true;
    case CELL_JSON:
        vector->texts = values;
        return put_json(batch, column, from, count);
    case CELL_IS:
        put_flags(batch, cell->owner, from, count, values);
        vector->flags = values;
        return true;
    case CELL_TYPE:
        put_types(batch, from, count, values);
        vector->codes = values;
        vector->dictionary = &batch->tables->type_names.dictionary;
        return true;
    case CELL_COLLECTION:
        put_collections(batch, from, count, values);
        break;
    case CELL_MADE:
        return true;
    }
    vector->numbers = values;
    return true;
}
