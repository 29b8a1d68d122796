/* SPDX-License-Identifier: Apache-2.0 */
/* A scan: removes unwanted rows and columns from the maker's batches. */
#include "analyses/tables/table_rows.h"

#include <stdlib.h>
#include <string.h>

#include "analyses/tables/tables_trace.h"
#include "converter/containers/no_memory.h"

/* ---- storage of batches ---- */

static enum step_status row_builder_init(struct row_builder *builder, const struct table *table,
                                         const uint8_t *needed, size_t batch_rows,
                                         struct step_error *error)
{
    *builder = (struct row_builder){
        .column_count = table->column_count, .capacity = batch_rows, .columns = table->columns};
    builder->values = calloc(table->column_count + 1, sizeof *builder->values);
    builder->validity = calloc(table->column_count + 1, sizeof *builder->validity);
    builder->own = calloc(table->column_count + 1, sizeof *builder->own);
    if (builder->values == NULL || builder->validity == NULL || builder->own == NULL)
        return no_memory(error);
    for (size_t i = 0; i < table->column_count; i++) {
        if (needed[i] == 0)
            continue;
        builder->own[i] = malloc(builder->capacity * table_value_bytes(table->columns[i].type));
        builder->values[i] = builder->own[i];
        if (table->columns[i].nullable)
            builder->validity[i] = calloc(builder->capacity / 8 + sizeof(uint64_t), 1);
        if (builder->values[i] == NULL ||
            (table->columns[i].nullable && builder->validity[i] == NULL))
            return no_memory(error);
    }
    return STEP_STATUS_OK;
}

static void row_builder_reset(struct row_builder *builder)
{
    for (size_t i = 0; i < builder->column_count; i++) {
        if (builder->own != NULL)
            free(builder->own[i]);
        if (builder->validity != NULL)
            free(builder->validity[i]);
    }
    free(builder->own);
    free(builder->values);
    free(builder->validity);
    *builder = (struct row_builder){0};
}

static size_t count_valid(const uint8_t *validity, size_t count)
{
    size_t valid = 0;
    uint64_t word;
    for (size_t i = 0; i < count / 8 + 1; i += sizeof word) {
        memcpy(&word, validity + i, sizeof word);
        valid += (size_t) __builtin_popcountll(word);
    }
    return valid;
}

/* Returns the rows as vectors, valid until the next batch. */
static void row_builder_take(struct row_builder *builder, struct table_vector *vectors,
                             size_t *count)
{
    for (size_t i = 0; i < builder->column_count; i++) {
        struct table_vector *vector = &vectors[i];
        if (builder->values[i] == NULL)
            continue;
        vector->numbers = builder->values[i]; /* any member of the union will do */
        vector->validity = NULL;
        vector->null_count = 0;
        if (builder->validity[i] == NULL)
            continue;
        vector->null_count = builder->count - count_valid(builder->validity[i], builder->count);
        if (vector->null_count > 0)
            vector->validity = builder->validity[i];
    }
    *count = builder->count;
}

/* Begins a new batch. */
static void row_builder_begin(struct row_builder *builder)
{
    builder->count = 0;
    for (size_t i = 0; i < builder->column_count; i++)
        if (builder->validity[i] != NULL)
            memset(builder->validity[i], 0, builder->capacity / 8 + 1);
}

/* ---- row makers ---- */

static const struct table_rows_operations *rows_of(const struct table_request *request)
{
    const struct table_definition *table = request->table;
    bool is_made = table->rows_from != ROWS_OF_BLOCKS;
    for (size_t i = 0; i < table->base.column_count && !is_made; i++)
        is_made = request->needed[i] != 0 && table->cells[i].kind == CELL_MADE;
    return is_made ? table->rows : &record_rows;
}

/* Names of columns are of methods, of classes, or of few words. */
static const struct table_dictionary *dictionary_of(const struct tables *tables, const char *column)
{
    return strcmp(column, "method") == 0  ? &tables->method_names.dictionary
           : strcmp(column, "class") == 0 ? &tables->class_names.dictionary
                                          : &tables->words.dictionary;
}

static enum step_status table_scan_open_rows(struct table_rows *rows, struct step_error *error)
{
    const struct table_request *request = rows->request;
    const struct table *table = &request->table->base;
    enum step_status status = STEP_STATUS_OK;
    rows->vectors = calloc(table->column_count + 1, sizeof *rows->vectors);
    if (rows->vectors == NULL)
        return no_memory(error);
    for (size_t i = 0; i < table->column_count; i++) {
        rows->vectors[i].type = table->columns[i].type;
        if (table->columns[i].type == TABLE_NAME)
            rows->vectors[i].dictionary = dictionary_of(rows->tables, table->columns[i].name);
    }
    if (rows->operations->step != NULL)
        status =
            row_builder_init(&rows->builder, table, request->needed, request->batch_rows, error);
    return status == STEP_STATUS_OK ? rows->operations->open(rows, error) : status;
}

static void destroy_rows(struct table_rows *rows)
{
    if (rows == NULL)
        return;
    rows->operations->reset(rows);
    row_builder_reset(&rows->builder);
    free(rows->vectors);
    free(rows);
}

/* Returns END if there are no more rows. */
static enum step_status next_rows(struct table_rows *rows, size_t *count, struct step_error *error)
{
    enum step_status (*step)(struct table_rows *, bool *, struct step_error *) =
        rows->operations->step;
    bool has_more = true;
    if (step == NULL)
        return rows->operations->next(rows, count, error);
    row_builder_begin(&rows->builder);
    while (has_more && !row_builder_is_full(&rows->builder)) {
        enum step_status status = step(rows, &has_more, error);
        if (status != STEP_STATUS_OK)
            return status;
    }
    rows->first_id += rows->row_count;
    row_builder_take(&rows->builder, rows->vectors, count);
    rows->row_count = *count;
    return *count > 0 ? STEP_STATUS_OK : STEP_STATUS_END;
}

/* ---- ids of rows ---- */

/* Entries and objects are known by their number, the first column.  The maker of objects joins rows
 * in another order than that of the records, and passes over those that are not wanted. */
static bool has_key(const struct table_definition *table)
{
    return table->rows_from == ROWS_OF_DICTIONARY ||
           (table->rows_from == ROWS_OF_BLOCKS && table->rows != NULL);
}

/* Appends the ids of the batch's rows.  `selected`: which of the maker's rows these are; NULL: all.
 */
static enum step_status put_row_ids(struct table_scan *scan, const uint32_t *selected, size_t count,
                                    struct step_error *error)
{
    if (!scan->has_row_ids)
        return STEP_STATUS_OK;
    if (scan->row_ids == NULL)
        scan->row_ids = malloc((scan->request.batch_rows + 1) * sizeof *scan->row_ids);
    if (scan->row_ids == NULL)
        return no_memory(error);
    const uint64_t *keys = has_key(scan->request.table) ? scan->rows->vectors[0].numbers : NULL;
    for (size_t i = 0; i < count; i++) {
        size_t row = selected != NULL ? selected[i] : i;
        scan->row_ids[i] = keys != NULL ? keys[row] : scan->rows->first_id + row;
    }
    scan->vectors[scan->column_count] =
        (struct table_vector){.type = TABLE_UINT, .numbers = scan->row_ids};
    return STEP_STATUS_OK;
}

/* ---- life cycle ---- */

static enum step_status table_scan_choose_columns(struct table_scan *scan,
                                                  const struct table_query *query,
                                                  struct step_error *error)
{
    const struct table *table = &scan->request.table->base;
    scan->column_count = query->columns != NULL ? query->column_count : table->column_count;
    scan->columns = calloc(scan->column_count + 1, sizeof *scan->columns);
    scan->vectors = calloc(scan->column_count + 2, sizeof *scan->vectors);
    scan->room = calloc(scan->column_count + 1, sizeof *scan->room);
    scan->needed = calloc(table->column_count + 1, 1);
    if (scan->columns == NULL || scan->vectors == NULL || scan->room == NULL ||
        scan->needed == NULL)
        return no_memory(error);
    scan->request.needed = scan->needed;
    for (size_t i = 0; i < scan->column_count; i++) {
        scan->columns[i] = query->columns != NULL ? query->columns[i] : i;
        if (scan->columns[i] >= table->column_count)
            return step_error_set(error, STEP_STATUS_INVALID, NULL, STEP_NO_OFFSET,
                                  "table %s has no column %zu", table->name, scan->columns[i]);
        scan->needed[scan->columns[i]] = 1;
    }
    for (size_t i = 0; i < table->column_count; i++)
        scan->needed[i] |= row_filter_needs(&scan->request.filter, i);
    scan->needed[0] |= scan->has_row_ids && has_key(scan->request.table);
    return STEP_STATUS_OK;
}

static enum step_status table_scan_start(struct table_scan *scan, struct step_error *error)
{
    struct table_rows *rows = scan->rows;
    if (rows != NULL && rows->operations->restart != NULL) {
        rows->first_id = 1;
        rows->row_count = 0;
        return rows->operations->restart(rows, error);
    }
    destroy_rows(rows);
    const struct table_rows_operations *operations = rows_of(&scan->request);
    scan->rows = rows = calloc(1, operations->size_bytes);
    if (rows == NULL)
        return no_memory(error);
    rows->operations = operations;
    rows->tables = scan->tables;
    rows->first_id = 1;
    rows->request = &scan->request;
    enum step_status status = table_scan_open_rows(rows, error);
    if (status != STEP_STATUS_OK) {
        destroy_rows(rows);
        scan->rows = NULL;
    }
    return status;
}

enum step_status table_scan_create(struct tables *tables, const struct table *table,
                                   const struct table_query *query, struct table_scan **out,
                                   struct step_error *error)
{
    *out = NULL;
    struct table_scan *scan = calloc(1, sizeof *scan);
    if (scan == NULL)
        return no_memory(error);
    scan->tables = tables;
    scan->request.table = table_definition_of(table);
    scan->request.part = query->part != NULL ? *query->part : (struct table_part){0, SIZE_MAX, 0};
    scan->request.batch_rows = query->batch_rows != 0 ? query->batch_rows : TABLE_BATCH_ROWS;
    scan->request.by_time = query->by_time;
    scan->has_row_ids = query->has_row_ids;
    enum step_status status = row_filter_init(&scan->request.filter, table, query, error);
    if (status == STEP_STATUS_OK)
        status = table_scan_choose_columns(scan, query, error);
    if (status == STEP_STATUS_OK)
        status = table_scan_start(scan, error);
    if (status != STEP_STATUS_OK) {
        table_scan_destroy(scan);
        return status;
    }
    *out = scan;
    return status;
}

enum step_status table_scan_restart(struct table_scan *scan, const struct table_range *ranges,
                                    size_t range_count, struct step_error *error)
{
    struct row_filter *filter = &scan->request.filter;
    for (size_t i = 0; i < range_count; i++)
        if (i >= filter->range_count || ranges[i].column != filter->ranges[i].column)
            return step_error_set(error, STEP_STATUS_INVALID, NULL, STEP_NO_OFFSET,
                                  "a scan begins anew with ranges of the same columns");
    enum step_status status = row_filter_set_ranges(filter, ranges, range_count, error);
    return status == STEP_STATUS_OK ? table_scan_start(scan, error) : status;
}

void table_scan_destroy(struct table_scan *scan)
{
    if (scan == NULL)
        return;
    destroy_rows(scan->rows);
    row_filter_reset(&scan->request.filter);
    for (size_t i = 0; scan->room != NULL && i < scan->column_count; i++)
        column_room_reset(&scan->room[i]);
    free(scan->room);
    free(scan->columns);
    free(scan->vectors);
    free(scan->needed);
    free(scan->selected);
    free(scan->row_ids);
    free(scan);
}

void table_scan_lend(struct table_scan *scan, size_t column, void *values)
{
    if (scan->rows != NULL && scan->rows->operations->step != NULL)
        row_builder_lend(&scan->rows->builder, scan->columns[column], values);
}

size_t table_scan_batch_rows(const struct table_scan *scan)
{
    return scan->request.batch_rows;
}

struct table_scan_work table_scan_work(const struct table_scan *scan)
{
    return scan->rows != NULL ? scan->rows->work : (struct table_scan_work){0};
}

/* ---- batches ---- */

bool column_room_make(struct column_room *room, size_t rows, size_t value_bytes)
{
    if (room->values == NULL)
        room->values = malloc(rows * value_bytes + 1);
    if (room->validity == NULL)
        room->validity = malloc(rows / 8 + 1);
    return room->values != NULL && room->validity != NULL;
}

void column_room_reset(struct column_room *room)
{
    free(room->values);
    free(room->validity);
}

#define GATHER(member, kind)                                                                       \
    do {                                                                                           \
        kind *values = room->values;                                                               \
        for (size_t i = 0; i < count; i++)                                                         \
            values[i] = from->member[selected[i]];                                                 \
        to->member = values;                                                                       \
    } while (0)

/* Copies the selected rows of a vector. */
static void table_scan_gather(const struct table_vector *from, const uint32_t *selected,
                              size_t count, struct column_room *room, struct table_vector *to)
{
    *to = *from;
    switch (table_value_bytes(from->type)) {
    case sizeof(uint8_t):
        GATHER(flags, uint8_t);
        break;
    case sizeof(uint32_t):
        GATHER(codes, uint32_t);
        break;
    case sizeof(struct step_bytes):
        GATHER(texts, struct step_bytes);
        break;
    default:
        GATHER(numbers, uint64_t);
    }
    if (from->validity == NULL)
        return;
    memset(room->validity, 0, count / 8 + 1);
    size_t valid = 0;
    for (size_t i = 0; i < count; i++) {
        unsigned bit = from->validity[selected[i] / 8] >> selected[i] % 8 & 1u;
        room->validity[i / 8] |= (uint8_t) (bit << i % 8);
        valid += bit;
    }
    to->null_count = count - valid;
    to->validity = to->null_count > 0 ? room->validity : NULL;
}

static enum step_status take_all(struct table_scan *scan, size_t count, struct step_error *error)
{
    for (size_t i = 0; i < scan->column_count; i++)
        scan->vectors[i] = scan->rows->vectors[scan->columns[i]];
    scan->batch = (struct table_batch){count, scan->vectors};
    return put_row_ids(scan, NULL, count, error);
}

/* Returns END if none of the rows is wanted. */
static enum step_status take_selected(struct table_scan *scan, size_t count,
                                      struct step_error *error)
{
    size_t kept = 0;
    if (scan->selected == NULL)
        scan->selected = malloc((scan->request.batch_rows + 1) * sizeof *scan->selected);
    if (scan->selected == NULL)
        return no_memory(error);
    enum step_status status = row_filter_select(&scan->request.filter, scan->rows->vectors, count,
                                                scan->selected, &kept, error);
    if (status != STEP_STATUS_OK)
        return status;
    if (kept == count)
        return take_all(scan, count, error);
    if (kept == 0)
        return STEP_STATUS_END;
    for (size_t i = 0; i < scan->column_count; i++) {
        const struct table_vector *from = &scan->rows->vectors[scan->columns[i]];
        if (!column_room_make(&scan->room[i], scan->request.batch_rows,
                              table_value_bytes(from->type)))
            return no_memory(error);
        table_scan_gather(from, scan->selected, kept, &scan->room[i], &scan->vectors[i]);
    }
    scan->batch = (struct table_batch){kept, scan->vectors};
    return put_row_ids(scan, scan->selected, kept, error);
}

enum step_status table_scan_next(struct table_scan *scan, const struct table_batch **batch,
                                 struct step_error *error)
{
    const struct row_filter *filter = &scan->request.filter;
    bool all = filter->range_count == 0 && filter->threads == NULL && filter->class_glob == NULL;
    enum step_status status = STEP_STATUS_END;
    *batch = NULL;
    while (status == STEP_STATUS_END) {
        size_t count = 0;
        status = next_rows(scan->rows, &count, error);
        if (status != STEP_STATUS_OK)
            return status;
        status = all ? take_all(scan, count, error) : take_selected(scan, count, error);
    }
    *batch = &scan->batch;
    return status;
}
