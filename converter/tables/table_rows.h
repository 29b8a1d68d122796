/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What makes a table's rows: the inside of converter/tables.  A maker gives batches of all rows
 * that may be wanted, with the columns that are needed; the scan takes out what is not wanted.
 */
#ifndef CONVERTER_TABLES_TABLE_ROWS_H
#define CONVERTER_TABLES_TABLE_ROWS_H

#include "converter/tables/row_filter.h"
#include "converter/tables/table.h"

/* How a column comes out of records. */
enum cell_kind {
    CELL_MADE,         /* not out of one field: the maker of the rows knows */
    CELL_NUMBER,       /* the slot */
    CELL_TICKS,        /* the slot times the resolution */
    CELL_ID,           /* the slot; null where it is 0 */
    CELL_CLASS,        /* name of the class with that number, */
    CELL_METHOD,       /* of the method, */
    CELL_METHOD_CLASS, /* of the method's class */
    CELL_TEXT,         /* the slot's bytes */
    CELL_JSON,         /* the slot as JSON */
    CELL_IS,           /* is the record an `owner`? */
    CELL_TYPE,         /* name of the record's type */
    CELL_COLLECTION    /* number of the collection of that time */
};

struct table_cell {
    enum cell_kind kind;
    uint32_t owner; /* the record type that has the field */
    uint32_t field;
    size_t slot;
};

struct table_rows;
struct table_wish;

typedef enum step_status (*table_rows_create)(struct tables *tables, const struct table_wish *wish,
                                              struct table_rows **out, struct step_error *error);

/* Where a table's rows come from, for those that ask how many there are, and where to cut. */
enum rows_from {
    ROWS_MADE,         /* nobody knows but the maker */
    ROWS_OF_BLOCKS,    /* each is from one block that has such records */
    ROWS_OF_DICTIONARY /* its entries, in the order of their numbers */
};

/* A table and how its rows are made. */
struct table_definition {
    struct table base; /* the first: a struct table of ours is one of these */
    table_rows_create create;
    enum rows_from rows_from;       /* set as the table is added */
    uint32_t record;                /* whose records the rows come from; STEP_NO_RECORD: several */
    const struct table_cell *cells; /* by column; NULL: all are made */
};

static inline const struct table_definition *table_definition_of(const struct table *table)
{
    return (const struct table_definition *) (const void *) table;
}

/* What a scan wants of the maker; lives as long as the scan. */
struct table_wish {
    const struct table_definition *table;
    const uint8_t *needed; /* by column */
    struct row_filter filter;
    struct table_part part;
    size_t batch_rows;
    bool by_time; /* blocks in the order of their first times, not in the file's */
};

struct table_rows_operations {
    /* Fills `vectors` of the needed columns, and `*count`, 1 to wish->batch_rows; or END. */
    enum step_status (*next)(struct table_rows *rows, size_t *count, struct step_error *error);
    /* Begins anew, by the wish as it is now; NULL: whoever wants that makes new rows. */
    enum step_status (*restart)(struct table_rows *rows, struct step_error *error);
    /* As table_scan_lend() does; NULL: values stay where they are. */
    void (*lend)(struct table_rows *rows, size_t column, void *values);
    void (*destroy)(struct table_rows *rows);
};

struct table_rows {
    const struct table_rows_operations *operations;
    struct tables *tables;
    const struct table_wish *wish;
    struct table_vector *vectors; /* by column of the table; made by table_rows_init() */
    struct table_scan_work work;
};

enum step_status table_rows_init(struct table_rows *rows,
                                 const struct table_rows_operations *operations,
                                 struct tables *tables, const struct table_wish *wish,
                                 struct step_error *error);
void table_rows_reset(struct table_rows *rows);

#endif
