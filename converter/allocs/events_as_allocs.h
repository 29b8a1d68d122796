/* SPDX-License-Identifier: Apache-2.0 */
/* Events of a Java trace as HATF's records (docs/formats/hatf.md): objects become allocations. */
#ifndef CONVERTER_ALLOCS_EVENTS_AS_ALLOCS_H
#define CONVERTER_ALLOCS_EVENTS_AS_ALLOCS_H

#include <stdbool.h>

#include "converter/allocs/alloc_sink.h"
#include "converter/allocs/alloc_source.h"

enum alloc_addresses { ADDRESSES_ID, ADDRESSES_BUMP, ADDRESSES_MALLOC };

struct alloc_options {
    enum alloc_addresses addresses;
    bool class_attributes;
};

/* Records that are made of the events of another trace; takes the source over, also when it fails.
 * `options` NULL: the defaults. */
enum step_status event_alloc_source_create(struct event_source *events,
                                           const struct alloc_options *options,
                                           struct alloc_source **out, struct step_error *error);

/* A sink of events, for traces that have no records: they become some on the way. */
enum step_status event_sink_create(alloc_sink_open open, struct output_file *output,
                                   const struct event_source *source,
                                   const struct event_sink_options *options,
                                   struct event_sink **out, struct step_error *error);

/* Sets what is to be left out of a record to 0 or empty; comments stay. */
void record_omit(struct hatf_record *record, unsigned omitted);

#endif
