/* SPDX-License-Identifier: Apache-2.0 */
/* Presents a heap trace's records as events, for verbs that process only events. */
#ifndef CONVERTER_TRACE_ALLOCS_AS_EVENTS_H
#define CONVERTER_TRACE_ALLOCS_AS_EVENTS_H

#include "converter/trace/alloc_source.h"

/* Creates the source.  Takes ownership of `records`, even on failure. */
enum step_status record_trace_source_create(struct alloc_source *records,
                                            const struct event_selection *selected,
                                            struct event_source **out, struct step_error *error);

/* Return the id of a thread, or of the class for a call named in attributes, adding it to the
 * source's names if it is new; 0 if out of memory, or for thread 0. */
uint32_t record_trace_source_thread(struct event_source *source, uint64_t number);
uint32_t record_trace_source_class(struct event_source *source, const char *call);

#endif
