/* SPDX-License-Identifier: Apache-2.0 */
/* A heap trace's records as events, for the verbs that know of nothing else. */
#ifndef CONVERTER_ALLOCS_ALLOCS_AS_EVENTS_H
#define CONVERTER_ALLOCS_ALLOCS_AS_EVENTS_H

#include "converter/allocs/alloc_source.h"

/* Takes the records over, also when it fails. */
enum step_status record_trace_source_create(struct alloc_source *records,
                                            const struct event_selection *selected,
                                            struct event_source **out, struct step_error *error);

#endif
