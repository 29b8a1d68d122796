/* SPDX-License-Identifier: Apache-2.0 */
/* Opens a trace of any format as a source of events or of allocations.  `path` must outlive the
 * source. */
#ifndef CONVERTER_FORMATS_OPEN_TRACE_H
#define CONVERTER_FORMATS_OPEN_TRACE_H

#include "converter/formats/format_table.h"
#include "converter/trace/allocs_as_events.h"
#include "converter/trace/events_as_allocs.h"

/* If `made_of` is not NULL, sets it to the allocations that the events are derived from, which the
 * events own, or to NULL if there are none. */
enum step_status trace_open_events(const char *path, const struct trace_format *format,
                                   const struct event_selection *selected,
                                   struct event_source **out, struct alloc_source **made_of,
                                   struct step_error *error);

/* Opens all allocations, unfiltered.  `options` (of Java traces) NULL: the defaults. */
enum step_status trace_open_allocs(const char *path, const struct trace_format *format,
                                   const struct alloc_options *options, struct alloc_source **out,
                                   struct step_error *error);

#endif
