/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A run of plain records of one stream, which the caller puts straight into the writer's storage:
 * for those who have hundreds of millions, and know their slots.
 */
#ifndef STEP_STEP_RUN_H
#define STEP_STEP_RUN_H

#include "steptrace/writer.h"

enum { STEP_RUN_RECORDS = 1024, STEP_RUN_SLOTS = 8 };

/* Room for STEP_RUN_RECORDS records, or as many as their block still takes, of at most
 * STEP_RUN_SLOTS slots each. */
struct step_run {
    uint16_t *types; /* a record type each */
    uint64_t *slots; /* of all records, one after the other */
    size_t most;     /* records */
};

/* True if records of that type can come in a run: single values, `slots` of them, with no limits to
 * check. */
bool step_writer_takes_runs(const struct step_writer *writer, uint32_t record, size_t slots);

enum step_status step_writer_begin_run(struct step_writer *writer, uint64_t stream,
                                       struct step_run *run);
/* Takes what was filled in: so many records, and so many slots of all.  No other call of the writer
 * may come between begin and end. */
enum step_status step_writer_end_run(struct step_writer *writer, size_t records, size_t slots);

#endif
