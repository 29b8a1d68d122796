/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Internals of converter/tables: how rows are made.  A maker returns batches that contain all
 * wanted rows, with the needed columns; the scan removes the other rows.
 */
#ifndef CONVERTER_TABLES_TABLE_ROWS_H
#define CONVERTER_TABLES_TABLE_ROWS_H

#include "converter/tables/row_filter.h"
#include "converter/tables/table.h"

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

struct table_rows;
struct table_request;

typedef enum step_status (*table_rows_create)(struct tables *tables,
                                              const struct table_request *request,
                                              struct table_rows **out, struct step_error *error);

/* The origin of a table's rows, for counting and splitting them. */
enum rows_from {
    ROWS_MADE,         /* known to the maker only */
    ROWS_OF_BLOCKS,    /* each comes from one block that has such records */
    ROWS_OF_DICTIONARY /* dictionary entries in the order of their ids */
};

/* A table, and how to make its rows. */
struct table_definition {
    struct table base; /* must be first: every struct table is part of one of these */
    table_rows_create create;
    enum rows_from rows_from;       /* set by tables_add() */
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
    bool by_time; /* blocks in order of their first times instead of the file's order */
};

struct table_rows_operations {
    /* Fills `vectors` of the needed columns, and sets `*count` to 1 to wish->batch_rows; or
     * returns END. */
    enum step_status (*next)(struct table_rows *rows, size_t *count, struct step_error *error);
    /* Restarts with the current wish; NULL: not supported, make new rows. */
    enum step_status (*restart)(struct table_rows *rows, struct step_error *error);
    /* Implements table_scan_lend(); NULL: not supported. */
    void (*lend)(struct table_rows *rows, size_t column, void *values);
    void (*destroy)(struct table_rows *rows);
};

struct table_rows {
    const struct table_rows_operations *operations;
    struct tables *tables;
    const struct table_request *request;
    struct table_vector *vectors; /* by column of the table; allocated by table_rows_init() */
    struct table_scan_work work;
};

enum step_status table_rows_init(struct table_rows *rows,
                                 const struct table_rows_operations *operations,
                                 struct tables *tables, const struct table_request *request,
                                 struct step_error *error);
void table_rows_reset(struct table_rows *rows);

#endif
