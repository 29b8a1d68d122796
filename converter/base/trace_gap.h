/* SPDX-License-Identifier: Apache-2.0 */
/* What a STEP trace lacks though none of its blocks is damaged. */
#ifndef CONVERTER_BASE_TRACE_GAP_H
#define CONVERTER_BASE_TRACE_GAP_H

#include <stdbool.h>

struct step_reader;

enum { TRACE_GAP_ROOM = 160 };

/* Returns a sentence for a trace that its process still writes, that was not closed, that ended
 * before its program, or that lost events; NULL if nothing is missing.  `text` has TRACE_GAP_ROOM bytes for it. */
const char *trace_gap(const struct step_reader *reader, char *text);
/* The part of it about lost events; `dropped` is the property of that name, or NULL. */
const char *trace_gap_dropped(const char *dropped, char *text);
/* The part of it about a recorder that had to stop early; `end` is the property of that name, or
 * NULL.  A size that the user chose (limit) is no gap. */
const char *trace_gap_early(const char *end);
/* The part of it about the trace's end; `missing_after_ns` is the property of that name, or NULL.
 */
const char *trace_gap_end(const char *missing_after_ns, char *text);
/* Whether the trace was closed and goes on until its program ends. */
bool trace_reaches_end(const struct step_reader *reader);

#endif
