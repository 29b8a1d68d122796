/* SPDX-License-Identifier: Apache-2.0 */
/* Lengths are varints, numbers little-endian; nulls are a byte a row before the values. */
#include "converter/table_export/native_output.h"

#include <stdio.h>
#include <string.h>

static const char *plain_type(enum table_type type)
{
    switch (type) {
    case TABLE_INT:
        return "Int64";
    case TABLE_BOOL:
        return "UInt8";
    case TABLE_NAME:
    case TABLE_TEXT:
    case TABLE_DATA:
        return "String";
    default:
        return "UInt64";
    }
}

void native_type(const struct table_column *column, char *out, size_t out_size)
{
    snprintf(out, out_size, column->nullable ? "Nullable(%s)" : "%s", plain_type(column->type));
}

static bool put_text(struct step_buffer *out, struct step_bytes text)
{
    return step_buffer_append_varint(out, text.length) &&
           (text.length == 0 || step_buffer_append(out, text.data, text.length));
}

static bool put_nulls(struct step_buffer *out, const struct table_vector *vector, size_t count)
{
    if (!step_buffer_reserve(out, count))
        return false;
    for (size_t i = 0; i < count; i++)
        out->data[out->length + i] = table_vector_is_null(vector, i);
    out->length += count;
    return true;
}

static bool put_numbers(struct step_buffer *out, const uint64_t *numbers, size_t count)
{
    if (!step_buffer_reserve(out, count * 8))
        return false;
    for (size_t i = 0; i < count; i++)
        step_store_u64(out->data + out->length + i * 8, numbers[i]);
    out->length += count * 8;
    return true;
}

/* Names are put as they are: short ones, many times. */
static bool put_names(struct step_buffer *out, const struct table_vector *vector, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        static const struct step_bytes nothing;
        const struct step_bytes *text = table_vector_is_null(vector, i)
                                            ? &nothing
                                            : &vector->dictionary->texts[vector->codes[i]];
        if (!step_buffer_reserve(out, text->length + STEP_VARINT_MAX))
            return false;
        uint8_t *at = step_varint_put(out->data + out->length, text->length);
        if (text->length > 0)
            memcpy(at, text->data, text->length);
        out->length = (size_t) (at - out->data) + text->length;
    }
    return true;
}

static bool put_values(struct step_buffer *out, const struct table_vector *vector, size_t count)
{
    bool good = true;
    switch (vector->type) {
    case TABLE_BOOL:
        return step_buffer_append(out, vector->flags, count);
    case TABLE_NAME:
        return put_names(out, vector, count);
    case TABLE_TEXT:
    case TABLE_DATA:
        for (size_t i = 0; good && i < count; i++)
            good = put_text(out, vector->texts[i]);
        return good;
    default:
        return put_numbers(out, vector->numbers, count);
    }
}

bool native_put_block(struct step_buffer *out, const struct table *table, const size_t *columns,
                      size_t column_count, const struct table_batch *batch)
{
    bool good = step_buffer_append_varint(out, column_count) &&
                step_buffer_append_varint(out, batch->row_count);
    for (size_t i = 0; good && i < column_count; i++) {
        const struct table_column *column = &table->columns[columns[i]];
        char type[32];
        native_type(column, type, sizeof type);
        good = put_text(out, step_text(column->name)) && put_text(out, step_text(type)) &&
               (!column->nullable || put_nulls(out, &batch->vectors[i], batch->row_count)) &&
               put_values(out, &batch->vectors[i], batch->row_count);
    }
    return good;
}
