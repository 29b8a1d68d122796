/* SPDX-License-Identifier: Apache-2.0 */
/* Pending plain records of a stream, stored column by column. */
#include "format/step/columns/pending_columns.h"

#include <stdlib.h>

#include "format/core/grow.h"

void step_pending_columns_reset(struct step_pending_columns *columns)
{
    for (size_t i = 0; i < columns->column_count; i++)
        free(columns->columns[i].values);
    free(columns->columns);
    *columns = (struct step_pending_columns){0};
}

void step_pending_columns_clear(struct step_pending_columns *columns)
{
    for (size_t i = 0; i < columns->column_count; i++) {
        columns->columns[i].count = 0;
        columns->columns[i].varies = false;
        columns->columns[i].jumps = false;
    }
}

bool step_pending_columns_create(struct step_pending_columns *columns, size_t column_count)
{
    if (columns->columns != NULL)
        return true;
    columns->columns = calloc(column_count + 1, sizeof *columns->columns);
    columns->column_count = columns->columns != NULL ? column_count : 0;
    return columns->columns != NULL;
}

static bool make_room(struct step_pending_columns *columns, struct step_row_column *column,
                      size_t extra)
{
    size_t need = column->count + extra;
    if (need <= column->capacity)
        return true;
    size_t before = column->capacity;
    uint64_t *values = step_grown(column->values, &column->capacity, need, sizeof *values);
    if (values == NULL)
        return false;
    columns->capacity += column->capacity - before;
    column->values = values;
    return true;
}

uint64_t *step_pending_columns_reserve(struct step_pending_columns *columns, uint32_t number,
                                       size_t count)
{
    struct step_row_column *column = &columns->columns[number];
    if (!make_room(columns, column, count))
        return NULL;
    if (!column->varies)
        for (size_t i = 0; i < column->count; i++)
            column->values[i] = column->same;
    column->varies = true;
    return column->values + column->count;
}

bool step_pending_columns_repeat(struct step_pending_columns *columns, uint32_t number,
                                 uint64_t value, size_t count)
{
    struct step_row_column *column = &columns->columns[number];
    if (count == 0)
        return true;
    if (!column->varies && (column->count == 0 || column->same == value)) {
        column->same = value;
        column->count += count;
        return true;
    }
    uint64_t *values = step_pending_columns_reserve(columns, number, count);
    if (values == NULL)
        return false;
    for (size_t i = 0; i < count; i++)
        values[i] = value;
    step_pending_columns_take(columns, number, count, true);
    return true;
}

static bool has_room(const struct step_row_column *column, uint64_t value)
{
    return column->varies ? column->count < column->capacity
                          : column->count == 0 || column->same == value;
}

bool step_pending_columns_append(struct step_pending_columns *columns, const uint32_t *numbers,
                                 const uint64_t *values, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!has_room(&columns->columns[numbers[i]], values[i]))
            return false;
    for (size_t i = 0; i < count; i++) {
        struct step_row_column *column = &columns->columns[numbers[i]];
        if (column->varies) {
            uint64_t *place = column->values + column->count;
            column->jumps = column->jumps || (column->count != 0 && place[-1] > values[i]);
            *place = values[i];
        } else {
            column->same = values[i];
        }
        column->count++;
    }
    return true;
}

void step_pending_columns_take(struct step_pending_columns *columns, uint32_t number, size_t count,
                               bool ascend)
{
    struct step_row_column *column = &columns->columns[number];
    const uint64_t *first = column->values + column->count;
    if (count == 0)
        return;
    if (!ascend || (column->count != 0 && first[-1] > first[0]))
        column->jumps = true;
    column->count += count;
}
