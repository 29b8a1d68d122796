/* SPDX-License-Identifier: Apache-2.0 */
/* Converts events of a Java trace to HATF records (docs/formats/hatf.md): objects become
 * allocations. */
#ifndef CONVERTER_TRACE_EVENTS_AS_ALLOCS_H
#define CONVERTER_TRACE_EVENTS_AS_ALLOCS_H

#include <stdbool.h>

#include "converter/trace/alloc_options.h"
#include "converter/trace/alloc_sink.h"
#include "converter/trace/alloc_source.h"

/* Creates a source of records from events.  Takes ownership of `events`, even on failure.
 * `options` may be NULL: the defaults. */
enum step_status event_alloc_source_create(struct event_source *events,
                                           const struct alloc_options *options,
                                           struct alloc_source **out, struct step_error *error);

/* Creates a sink of events for an output format that requires records. */
enum step_status event_sink_create(const struct format_output *to, struct event_sink **out,
                                   struct step_error *error);

/* Sets the omitted fields of a record to 0 or empty, except in comments. */
void record_omit(struct hatf_record *record, unsigned omitted);

#endif
