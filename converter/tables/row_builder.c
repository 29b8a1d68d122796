/* SPDX-License-Identifier: Apache-2.0 */
/* Storage of batches. */
#include "converter/tables/row_builder.h"

#include <stdlib.h>
#include <string.h>

#include "converter/base/no_memory.h"

static size_t bytes_of(enum table_type type)
{
    return type == TABLE_BOOL                         ? 1
           : type == TABLE_NAME                       ? sizeof(uint32_t)
           : type == TABLE_TEXT || type == TABLE_DATA ? sizeof(struct step_bytes)
                                                      : sizeof(uint64_t);
}

enum step_status row_builder_init(struct row_builder *builder, const struct table *table,
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
        builder->own[i] = malloc(builder->capacity * bytes_of(table->columns[i].type));
        builder->values[i] = builder->own[i];
        if (table->columns[i].nullable)
            builder->validity[i] = calloc(builder->capacity / 8 + sizeof(uint64_t), 1);
        if (builder->values[i] == NULL ||
            (table->columns[i].nullable && builder->validity[i] == NULL))
            return no_memory(error);
    }
    return STEP_STATUS_OK;
}

void row_builder_reset(struct row_builder *builder)
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

void row_builder_take(struct row_builder *builder, struct table_vector *vectors, size_t *count)
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

void row_builder_begin(struct row_builder *builder)
{
    builder->count = 0;
    for (size_t i = 0; i < builder->column_count; i++)
        if (builder->validity[i] != NULL)
            memset(builder->validity[i], 0, builder->capacity / 8 + 1);
}
