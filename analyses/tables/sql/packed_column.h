/* SPDX-License-Identifier: Apache-2.0 */
/* Some rows of a column in few bytes: the least value, and what each is more than that. */
#ifndef ANALYSES_TABLES_SQL_PACKED_COLUMN_H
#define ANALYSES_TABLES_SQL_PACKED_COLUMN_H

#include "analyses/tables/table.h"

enum packed_nulls { NO_NULLS, SOME_NULLS, ALL_NULLS };

/* What is written has, with SOME_NULLS, a bit for each row that is not null, then the differences;
 * both are padded to a multiple of 8 bytes. */
struct packed_column {
    uint64_t least;
    uint8_t width; /* bytes of a difference; 0: all values are the same */
    uint8_t nulls; /* enum packed_nulls */
    uint8_t unused[6];
};

/* Describes one row or more.  `is_null`: 0 or 1 by row; NULL: none is.  Gives the rows that are
 * null the value of one that is not, as they should not decide the width. */
struct packed_column packed_column_describe(uint64_t *values, const uint8_t *is_null, size_t rows);
/* Returns the bytes of so many rows. */
size_t packed_column_bytes(const struct packed_column *column, size_t rows);
/* Writes them. */
void packed_column_write(const struct packed_column *column, const uint64_t *values,
                         const uint8_t *is_null, size_t rows, uint8_t *out);
/* Reads them as the vector's type, into `room`, which has 8 bytes a row, and `validity`, which has
 * a bit; the vector borrows both. */
void packed_column_read(const struct packed_column *column, const uint8_t *in, size_t rows,
                        void *room, uint8_t *validity, struct table_vector *vector);

#endif
