/* SPDX-License-Identifier: Apache-2.0 */
/* Reports patterns of a selection that match no name of the trace, and ambiguous ones. */
#ifndef CONVERTER_TRACE_UNMATCHED_H
#define CONVERTER_TRACE_UNMATCHED_H

#include "converter/trace/event_selection.h"
#include "converter/trace/names.h"

/* Reports on stderr each pattern that matches no name, with the most similar name, and each
 * simple class name that several classes share.  Call it after reading the trace, as names
 * become known with the events that use them.  `is_empty`: no event was selected. */
void report_unmatched(const char *path, const struct trace_names *names,
                      const struct event_selection *selected, bool is_empty);
/* Returns false if a pattern that selects (none with `!`) matches no name. */
bool selection_is_matched(const struct trace_names *names, const struct event_selection *selected,
                          bool is_empty);
/* Writes "; did you mean NAME?" for the most similar class, or an empty string. */
void nearest_class(const char *glob, const struct step_bytes *classes, size_t count, char *text,
                   size_t room);

#endif
