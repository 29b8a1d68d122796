/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A run of plain records of one stream, which the caller puts straight into the writer's storage,
 * column by column: for those who have hundreds of millions, and know their fields.
 */
#ifndef FORMAT_STEP_WRITE_RUN_H
#define FORMAT_STEP_WRITE_RUN_H

#include "steptrace/writer.h"

enum { STEP_RUN_RECORDS = 8192, STEP_RUN_COLUMNS = 8 };

/* The columns that a run may put values into (UINT32_MAX: none), whether it puts one value for all
 * its records that have the column, and whether none of its values is less than the one before. */
struct step_run_layout {
    size_t count;
    struct step_run_column {
        uint32_t column;
        bool same;
        bool ascends;
    } columns[STEP_RUN_COLUMNS];
};

struct step_run {
    size_t most;                            /* records that there is room for; may be none: they
                                               then go the usual way, one by one */
    uint16_t *types;                        /* a record type each */
    uint64_t *values[STEP_RUN_COLUMNS];     /* by column of the layout, but those of one value */
    uint64_t same_values[STEP_RUN_COLUMNS]; /* of those */
    size_t counts[STEP_RUN_COLUMNS];        /* of values in each column */
};

/* The column of a record's slot, or UINT32_MAX if such records cannot come in a run: single values,
 * `slots` of them, with no limits to check. */
uint32_t step_writer_run_column(const struct step_writer *writer, uint32_t record, size_t slots,
                                size_t slot);

/* Makes room for `wanted` records, if not more than a run takes.  Counts are 0; the caller fills in
 * the rest. */
enum step_status step_writer_begin_run(struct step_writer *writer, uint64_t stream,
                                       const struct step_run_layout *layout, size_t wanted,
                                       struct step_run *run);
/* Takes what was filled in: so many records.  No other call of the writer may come between begin
 * and end. */
enum step_status step_writer_end_run(struct step_writer *writer,
                                     const struct step_run_layout *layout,
                                     const struct step_run *run, size_t records);

#endif
