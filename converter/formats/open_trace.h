/* SPDX-License-Identifier: Apache-2.0 */
/* Opening a trace, in whatever format it has: as it is, as events, or as allocations.  `path`
 * outlives what is opened. */
#ifndef CONVERTER_FORMATS_OPEN_TRACE_H
#define CONVERTER_FORMATS_OPEN_TRACE_H

#include "converter/formats/format_table.h"
#include "converter/trace/allocs_as_events.h"
#include "converter/trace/events_as_allocs.h"

/* `made_of`, if not NULL, is set to the allocations that the events are made of, which are theirs;
 * to NULL where they are not. */
enum step_status trace_open_events(const char *path, const struct trace_format *format,
                                   const struct event_selection *selected,
                                   struct event_source **out, struct alloc_source **made_of,
                                   struct step_error *error);

/* All of it; `options` (of Java traces) NULL: the defaults. */
enum step_status trace_open_allocs(const char *path, const struct trace_format *format,
                                   const struct alloc_options *options, struct alloc_source **out,
                                   struct step_error *error);

#endif
