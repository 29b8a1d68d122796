/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Internals of analyses/tables: how rows are made.  A maker returns batches that contain all
 * wanted rows, with the needed columns; the scan removes the other rows.
 */
#ifndef ANALYSES_TABLES_TABLE_ROWS_H
#define ANALYSES_TABLES_TABLE_ROWS_H

#include "analyses/tables/table.h"

/* Builds a batch row by row. */

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

/* Filters rows by ranges of numbers, threads, and a class pattern. */

#define ROW_FILTER_NO_COLUMN SIZE_MAX

struct row_filter {
    const struct table *table;
    struct table_range *ranges;
    size_t range_count;
    size_t thread_column;
    uint64_t *threads; /* in ascending order; NULL: all */
    size_t thread_count;
    size_t class_column;
    char *class_glob;  /* NULL: all */
    uint8_t *class_is; /* by code: 0 not tested yet, 1 wanted, 2 not wanted */
    size_t class_capacity;
    uint8_t *keep; /* by row of the batch being filtered */
    size_t keep_capacity;
};

/* Copies the filters of a query.  Returns INVALID if the table lacks a column that they use. */
enum step_status row_filter_init(struct row_filter *filter, const struct table *table,
                                 const struct table_query *query, struct step_error *error);
void row_filter_reset(struct row_filter *filter);
enum step_status row_filter_set_ranges(struct row_filter *filter, const struct table_range *ranges,
                                       size_t count, struct step_error *error);

/* Returns whether the filter uses a column. */
bool row_filter_needs(const struct row_filter *filter, size_t column);

/* Gets the range that contains a column's values in all wanted rows, apart from values of 2^63
 * or more.  Not for TABLE_INT.  Returns false if no row can be wanted. */
bool row_filter_range(const struct row_filter *filter, size_t column, uint64_t *least,
                      uint64_t *most);
/* Returns whether rows with threads `least` to `most` may be wanted. */
bool row_filter_may_have_thread(const struct row_filter *filter, uint64_t least, uint64_t most);

/* Writes the numbers of the wanted rows to `selected`, and their count to `*selected_count`.
 * `vectors` is indexed by column of the table. */
enum step_status row_filter_select(struct row_filter *filter, const struct table_vector *vectors,
                                   size_t count, uint32_t *selected, size_t *selected_count,
                                   struct step_error *error);

/* How a column's value is derived from a record. */
enum cell_kind {
    CELL_MADE,         /* not from one field: computed by the maker */
    CELL_NUMBER,       /* the slot */
    CELL_TICKS,        /* the slot times the resolution */
    CELL_ID,           /* the slot; null if it is 0 */
    CELL_CLASS,        /* name of the class with that id */
    CELL_METHOD,       /* name of the method with that id */
    CELL_METHOD_CLASS, /* name of the class of the method with that id */
    CELL_TEXT,         /* the slot's bytes */
    CELL_JSON,         /* the slot as JSON */
    CELL_IS,           /* whether the record is an `owner` */
    CELL_TYPE,         /* name of the record type */
    CELL_COLLECTION,   /* number of the collection at that time */
    CELL_WEIGHT,       /* of a sampled trace: objects that a sample of that size stands for */
    CELL_LIFE_WEIGHT   /* and of which its death is known; as CELL_MADE in a table's cells */
};

struct table_cell {
    enum cell_kind kind;
    uint32_t owner; /* record type that defines the field */
    uint32_t field;
    size_t slot;
};

/* The origin of a table's rows, for counting and splitting them. */
enum rows_from {
    ROWS_MADE,         /* known to the maker only */
    ROWS_OF_BLOCKS,    /* each comes from one block that has such records */
    ROWS_OF_DICTIONARY /* dictionary entries in the order of their ids */
};

/* A table, and how to make its rows. */
struct table_definition {
    struct table base; /* must be first: every struct table is part of one of these */
    const struct table_rows_operations *rows; /* NULL: ROWS_OF_BLOCKS without a column that is
                                                 CELL_MADE */
    enum rows_from rows_from;
    uint32_t record;                /* type of the records; STEP_NO_RECORD: several */
    const struct table_cell *cells; /* by column; NULL: all are CELL_MADE */
    uint32_t made_of;               /* type of records without which there are no rows */
    const char *recorded_by; /* what these are, and what records them; NULL: any trace has them */
};

static inline const struct table_definition *table_definition_of(const struct table *table)
{
    return (const struct table_definition *) (const void *) table;
}

/* The rows and columns that a scan needs from the maker.  Lives as long as the scan. */
struct table_request {
    const struct table_definition *table;
    const uint8_t *needed; /* by column */
    struct row_filter filter;
    struct table_part part;
    size_t batch_rows;
    bool by_time; /* see struct table_query */
};

struct table_rows {
    const struct table_rows_operations *operations;
    struct tables *tables;
    const struct table_request *request;
    struct table_vector *vectors; /* by column of the table */
    struct row_builder builder;   /* of the operation `step` */
    size_t row_count;             /* of the operation `step`: rows of the last batch */
    uint64_t first_id;            /* of the batch's rows, whose ids are consecutive; unless the
                                     table's rows are known by their first column */
    struct table_scan_work work;
};

struct table_rows_operations {
    size_t size_bytes; /* of the rows' structure, which begins with a struct table_rows */
    /* Begins.  The rest of the structure is zero. */
    enum step_status (*open)(struct table_rows *rows, struct step_error *error);
    /* Adds rows to the builder if it has room, and clears `*has_more` if the batch ends here: if
     * it is empty, there are no more rows. */
    enum step_status (*step)(struct table_rows *rows, bool *has_more, struct step_error *error);
    /* Instead of `step`: fills `vectors` of the needed columns, sets `*count` to 1 to
     * request->batch_rows, and `first_id`; or returns END. */
    enum step_status (*next)(struct table_rows *rows, size_t *count, struct step_error *error);
    /* Restarts with the current request; NULL: not supported, make new rows. */
    enum step_status (*restart)(struct table_rows *rows, struct step_error *error);
    /* Frees what the structure holds, also after an open that failed. */
    void (*reset)(struct table_rows *rows);
};

/* Rows that are records of one type, for all tables of ROWS_OF_BLOCKS without columns that are
 * CELL_MADE. */
extern const struct table_rows_operations record_rows;

/* Internals of scans, for makers that read rows of other tables. */

/* Memory for the rows of a column in a batch. */
struct column_room {
    void *values;
    uint8_t *validity;
};

/* Makes room for so many rows, unless there is some.  Returns false if out of memory. */
bool column_room_make(struct column_room *room, size_t rows, size_t value_bytes);
void column_room_reset(struct column_room *room);

struct table_scan {
    struct tables *tables;
    struct table_request request;
    struct table_rows *rows;
    size_t *columns;
    size_t column_count;
    uint8_t *needed;              /* by column of the table */
    struct table_vector *vectors; /* by column of the query, then the rows' ids */
    struct column_room *room;     /* by column of the query */
    bool has_row_ids;
    uint64_t *row_ids;
    uint32_t *selected;
    struct table_batch batch;
};

#endif
