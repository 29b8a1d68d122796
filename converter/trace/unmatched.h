/* SPDX-License-Identifier: Apache-2.0 */
/* Patterns of a selection that no name of the trace matches, and those that match too much. */
#ifndef CONVERTER_TRACE_UNMATCHED_H
#define CONVERTER_TRACE_UNMATCHED_H

#include "converter/trace/event_selection.h"
#include "converter/trace/names.h"

/* Reports on stderr each pattern that matches none of the names, with the nearest name, and each
 * simple class name that several classes have.  Call it when the trace was read: names are known
 * from the events that use them.  `is_empty`: no event was selected. */
void report_unmatched(const char *path, const struct trace_names *names,
                      const struct event_selection *selected, bool is_empty);
/* Writes "; did you mean NAME?" for the nearest class, or an empty string. */
void nearest_class(const char *glob, const struct step_bytes *classes, size_t count, char *text,
                   size_t room);

#endif
