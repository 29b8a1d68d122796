/* SPDX-License-Identifier: Apache-2.0 */
/* Describes why a STEP trace without damaged blocks is incomplete. */
#ifndef CONVERTER_FILES_TRACE_GAP_H
#define CONVERTER_FILES_TRACE_GAP_H

#include <stdbool.h>

#include "steptrace/reader.h"

enum { TRACE_GAP_ROOM = 160 };
#define TRACE_GAP_RUNNING                                                                          \
    "the program still runs; the most recent events of some threads are missing"
#define TRACE_END_LIMIT "limit" /* the property `end`: at a size that the user chose */
/* A property of joined files, for people: which are missing, damaged or still being written. */
#define TRACE_FILES_GAPS "file-set-gaps"

/* A property of copies of traces that were not closed; its value is the number of records that came
 * from a live file. */
#define RECOVERED_RECORDS "recovered-records"
/* A property, for people: what the agent could not record, or a copy has not. */
#define TRACE_INCOMPLETE "incomplete"

/* Returns a sentence for a trace that is still being written, was not closed, ended before its
 * program, lost events, or lacks what could not be recorded; NULL if it is complete.  `text`
 * provides TRACE_GAP_ROOM bytes for it. */
const char *trace_gap(const struct step_reader *reader, char *text);
/* The same of what the recorder said itself: gaps between files, an early end, lost events, what
 * could not be recorded.  A copy of the trace has these gaps, too. */
const char *trace_gap_recorded(const struct step_reader *reader, char *text);
/* Describes lost events.  `dropped` is the value of the property of that name, or NULL. */
const char *trace_gap_dropped(const char *dropped, char *text);
/* Describes a recorder that stopped early.  `end` is the value of the property of that name, or
 * NULL.  Reaching a size limit that the user set does not count. */
const char *trace_gap_early(const char *end);
/* The same, for whatever reason: also that limit.  NULL: it did not stop early. */
const char *trace_gap_any_early(const char *end);
/* Describes a lost end.  `missing_after_ns` is the value of the property of that name, or NULL. */
const char *trace_gap_end(const char *missing_after_ns, char *text);
/* Returns whether the trace was closed properly and its end is not lost. */
bool trace_reaches_end(const struct step_reader *reader);

/* Reports the damage of a STEP file that a verb reads without a source, or else its gap.  Returns
 * CORRUPT if there is any, else OK. */
enum step_status report_reader_damage(const struct step_reader *reader, const char *path);

#endif
