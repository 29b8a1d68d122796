/* SPDX-License-Identifier: Apache-2.0 */
/* A heap trace's records as events, for the verbs that know of nothing else. */
#ifndef CONVERTER_TRACE_ALLOCS_AS_EVENTS_H
#define CONVERTER_TRACE_ALLOCS_AS_EVENTS_H

#include "converter/trace/alloc_source.h"

/* Takes the records over, also when it fails. */
enum step_status record_trace_source_create(struct alloc_source *records,
                                            const struct event_selection *selected,
                                            struct event_source **out, struct step_error *error);

/* What a thread, and a call as attributes say it, are among the source's names, with entries of
 * their own where they were not met yet; 0: out of memory, or no thread. */
uint32_t record_trace_source_thread(struct event_source *source, uint64_t number);
uint32_t record_trace_source_class(struct event_source *source, const char *call);

#endif
