/* SPDX-License-Identifier: Apache-2.0 */
/* Events of a Java trace as HATF's records (docs/formats/hatf.md): objects become allocations. */
#ifndef CONVERTER_TRACE_EVENTS_AS_ALLOCS_H
#define CONVERTER_TRACE_EVENTS_AS_ALLOCS_H

#include <stdbool.h>

#include "converter/trace/alloc_options.h"
#include "converter/trace/alloc_sink.h"
#include "converter/trace/alloc_source.h"

/* Records that are made of the events of another trace; takes the source over, also when it fails.
 * `options` NULL: the defaults. */
enum step_status event_alloc_source_create(struct event_source *events,
                                           const struct alloc_options *options,
                                           struct alloc_source **out, struct step_error *error);

/* A sink of events, for traces that have no records and formats that need them. */
enum step_status event_sink_create(const struct format_output *to, struct event_sink **out,
                                   struct step_error *error);

/* Sets what is to be left out of a record to 0 or empty; comments stay. */
void record_omit(struct hatf_record *record, unsigned omitted);

#endif
