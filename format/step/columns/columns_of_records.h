/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A writer's records as the columns of one block.
 *
 * Both layouts start here.  Columns are encoded one by one, and rows are put together again from
 * them (row_write.c).  That costs rows a detour, but rounding, numbers of values, and verification
 * are done once, and the two layouts cannot disagree.
 */
#ifndef FORMAT_STEP_COLUMNS_COLUMNS_OF_RECORDS_H
#define FORMAT_STEP_COLUMNS_COLUMNS_OF_RECORDS_H

#include "format/codec/strategies/packed_strings.h"
#include "format/step/columns/pending_records.h"
#include "format/step/plan/record_series.h"

struct step_column_data {
    bool ascends;     /* known to be ascending */
    uint64_t *values; /* storage, unless the rows have the values; see `series` */
    size_t count;
    size_t capacity;
    struct step_buffer bytes;           /* of strings; of NUMBERS: of the stored values */
    struct step_string_numbers numbers; /* of NUMBERS: of these values */
    bool repeats;                       /* of NUMBERS: some value was repeated */
    bool used;
};

/* Storage shared by all blocks of a writer. */
struct step_columns {
    const struct step_plan *plan;
    struct step_column_data *columns; /* by number in the plan */
    struct step_series *series;       /* by number in the plan: the values */
    uint32_t *used;                   /* the columns in use, in order */
    size_t used_count;
    struct step_column_data types; /* numbers local to the block; one if they are all equal */
    uint16_t *local_types;         /* the same as 16 bits; unused if they are all equal */
    size_t local_capacity;
    uint32_t *records; /* by local number, in order of the definition */
    uint64_t *counts;
    size_t type_count;
    uint64_t *tally; /* by record, several copies */
    size_t record_count;
};

enum step_status step_columns_create(const struct step_plan *plan, struct step_columns **out);
void step_columns_destroy(struct step_columns *columns);

/* Replaces the content by `rows`, which must remain valid while the columns are used: series may
 * point to its pages.  Rounds values of fields with a resolution, in `rows` as well. */
enum step_status step_columns_fill(struct step_columns *columns, struct step_pending *rows);

/* Returns the records as step_gather() expects. */
struct step_sequence step_columns_sequence(const struct step_columns *columns);

/* Smallest and largest value of the fields with a property; 0 if there are none. */
struct step_range {
    uint64_t min;
    uint64_t max;
};
/* Returns the range of one column in use. */
struct step_range step_columns_range(const struct step_columns *columns, uint32_t column);
struct step_range step_columns_time(const struct step_columns *columns);
struct step_range step_columns_thread(const struct step_columns *columns);

#endif
