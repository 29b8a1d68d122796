/* SPDX-License-Identifier: Apache-2.0 */
/* Converts whole columns to Arrow arrays.  Transfers ownership of their memory; only bools are
 * copied. */
#include <stdlib.h>
#include <string.h>

#include "converter/tables/arrow_stream.h"

enum { BUFFERS_MOST = 3 };

static void release(struct ArrowArray *array)
{
    for (int64_t i = 0; array->children != NULL && i < array->n_children; i++) {
        struct ArrowArray *child = array->children[i];
        if (child != NULL && child->release != NULL)
            child->release(child);
        free(child);
    }
    if (array->dictionary != NULL && array->dictionary->release != NULL)
        array->dictionary->release(array->dictionary);
    free(array->dictionary);
    for (int64_t i = 0; array->buffers != NULL && i < array->n_buffers; i++)
        free((void *) (uintptr_t) array->buffers[i]);
    free(array->buffers);
    free(array->children);
    array->release = NULL;
}

static bool init(struct ArrowArray *array, size_t length, int64_t buffers)
{
    *array =
        (struct ArrowArray){.length = (int64_t) length, .n_buffers = buffers, .release = release};
    array->buffers = calloc(BUFFERS_MOST, sizeof(void *));
    return array->buffers != NULL;
}

/* Transfers memory to the array; allocates some if it is NULL, as Arrow requires a buffer. */
static bool give(struct ArrowArray *array, size_t buffer, void **memory)
{
    array->buffers[buffer] = *memory != NULL ? *memory : calloc(1, sizeof(uint64_t));
    *memory = NULL;
    return array->buffers[buffer] != NULL;
}

static bool give_bytes(struct ArrowArray *array, size_t buffer, struct step_buffer *bytes)
{
    void *data = bytes->data;
    *bytes = (struct step_buffer){0};
    return give(array, buffer, &data);
}

/* Packs flags into a bitmap. */
static bool give_flags(struct ArrowArray *array, const uint8_t *flags, size_t count)
{
    uint8_t *bits = calloc(count / 8 + 1, 1);
    for (size_t i = 0; bits != NULL && i < count; i++)
        bits[i / 8] |= (uint8_t) (flags[i] << i % 8);
    array->buffers[1] = bits;
    return bits != NULL;
}

static bool give_names(struct ArrowArray *array, struct whole_column *column)
{
    array->dictionary = calloc(1, sizeof *array->dictionary);
    return array->dictionary != NULL && init(array->dictionary, column->name_count, 3) &&
           give_bytes(array->dictionary, 1, &column->name_ends) &&
           give_bytes(array->dictionary, 2, &column->names);
}

static bool give_column(struct ArrowArray *array, struct whole_column *column, size_t rows)
{
    bool is_text = column->type == TABLE_TEXT || column->type == TABLE_DATA;
    if (!init(array, rows, is_text ? 3 : 2))
        return false;
    array->null_count = (int64_t) column->null_count;
    if (column->null_count > 0) {
        array->buffers[0] = column->validity;
        column->validity = NULL;
    }
    if (column->type == TABLE_BOOL)
        return give_flags(array, column->values, rows);
    return give(array, 1, &column->values) && (!is_text || give_bytes(array, 2, &column->bytes)) &&
           (column->type != TABLE_NAME || give_names(array, column));
}

bool arrow_array_of(struct whole_columns *columns, struct ArrowArray *out)
{
    bool good = init(out, columns->row_count, 1);
    out->children = calloc(columns->column_count + 1, sizeof(struct ArrowArray *));
    good = good && out->children != NULL;
    for (size_t i = 0; good && i < columns->column_count; i++) {
        out->children[i] = calloc(1, sizeof *out->children[i]);
        out->n_children++;
        good = out->children[i] != NULL &&
               give_column(out->children[i], &columns->columns[i], columns->row_count);
    }
    whole_columns_reset(columns);
    if (!good)
        release(out);
    return good;
}
