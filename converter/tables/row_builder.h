/* SPDX-License-Identifier: Apache-2.0 */
/* Builds a batch row by row. */
#ifndef CONVERTER_TABLES_ROW_BUILDER_H
#define CONVERTER_TABLES_ROW_BUILDER_H

#include "converter/tables/table.h"

/* The values by column; NULL for columns that are not needed. */
struct row_builder {
    size_t column_count;
    size_t capacity, count;
    const struct table_column *columns;
    void **values;
    void **own;         /* the builder's own memory, used unless the caller lends some */
    uint8_t **validity; /* bitmaps of nullable columns */
};

static inline bool row_builder_is_full(const struct row_builder *builder)
{
    return builder->count == builder->capacity;
}

/* Makes the builder store the column's values in `values` from the next batch on; NULL: in its
 * own memory. */
static inline void row_builder_lend(struct row_builder *builder, size_t column, void *values)
{
    if (builder->own[column] != NULL)
        builder->values[column] = values != NULL ? values : builder->own[column];
}

/* To add a row, put each value once in any order, then call row_builder_end_row().  `is_null`
 * must be false unless the column is nullable. */
static inline void row_put(struct row_builder *builder, size_t column, uint64_t value, bool is_null)
{
    uint64_t *values = builder->values[column];
    if (values == NULL)
        return;
    values[builder->count] = is_null ? 0 : value;
    if (builder->validity[column] != NULL && !is_null)
        builder->validity[column][builder->count / 8] |= (uint8_t) (1u << builder->count % 8);
}

static inline void row_put_code(struct row_builder *builder, size_t column, uint32_t code,
                                bool is_null)
{
    uint32_t *values = builder->values[column];
    if (values == NULL)
        return;
    values[builder->count] = is_null ? 0 : code;
    if (builder->validity[column] != NULL && !is_null)
        builder->validity[column][builder->count / 8] |= (uint8_t) (1u << builder->count % 8);
}

static inline void row_put_flag(struct row_builder *builder, size_t column, bool value)
{
    uint8_t *values = builder->values[column];
    if (values != NULL)
        values[builder->count] = value;
}

static inline void row_put_text(struct row_builder *builder, size_t column, struct step_bytes text)
{
    struct step_bytes *values = builder->values[column];
    if (values != NULL)
        values[builder->count] = text;
}

static inline void row_builder_end_row(struct row_builder *builder)
{
    builder->count++;
}

#endif
