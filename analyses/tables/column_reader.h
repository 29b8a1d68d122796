/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Returns the rows of a scan as whole columns: the values of each column are contiguous, and can be
 * handed on without a copy.
 *
 * Values by column type: numbers, times and durations are uint64_t (two's complement); bools are
 * uint8_t; names are int32_t indexes into the column's own list of names, -1 for null; texts and
 * data are uint64_t offsets into `bytes`, one more than there are rows.
 */
#ifndef ANALYSES_TABLES_COLUMN_READER_H
#define ANALYSES_TABLES_COLUMN_READER_H

#include "analyses/tables/table.h"
#include "format/core/bytes.h"

/*
 * A reference-counted trace with a lock, for owners in several threads.  A trace may be used by
 * only one thread at a time, so each use must hold the lock.
 */
struct shared_tables;

/* Opens a trace like tables_open().  The caller owns the first reference. */
enum step_status shared_tables_open(const char *path, struct shared_tables **out,
                                    struct step_error *error);
/* Drops a reference; the last one closes the trace.  `shared` may be NULL. */
void shared_tables_release(struct shared_tables *shared);

/* Locks the trace for exclusive use until shared_tables_unlock(). */
struct tables *shared_tables_lock(struct shared_tables *shared);
void shared_tables_unlock(struct shared_tables *shared);
/* Returns the trace without locking it, for reading what is constant while it is open: its
 * tables. */
const struct tables *shared_tables_borrow(const struct shared_tables *shared);

/* All memory is from malloc().  To take ownership of a piece, set its pointer to NULL. */
struct whole_column {
    enum table_type type;
    void *values;
    uint8_t *validity; /* bit i % 8 of byte i / 8 is set: row i is not null; NULL: no nulls */
    size_t null_count;
    struct step_buffer bytes;     /* texts as UTF-8; data unchanged */
    struct step_buffer names;     /* UTF-8, concatenated in order of their first rows */
    struct step_buffer name_ends; /* int32_t: end of each name, after an initial 0 */
    size_t name_count;
    /* Private members. */
    size_t fresh_bytes; /* how much of `values` was prefaulted */
    uint32_t *places;   /* by code in the dictionary: 1 + index into the names */
    size_t place_count;
};

/* Returns the size of the values of so many rows. */
size_t whole_column_bytes(enum table_type type, size_t rows);
/* Changes the capacity from `old` to `capacity` rows.  Returns false if out of memory. */
bool whole_column_resize(struct whole_column *column, size_t old, size_t capacity);
/* Appends `count` rows of the vector from `from` on, after `at` existing rows.  There must be
 * room: `capacity` rows in total.  Returns false if out of memory, or if there are more than
 * 2^31 - 1 bytes of names. */
bool whole_column_append(struct whole_column *column, const struct table_vector *vector,
                         size_t from, size_t count, size_t at, size_t capacity);
/* Frees everything that was not taken, and keeps the type. */
void whole_column_reset(struct whole_column *column);

struct whole_columns {
    size_t row_count;
    struct whole_column *columns; /* in the order of the query's columns */
    size_t column_count;
};

/* Frees everything that was not taken. */
void whole_columns_reset(struct whole_columns *columns);

struct column_reader;

/* Creates a reader, which keeps a reference to the trace.  Copies the query like
 * table_scan_create(). */
enum step_status column_reader_create(struct shared_tables *shared, const struct table *table,
                                      const struct table_query *query, struct column_reader **out,
                                      struct step_error *error);
void column_reader_destroy(struct column_reader *reader);

/* Reads the next `most` rows, or fewer at the end; END if there are none.  Locks the trace. */
enum step_status column_reader_next(struct column_reader *reader, uint64_t most,
                                    struct whole_columns *out, struct step_error *error);

/* The columns of the query, in its order. */
size_t column_reader_column_count(const struct column_reader *reader);
const struct table_column *column_reader_column(const struct column_reader *reader, size_t i);
struct shared_tables *column_reader_borrow_tables(const struct column_reader *reader);
struct table_scan_work column_reader_work(struct column_reader *reader);

#endif
