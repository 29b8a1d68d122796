/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the least width of a column's values, and writes and reads them. */
#include "analyses/tables/sql/packed_column.h"

#include <string.h>

static size_t whole_words(size_t bytes)
{
    return (bytes + 7) / 8 * 8;
}

static uint8_t width_of(uint64_t range)
{
    return range == 0            ? 0
           : range <= UINT8_MAX  ? 1
           : range <= UINT16_MAX ? 2
           : range <= UINT32_MAX ? 4
                                 : 8;
}

static struct packed_column packed_column_of_values(const uint64_t *values, size_t rows)
{
    uint64_t least = values[0], most = values[0];
    for (size_t i = 1; i < rows; i++) {
        least = values[i] < least ? values[i] : least;
        most = values[i] > most ? values[i] : most;
    }
    return (struct packed_column){.least = least, .width = width_of(most - least)};
}

struct packed_column packed_column_describe(uint64_t *values, const uint8_t *is_null, size_t rows)
{
    size_t known = 0;
    while (is_null != NULL && known < rows && is_null[known] != 0)
        known++;
    if (known == rows)
        return (struct packed_column){.nulls = ALL_NULLS};
    bool any = false;
    for (size_t i = 0; is_null != NULL && i < rows; i++) {
        values[i] = is_null[i] != 0 ? values[known] : values[i];
        any = any || is_null[i] != 0;
    }
    struct packed_column column = packed_column_of_values(values, rows);
    column.nulls = any ? SOME_NULLS : NO_NULLS;
    return column;
}

size_t packed_column_bytes(const struct packed_column *column, size_t rows)
{
    return whole_words(rows * column->width) +
           (column->nulls == SOME_NULLS ? whole_words((rows + 7) / 8) : 0);
}

#define NARROW(kind)                                                                               \
    for (size_t i = 0; i < rows; i++)                                                              \
    ((kind *) (void *) out)[i] = (kind) (values[i] - column->least)

void packed_column_write(const struct packed_column *column, const uint64_t *values,
                         const uint8_t *is_null, size_t rows, uint8_t *out)
{
    if (column->nulls == SOME_NULLS) {
        memset(out, 0, whole_words((rows + 7) / 8));
        for (size_t i = 0; i < rows; i++)
            out[i / 8] |= (uint8_t) ((is_null[i] == 0) << i % 8);
        out += whole_words((rows + 7) / 8);
    }
    size_t bytes = whole_words(rows * column->width);
    memset(out + bytes - (bytes > 0 ? 8 : 0), 0, bytes > 0 ? 8 : 0);
    if (column->width == sizeof(uint8_t))
        NARROW(uint8_t);
    else if (column->width == sizeof(uint16_t))
        NARROW(uint16_t);
    else if (column->width == sizeof(uint32_t))
        NARROW(uint32_t);
    else if (column->width == sizeof(uint64_t))
        NARROW(uint64_t);
}

#define WIDEN(member, to, from)                                                                    \
    do {                                                                                           \
        for (size_t i = 0; i < rows; i++)                                                          \
            ((to *) room)[i] = (to) (column->least + ((const from *) (const void *) in)[i]);       \
        vector->member = room;                                                                     \
    } while (0)
#define UNPACK(member, to)                                                                         \
    do {                                                                                           \
        if (column->width == sizeof(uint8_t))                                                      \
            WIDEN(member, to, uint8_t);                                                            \
        else if (column->width == sizeof(uint16_t))                                                \
            WIDEN(member, to, uint16_t);                                                           \
        else if (column->width == sizeof(uint32_t))                                                \
            WIDEN(member, to, uint32_t);                                                           \
        else if (column->width == sizeof(uint64_t))                                                \
            WIDEN(member, to, uint64_t);                                                           \
        for (size_t i = 0; column->width == 0 && i < rows; i++)                                    \
            ((to *) room)[i] = (to) column->least;                                                 \
        for (size_t i = 0; vector->validity != NULL && i < rows; i++)                              \
            ((to *) room)[i] = table_vector_is_null(vector, i) ? 0 : ((to *) room)[i];             \
        vector->member = room;                                                                     \
    } while (0)

void packed_column_read(const struct packed_column *column, const uint8_t *in, size_t rows,
                        void *room, uint8_t *validity, struct table_vector *vector)
{
    size_t validity_bytes = (rows + 7) / 8;
    vector->validity = NULL;
    vector->null_count = 0;
    if (column->nulls != NO_NULLS) {
        memset(validity, 0, validity_bytes);
        if (column->nulls == SOME_NULLS)
            memcpy(validity, in, validity_bytes);
        in += column->nulls == SOME_NULLS ? whole_words(validity_bytes) : 0;
        vector->validity = validity;
        vector->null_count = rows;
        for (size_t i = 0; i < validity_bytes; i++)
            vector->null_count -= (size_t) __builtin_popcount(validity[i]);
    }
    if (vector->type == TABLE_BOOL)
        UNPACK(flags, uint8_t);
    else if (vector->type == TABLE_NAME)
        UNPACK(codes, uint32_t);
    else
        UNPACK(numbers, uint64_t);
}
