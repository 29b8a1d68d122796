/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A STEP trace as tables: one definition for all that ask questions of a trace (SQL, Parquet,
 * ClickHouse, Python).  docs/tables.md tells what tables there are and what their columns mean.
 *
 * A trace is opened once; its tables have columns with a name, a type and a unit.  A scan gives the
 * rows of one table in batches, column by column, with only the columns that are asked for, and
 * passes over blocks that the index shows to have none of the rows that are asked for.
 *
 * Memory is that of the trace's dictionaries, a decoded block, a batch, and, for tables whose rows
 * are made of several records (objects, calls), of what lives or is open at one time.
 *
 * There is no global state: nothing prints, exits or catches signals.  A trace and its scans are
 * used by one thread at a time; several traces may be open on one file.
 */
#ifndef CONVERTER_TABLES_TABLE_H
#define CONVERTER_TABLES_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "steptrace/reader.h"
#include "steptrace/status.h"
#include "steptrace/value.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- what there is ---- */

/* What a column's values are, and in which member of struct table_vector they stand. */
enum table_type {
    TABLE_UINT,     /* numbers: 0 to 2^64 - 1 */
    TABLE_INT,      /* numbers: two's complement */
    TABLE_TIME,     /* numbers: nanoseconds since the trace's time zero */
    TABLE_DURATION, /* numbers: nanoseconds */
    TABLE_BOOL,     /* flags */
    TABLE_NAME,     /* codes: places in the vector's dictionary */
    TABLE_TEXT,     /* texts: UTF-8 where the trace has good UTF-8 */
    TABLE_DATA      /* texts: any bytes */
};

struct table_column {
    const char *name;
    const char *unit; /* "ns", "bytes"; "": none */
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

/* An opened trace. */
struct tables;

/* FORMAT for a file that is no STEP trace, CORRUPT where not even its definition can be read. */
enum step_status tables_open(const char *path, struct tables **out, struct step_error *error);
void tables_close(struct tables *tables);

/* Tables live as long as the trace is open. */
size_t tables_count(const struct tables *tables);
const struct table *tables_at(const struct tables *tables, size_t i);
/* NOT_FOUND: the message has the nearest name and those that there are. */
enum step_status tables_find(const struct tables *tables, const char *name,
                             const struct table **out, struct step_error *error);
/* Returns false if no class of the trace matches the pattern of a query's `class_glob`: `text`,
 * with room for TABLES_CLASS_TEXT bytes, then says so, with the nearest name. */
enum { TABLES_CLASS_TEXT = 640 };
bool tables_have_class(const struct tables *tables, const char *glob, char *text);
/* The same for a table's columns. */
enum step_status table_find_column(const struct table *table, const char *name, size_t *out,
                                   struct step_error *error);
/* "uint", "int", "time", "duration", "bool", "name", "text", "data". */
const char *table_type_name(enum table_type type);

/* Provenance, what is damaged so far, whether the trace is whole: see steptrace/reader.h. */
const struct step_reader *tables_borrow_reader(const struct tables *tables);
/* CORRUPT and `error` if anything was damaged so far or the trace was cut short, else OK.  Asked
 * after the last batch. */
enum step_status tables_damage(const struct tables *tables, struct step_error *error);
/* Nanoseconds since 1970 of the trace's time zero; 0: not known. */
uint64_t tables_start_time_ns(const struct tables *tables);

/* ---- what is asked for ---- */

/* Rows whose column is `least` to `most`, both included; null is not.  Columns of numbers, compared
 * as their type is (TABLE_INT: signed), or signed where that is asked for. */
struct table_range {
    size_t column;
    uint64_t least;
    uint64_t most;
    bool is_signed;
};

/* A part of a table: consecutive blocks of the file that its rows come from. */
struct table_part {
    size_t first_block;
    size_t end_block; /* not in it */
    uint64_t rows;    /* of the part before any range, as far as the index tells; else 0 */
};

/* Zero-initialised: all columns, all rows.  All that is asked for holds exactly: a scan gives no
 * other rows. */
struct table_query {
    const size_t *columns; /* the ones that are given, in this order; NULL: all.  None is allowed:
                              batches then have only their number of rows */
    size_t column_count;
    const struct table_range *ranges;
    size_t range_count;
    const uint64_t *threads; /* column `thread` is one of these; NULL: any */
    size_t thread_count;
    const char *class_glob;        /* column `class` matches (event_selection.h); NULL: any */
    const struct table_part *part; /* NULL: the whole table */
    size_t batch_rows;             /* a batch has no more; 0: TABLE_BATCH_ROWS */
};
#define TABLE_BATCH_ROWS ((size_t) 65536)

/* Cuts a table into parts of some `rows` rows, by the index alone; ranges, threads and class of the
 * query leave out parts that cannot have any.  A table that cannot be cut is one part.  `*parts` is
 * to be freed. */
enum step_status table_parts(struct tables *tables, const struct table *table,
                             const struct table_query *query, uint64_t rows,
                             struct table_part **parts, size_t *count, struct step_error *error);

/* ---- what is given ---- */

/* Texts by code; no two are the same.  Grows while a trace is open (codes stay) and lives as long.
 */
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
    const uint8_t *validity; /* bit i % 8 of byte i / 8 is 1: row i is not null; NULL: none is */
    size_t null_count;
    const struct table_dictionary *dictionary; /* of codes */
};

static inline bool table_vector_is_null(const struct table_vector *vector, size_t row)
{
    return vector->validity != NULL && (vector->validity[row / 8] >> (row % 8) & 1u) == 0;
}

/* Lives until the next call for the scan.  What is null has the value 0, or an empty text. */
struct table_batch {
    size_t row_count;
    const struct table_vector *vectors; /* as many as the query has columns, in their order */
};

struct table_scan;

/* The query is copied, but for `threads` and `class_glob`, which are borrowed for the call alone.
 * INVALID: it names a column that the table does not have, or a range of one without numbers. */
enum step_status table_scan_create(struct tables *tables, const struct table *table,
                                   const struct table_query *query, struct table_scan **out,
                                   struct step_error *error);
/* Where the values of the query's column may go in the next batches: room for a batch's rows, of
 * numbers or bools.  NULL: into memory of the scan, as at first.  Whether they went there is known
 * by a batch's pointers. */
void table_scan_lend(struct table_scan *scan, size_t column, void *values);
/* How many rows a batch has at the most. */
size_t table_scan_batch_rows(const struct table_scan *scan);
/* The next batch, of one row at least; or END.  Damaged blocks are passed over: tables_damage(). */
enum step_status table_scan_next(struct table_scan *scan, const struct table_batch **batch,
                                 struct step_error *error);
/* Begins anew with other ranges, of the same columns and in the same order as before. */
enum step_status table_scan_restart(struct table_scan *scan, const struct table_range *ranges,
                                    size_t range_count, struct step_error *error);
void table_scan_destroy(struct table_scan *scan);

/* What the scan did so far. */
struct table_scan_work {
    uint64_t blocks_read;
    uint64_t blocks_passed; /* over, by what the index says */
};
struct table_scan_work table_scan_work(const struct table_scan *scan);

/* True where a range of that column finds its rows without reading the others (by the entry of a
 * dictionary); `rows` is how many the table has, as far as the index tells. */
bool table_has_fast_range(const struct tables *tables, const struct table *table, size_t column);
uint64_t table_row_count(const struct tables *tables, const struct table *table);

#ifdef __cplusplus
}
#endif

#endif
