/* SPDX-License-Identifier: Apache-2.0 */
/* Collecting the values of a row group. */
#include "converter/table_export/parquet_column.h"

#include <stdlib.h>
#include <string.h>

#include "converter/table_columns/utf8_text.h"

static size_t bytes_of(enum table_type type)
{
    return type == TABLE_BOOL                         ? 1
           : type == TABLE_NAME                       ? sizeof(uint32_t)
           : type == TABLE_TEXT || type == TABLE_DATA ? 0
                                                      : sizeof(uint64_t);
}

void parquet_column_init(struct parquet_column *column, const struct table_column *about,
                         size_t capacity, uint64_t added)
{
    *column = (struct parquet_column){.about = about, .capacity = capacity, .added = added};
}

void parquet_column_reset(struct parquet_column *column)
{
    free(column->values);
    free(column->present);
    free(column->text_ends);
    step_buffer_reset(&column->text);
    *column = (struct parquet_column){0};
}

static bool has_room(struct parquet_column *column)
{
    size_t size = bytes_of(column->about->type);
    if (column->values == NULL && size > 0)
        column->values = malloc(column->capacity * size);
    if (column->present == NULL && column->about->nullable)
        column->present = malloc(column->capacity);
    if (column->text_ends == NULL && size == 0)
        column->text_ends = malloc(column->capacity * sizeof *column->text_ends);
    return (size == 0 ? column->text_ends != NULL : column->values != NULL) &&
           (!column->about->nullable || column->present != NULL);
}

static bool put_text(struct parquet_column *column, struct step_bytes text)
{
    size_t start = column->text.length;
    bool good = column->about->type == TABLE_DATA
                    ? parquet_put_text(&column->text, text)
                    : parquet_put_text(&column->text, (struct step_bytes){NULL, 0}) &&
                          utf8_append(&column->text, text);
    if (good)
        step_store_u32(column->text.data + start, (uint32_t) (column->text.length - start - 4));
    column->text_ends[column->value_count] = column->text.length;
    return good;
}

static bool put_value(struct parquet_column *column, const struct table_vector *vector, size_t row)
{
    bool good = true;
    switch (vector->type) {
    case TABLE_BOOL:
        ((uint8_t *) column->values)[column->value_count] = vector->flags[row];
        break;
    case TABLE_NAME:
        ((uint32_t *) column->values)[column->value_count] = vector->codes[row];
        break;
    case TABLE_TEXT:
    case TABLE_DATA:
        good = put_text(column, vector->texts[row]);
        break;
    default:
        ((uint64_t *) column->values)[column->value_count] = vector->numbers[row] + column->added;
    }
    column->value_count++;
    return good;
}

/* Numbers, codes and flags without nulls, at once. */
static void put_all(struct parquet_column *column, const struct table_vector *vector, size_t from,
                    size_t count)
{
    size_t size = bytes_of(vector->type);
    memcpy((char *) column->values + column->value_count * size,
           (const char *) vector->numbers + from * size, count * size);
    column->value_count += count;
}

bool parquet_column_put(struct parquet_column *column, const struct table_vector *vector,
                        size_t from, size_t count)
{
    bool is_whole = vector->validity == NULL && bytes_of(vector->type) > 0 && column->added == 0;
    bool good = has_room(column);
    column->dictionary = vector->dictionary;
    if (!good)
        return false;
    if (is_whole)
        put_all(column, vector, from, count);
    if (is_whole && column->present != NULL)
        memset(column->present + column->row_count, 1, count);
    for (size_t i = 0; good && !is_whole && i < count; i++) {
        bool is_null = table_vector_is_null(vector, from + i);
        if (column->present != NULL)
            column->present[column->row_count + i] = !is_null;
        if (!is_null || column->present == NULL)
            good = put_value(column, vector, from + i);
    }
    column->row_count += count;
    return good;
}
