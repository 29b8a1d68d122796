/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A STEP trace as tables, for SQL, Parquet, ClickHouse and Python.  docs/tables.md documents the
 * tables and their columns.
 *
 * A trace is opened once.  Its tables have columns with a name, a type and a unit.  A scan returns
 * the rows of one table in batches, column by column, with only the requested columns, and skips
 * blocks that have no requested rows according to the index.
 *
 * Memory is that of the trace's dictionaries, one decoded block and one batch; for tables whose
 * rows are made from several records (objects, calls), also the live objects or open calls.
 *
 * There is no global state, and no function prints, exits or catches signals.  A trace and its
 * scans may be used by one thread at a time; a file may be opened several times.
 */
#ifndef ANALYSES_TABLES_TABLE_H
#define ANALYSES_TABLES_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "steptrace/reader.h"
#include "steptrace/status.h"
#include "steptrace/value.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- tables ---- */

/* The type of a column's values, and the member of struct table_vector that stores them. */
enum table_type {
    TABLE_UINT,     /* numbers: 0 to 2^64 - 1 */
    TABLE_INT,      /* numbers: two's complement */
    TABLE_TIME,     /* numbers: nanoseconds since the trace's time zero */
    TABLE_DURATION, /* numbers: nanoseconds */
    TABLE_BOOL,     /* flags */
    TABLE_NAME,     /* codes: indexes into the vector's dictionary */
    TABLE_TEXT,     /* texts: UTF-8 if the trace has valid UTF-8 */
    TABLE_DATA,     /* texts: arbitrary bytes */
    TABLE_REAL      /* numbers: the bits of a double */
};

struct table_column {
    const char *name;
    const char *unit; /* "ns", "bytes"; "": no unit */
    const char *doc;  /* one line */
    enum table_type type;
    bool nullable;
};

struct table {
    const char *name;
    const char *doc;
    const struct table_column *columns;
    size_t column_count;
};

/* An open trace. */
struct tables;

/* Opens a trace.  Returns FORMAT if the file is not a STEP trace, and CORRUPT if not even its
 * definition is readable. */
enum step_status tables_open(const char *path, struct tables **out, struct step_error *error);
void tables_close(struct tables *tables);

/* Tables are valid while the trace is open. */
size_t tables_count(const struct tables *tables);
const struct table *tables_at(const struct tables *tables, size_t i);
/* Finds a table by name.  Returns NOT_FOUND with a message that lists the most similar name and
 * all names. */
enum step_status tables_find(const struct tables *tables, const char *name,
                             const struct table **out, struct step_error *error);
/* Returns whether a class of the trace matches the pattern of a query's `class_glob`.  If not,
 * writes a message with the most similar name to `text`, which has TABLES_CLASS_TEXT bytes. */
enum { TABLES_CLASS_TEXT = 640 };
bool tables_have_class(const struct tables *tables, const char *glob, char *text);
/* Finds a column of a table in the same way. */
enum step_status table_find_column(const struct table *table, const char *name, size_t *out,
                                   struct step_error *error);
/* Returns whether a range can select rows by the values of a column of this type. */
static inline bool table_type_has_numbers(enum table_type type)
{
    return type == TABLE_UINT || type == TABLE_INT || type == TABLE_TIME || type == TABLE_DURATION;
}
/* Returns "uint", "int", "time", "duration", "bool", "name", "text", "data" or "real". */
const char *table_type_name(enum table_type type);

/* Returns the reader, for properties, damage so far, and completeness (steptrace/reader.h). */
const struct step_reader *tables_borrow_reader(const struct tables *tables);
/* Returns CORRUPT and sets `error` if damage was found so far or the trace is incomplete, else
 * OK.  Call it after the last batch. */
enum step_status tables_damage(const struct tables *tables, struct step_error *error);
/* Returns the trace's time zero in nanoseconds since 1970; 0 if it is unknown. */
uint64_t tables_start_time_ns(const struct tables *tables);

/* ---- queries ---- */

/* Selects rows whose column is between `least` and `most`, both included, and not null.  The
 * column must contain numbers.  They are compared as unsigned, or as signed for TABLE_INT or if
 * `is_signed`. */
struct table_range {
    size_t column;
    uint64_t least;
    uint64_t most;
    bool is_signed;
};

/* A part of a table: the rows from consecutive blocks of the file. */
struct table_part {
    size_t first_block;
    size_t end_block; /* exclusive */
    uint64_t rows;    /* number of rows in the part before filtering; 0: unknown */
};

/* A query; all criteria must hold, and a scan returns exactly the matching rows.
 * Zero-initialise to select all columns and rows. */
struct table_query {
    const size_t *columns; /* the columns to return, in this order; NULL: all.  May be empty:
                              batches then have only a number of rows */
    size_t column_count;
    const struct table_range *ranges;
    size_t range_count;
    const uint64_t *threads; /* values of column `thread`; NULL: all */
    size_t thread_count;
    const char *class_glob;        /* pattern for column `class` (event_selection.h); NULL: all */
    const struct table_part *part; /* NULL: the whole table */
    size_t batch_rows;             /* maximum number of rows of a batch; 0: TABLE_BATCH_ROWS */
    bool by_time;                  /* rows of blocks in the order of the blocks' first times instead
                                      of the file's */
    bool has_row_ids;              /* batches have one more vector, of TABLE_UINT: the rows' ids */
};
#define TABLE_BATCH_ROWS ((size_t) 65536)

/* Splits a table into parts of about `rows` rows, using only the index.  Omits parts without
 * rows that match the query's ranges, threads and class.  A table that cannot be split is one
 * part.  The caller frees `*parts`. */
enum step_status table_parts(struct tables *tables, const struct table *table,
                             const struct table_query *query, uint64_t rows,
                             struct table_part **parts, size_t *count, struct step_error *error);

/* ---- results ---- */

/* Unique texts by code.  While the trace is open, codes do not change, but texts may be added. */
struct table_dictionary {
    const struct step_bytes *texts;
    size_t count;
};

/* A column of a batch. */
struct table_vector {
    enum table_type type;
    union {
        const uint64_t *numbers;
        const uint32_t *codes;
        const uint8_t *flags; /* 0 or 1 */
        const struct step_bytes *texts;
    };
    const uint8_t *validity; /* bit i % 8 of byte i / 8 is set: row i is not null; NULL: no nulls */
    size_t null_count;
    const struct table_dictionary *dictionary; /* of the codes */
};

/* Returns the size of a value of a vector. */
static inline size_t table_value_bytes(enum table_type type)
{
    return type == TABLE_BOOL                         ? sizeof(uint8_t)
           : type == TABLE_NAME                       ? sizeof(uint32_t)
           : type == TABLE_TEXT || type == TABLE_DATA ? sizeof(struct step_bytes)
                                                      : sizeof(uint64_t);
}

static inline bool table_vector_is_null(const struct table_vector *vector, size_t row)
{
    return vector->validity != NULL && (vector->validity[row / 8] >> (row % 8) & 1u) == 0;
}

/* A batch, valid until the next call for its scan.  Null values are 0 or an empty text.
 *
 * The id of a row (`has_row_ids`) is its place in the table, from 1 to 2^63 - 1: each scan of the
 * table, with whatever ranges and columns, gives a row the same id, and no other row has it.  It is
 * the block and the place in it, the number of an entry or object, or, where a maker makes all rows
 * in one order whatever is wanted of them, their count. */
struct table_batch {
    size_t row_count;
    const struct table_vector *vectors; /* in the order of the query's columns, then the ids */
};

struct table_scan;

/* Creates a scan.  Copies the query, except `threads` and `class_glob`, which are used during
 * the call only.  Returns INVALID if the query uses a column that the table does not have, or a
 * range of a column without numbers. */
enum step_status table_scan_create(struct tables *tables, const struct table *table,
                                   const struct table_query *query, struct table_scan **out,
                                   struct step_error *error);
/* Lends memory for the column's values in the next batches: room for the rows of a batch, for
 * numbers or bools only.  NULL: the scan uses its own memory again.  Compare a batch's pointers
 * to find out whether the memory was used. */
void table_scan_lend(struct table_scan *scan, size_t column, void *values);
/* Returns the maximum number of rows in a batch. */
size_t table_scan_batch_rows(const struct table_scan *scan);
/* Returns the next batch, of at least one row, or END.  Skips damaged blocks: see
 * tables_damage(). */
enum step_status table_scan_next(struct table_scan *scan, const struct table_batch **batch,
                                 struct step_error *error);
/* Restarts the scan with other ranges of the same columns, in the same order as before. */
enum step_status table_scan_restart(struct table_scan *scan, const struct table_range *ranges,
                                    size_t range_count, struct step_error *error);
void table_scan_destroy(struct table_scan *scan);

/* Statistics of a scan. */
struct table_scan_work {
    uint64_t blocks_read;
    uint64_t blocks_passed; /* skipped because of the index */
};
struct table_scan_work table_scan_work(const struct table_scan *scan);

/* table_has_fast_range() returns whether a range of the column is found without reading other
 * rows (for ids of dictionary entries); table_row_count() returns the table's number of rows
 * according to the index, 0 if it is unknown. */
bool table_has_fast_range(const struct tables *tables, const struct table *table, size_t column);
uint64_t table_row_count(const struct tables *tables, const struct table *table);
/* Returns, if the table has no rows because the trace has no records that they are made of, what
 * these are, and which option of the agent records them; else NULL. */
const char *table_unrecorded(const struct tables *tables, const struct table *table);
/* The message about it, for the table's name and what was returned. */
#define TABLE_UNRECORDED_TEXT "table %s has no rows: the trace has no %s"

#ifdef __cplusplus
}
#endif

#endif
