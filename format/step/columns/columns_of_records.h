/* SPDX-License-Identifier: Apache-2.0 */
/* Records on the writer's side, cut into the columns of one block. */
#ifndef FORMAT_STEP_COLUMNS_COLUMNS_OF_RECORDS_H
#define FORMAT_STEP_COLUMNS_COLUMNS_OF_RECORDS_H

#include "format/step/columns/pending_records.h"
#include "format/step/plan/field_series.h"

struct step_column_data {
    bool ascends;     /* none is less than the one before, as is known */
    uint64_t *values; /* where the rows have none: see `series` */
    size_t count;
    size_t capacity;
    struct step_buffer bytes;
    bool used;
};

struct step_type_count {
    uint32_t record;
    uint64_t count;
};

struct step_numbered_values;

/* Storage that all blocks of a writer share. */
struct step_columns {
    const struct step_plan *plan;
    struct step_column_data *columns; /* by number in the plan */
    struct step_series *series;       /* the same: the values */
    uint32_t *used;                   /* the columns in use, in order */
    size_t used_count;
    struct step_column_data types; /* numbers local to the block; one if they are all the same */
    uint16_t *local_types;         /* the same, narrow; not filled in if they are */
    size_t local_capacity;
    uint32_t *records; /* by local number, in order of the definition */
    uint64_t *counts;
    size_t type_count;
    uint64_t *tally;                       /* by record, several times */
    struct step_numbered_values *numbered; /* by column, NULL as long as nothing is numbered */
    size_t record_count;
};

enum step_status step_columns_create(const struct step_plan *plan, struct step_columns **out);
void step_columns_destroy(struct step_columns *columns);

/* Replaces what the columns hold by `rows`, which must stay as long as that is wanted. */
enum step_status step_columns_fill(struct step_columns *columns, struct step_pending *rows);

/* The records as step_gather() wants them. */
struct step_sequence step_columns_sequence(const struct step_columns *columns);

/* The least and the greatest value of the fields with that property; 0 where there are none. */
struct step_range {
    uint64_t min;
    uint64_t max;
};
/* That of one column, which is used. */
struct step_range step_columns_range(const struct step_columns *columns, uint32_t column);
struct step_range step_columns_time(const struct step_columns *columns);
struct step_range step_columns_thread(const struct step_columns *columns);

#endif
