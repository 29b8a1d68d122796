/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs: plain records of one stream that the caller writes directly into the writer's storage,
 * column by column.  For callers with hundreds of millions of records whose fields they know.
 */
#ifndef FORMAT_STEP_WRITE_RUN_H
#define FORMAT_STEP_WRITE_RUN_H

#include "steptrace/writer.h"

enum { STEP_RUN_RECORDS = 8192, STEP_RUN_COLUMNS = 9 };

/* Columns of a run (UINT32_MAX: none); for each, whether all its records have one common value, and
 * whether the values are ascending. */
struct step_run_layout {
    size_t count;
    struct step_run_column {
        uint32_t column;
        bool same;
        bool ascends;
    } columns[STEP_RUN_COLUMNS];
};

struct step_run {
    size_t most;                            /* number of records for which there is room; may be 0:
                                               then they must be put one by one */
    uint16_t *types;                        /* one record type per record */
    uint64_t *values[STEP_RUN_COLUMNS];     /* by column of the layout, except those with a common
                                               value */
    uint64_t same_values[STEP_RUN_COLUMNS]; /* common values */
    size_t counts[STEP_RUN_COLUMNS];        /* number of values in each column */
};

/* Returns the column of a record's slot, or UINT32_MAX if such records cannot be in a run.  They
 * need single values, `slots` of them, without limits to check. */
uint32_t step_writer_run_column(const struct step_writer *writer, uint32_t record, size_t slots,
                                size_t slot);

/* Makes room for `wanted` records, limited by the size of a run.  Counts are 0; the caller fills in
 * the rest. */
enum step_status step_writer_begin_run(struct step_writer *writer, uint64_t stream,
                                       const struct step_run_layout *layout, size_t wanted,
                                       struct step_run *run);
/* Ends the run with that many records.  No other call of the writer is allowed between begin and
 * end. */
enum step_status step_writer_end_run(struct step_writer *writer,
                                     const struct step_run_layout *layout,
                                     const struct step_run *run, size_t records);

#endif
