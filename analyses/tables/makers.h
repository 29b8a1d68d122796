/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of Java traces, and what makers of rows share. */
#ifndef ANALYSES_TABLES_MAKERS_H
#define ANALYSES_TABLES_MAKERS_H

#include "analyses/tables/block_choice.h"
#include "analyses/tables/table_rows.h"
#include "analyses/tables/tables_trace.h"
#include "converter/trace/level_curve.h"

/* A column of a table of Java traces, and how its value is derived from a record. */
struct java_column {
    struct table_column column;
    enum cell_kind kind;
    int owner; /* record type that defines the field, or the one for CELL_IS */
    const char *field;
};

/* A table of Java traces.  Each is defined where its rows are made. */
struct java_table {
    const char *name;
    const char *doc;
    const struct java_column *columns;
    size_t column_count;
    const struct table_rows_operations *rows; /* see struct table_definition */
    enum rows_from rows_from;
    int record;   /* -1: rows come from several record types */
    bool adds_up; /* over all objects: a sampled trace has no such table */
    int made_of;  /* see there; as `recorded_by` */
    const char *recorded_by;
};

extern const struct java_table objects_table, calls_table, classes_table, methods_table,
    threads_table, sites_table, collections_table, live_table, phases_table;

/* The list of a table's columns, X(NUMBER, name, unit, doc, type, nullable) each, gives their
 * numbers, and the columns themselves. */
#define COLUMN_NUMBER(number, ...) number,
#define PLAIN_COLUMN(number, ...) {__VA_ARGS__},
#define MADE_COLUMN(number, ...) {{__VA_ARGS__}, MADE},
#define MADE CELL_MADE, -1, NULL
/* A table's columns and their number. */
#define COLUMNS(of) of, sizeof of / sizeof of[0]
/* A table whose rows are made of events; one whose rows are records of one type, but for columns
 * that are made. */
#define MADE_TABLE(name, doc, columns, rows, adds_up, ...)                                         \
    {                                                                                              \
        name, doc, COLUMNS(columns), &(rows), ROWS_MADE, -1, adds_up, __VA_ARGS__                  \
    }
#define RECORD_TABLE(name, doc, columns, rows, record, ...)                                        \
    {                                                                                              \
        name, doc, COLUMNS(columns), rows, ROWS_OF_BLOCKS, record, false, __VA_ARGS__              \
    }
/* What rows are made of, and what records that. */
#define ALLOC STEP_JAVA_OBJECT_ALLOC
#define ALLOC_AT STEP_JAVA_OBJECT_ALLOC_AT
#define FREE STEP_JAVA_OBJECT_FREE
#define BY_ALLOC ALLOC, "allocations (the agent's option events=alloc)"
#define BY_FREE FREE, "deaths (the agent's option events=free; collections find deaths)"
#define BY_ANY -1, NULL

/* The number in a field of allocations, and columns of all their tables. */
#define OF_ALLOC(field) CELL_NUMBER, ALLOC, field
#define EXISTING_COLUMN                                                                            \
    {                                                                                              \
        {"existing", "", "it was there when tracing started", TABLE_BOOL, false}, CELL_IS,         \
            STEP_JAVA_OBJECT_EXISTING, NULL                                                        \
    }
#define WEIGHT_COLUMN                                                                              \
    {                                                                                              \
        {"weight", "", "of a sampled trace only: objects that it stands for", TABLE_REAL, false},  \
            CELL_WEIGHT, ALLOC, "size"                                                             \
    }

/* The columns of the tables `live`. */
#define LIVE_COLUMNS(X)                                                                            \
    X(LIVE_TIME, "time", "ns", "end of the step", TABLE_TIME, false)                               \
    X(LIVE_STEP, "step", "ns", "its length", TABLE_DURATION, false)                                \
    X(LIVE_OBJECTS, "objects", "", "at its end", TABLE_UINT, false)                                \
    X(LIVE_BYTES, "bytes", "bytes", "at its end", TABLE_UINT, false)                               \
    X(LIVE_MOST_BYTES, "most_bytes", "bytes", "within it", TABLE_UINT, false)

/* Puts step `i` of a curve as a row of a table `live`, with an end not after the trace's
 * (level_rows.c). */
void live_rows_put_step(struct row_builder *builder, const struct level_curve *curve, size_t i,
                        uint64_t last_ns);

/* The columns of the table `objects` of Java traces. */
enum {
    OBJECTS_OBJECT,
    OBJECTS_CLASS,
    OBJECTS_CLASS_ID,
    OBJECTS_THREAD,
    OBJECTS_SITE,
    OBJECTS_SIZE,
    OBJECTS_BORN,
    OBJECTS_DIED,
    OBJECTS_ALIVE,
    OBJECTS_SURVIVED,
    OBJECTS_EXISTING,
    OBJECTS_WEIGHT, /* of sampled traces: tables of others end before it */
    OBJECTS_LIFE_WEIGHT,
    OBJECTS_COLUMNS
};

/* Rows that are records of one type, for makers that read such rows in order of time. */

/* Gets the first time, in ticks, of the block that contains the next row; 0 if it is the current
 * block.  Returns false if there are no more rows.  `rows` must be made by `record_rows`. */
bool record_rows_next_time(const struct table_rows *rows, uint64_t *ticks);
/* Returns the blocks that the rows are read from. */
const struct block_choice *record_rows_choice(const struct table_rows *rows);

#endif
