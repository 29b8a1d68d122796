/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A scan's rows as whole columns: each column's values in one piece of memory, which may be handed
 * on without a copy.
 *
 * Values by the column's type: numbers, times and durations are uint64_t (two's complement); bools
 * uint8_t; names int32_t, places in the column's own list of names, -1 for null; texts and data
 * uint64_t offsets, one more than rows, into `bytes`.
 */
#ifndef CONVERTER_TABLES_COLUMN_READER_H
#define CONVERTER_TABLES_COLUMN_READER_H

#include "converter/tables/shared_tables.h"
#include "format/core/bytes.h"

/* All memory is of malloc(); whoever takes a piece sets the pointer to NULL. */
struct whole_column {
    enum table_type type;
    void *values;
    uint8_t *validity; /* bit i % 8 of byte i / 8 is 1: row i is not null; NULL: none is */
    size_t null_count;
    struct step_buffer bytes;     /* of texts: UTF-8; of data: as they are */
    struct step_buffer names;     /* one after the other, UTF-8, in the order of their first rows */
    struct step_buffer name_ends; /* int32_t: where each ends, after a first 0 */
    size_t name_count;
    /* inside */
    size_t fresh_bytes; /* of values: how far the kernel was asked for memory */
    uint32_t *places;   /* by the dictionary's code: place in `names` + 1 */
    size_t place_count;
};

struct whole_columns {
    size_t row_count;
    struct whole_column *columns; /* as many as the query has, in their order */
    size_t column_count;
};

/* Lets go of what was not taken. */
void whole_columns_reset(struct whole_columns *columns);

struct column_reader;

/* The query is copied as table_scan_create() does; the reader holds the trace. */
enum step_status column_reader_create(struct shared_tables *shared, const struct table *table,
                                      const struct table_query *query, struct column_reader **out,
                                      struct step_error *error);
void column_reader_destroy(struct column_reader *reader);

/* The next rows, `most` of them or, at the end, fewer; END: there are none.  Takes the trace's
 * lock.
 */
enum step_status column_reader_next(struct column_reader *reader, uint64_t most,
                                    struct whole_columns *out, struct step_error *error);

/* What the query asks for: columns of the table, in its order. */
size_t column_reader_column_count(const struct column_reader *reader);
const struct table_column *column_reader_column(const struct column_reader *reader, size_t i);
struct shared_tables *column_reader_borrow_tables(const struct column_reader *reader);
struct table_scan_work column_reader_work(struct column_reader *reader);

#endif
