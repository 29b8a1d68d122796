/* SPDX-License-Identifier: Apache-2.0 */
/* Room for a column's values, and appending a batch's to it. */
#ifndef CONVERTER_TABLE_COLUMNS_COLUMN_ROOM_H
#define CONVERTER_TABLE_COLUMNS_COLUMN_ROOM_H

#include "converter/table_columns/column_reader.h"

/* Room for `capacity` rows where there was some for `old`.  False: out of memory. */
bool whole_column_resize(struct whole_column *column, size_t old, size_t capacity);
/* Where the next row's value will be, `rows` being there, of numbers and bools with memory for
 * `count` more; NULL: they cannot be put there by others. */
void *whole_column_place(struct whole_column *column, size_t rows, size_t count, size_t capacity);
/* Appends `count` rows of the vector from `from` on behind the `at` that are there; the room is.
 * `capacity` is how many rows there is room for.  False: out of memory, or more than 2^31 - 1
 * bytes of names. */
bool whole_column_append(struct whole_column *column, const struct table_vector *vector,
                         size_t from, size_t count, size_t at, size_t capacity);
void whole_column_reset(struct whole_column *column);

#endif
