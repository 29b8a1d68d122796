/* SPDX-License-Identifier: Apache-2.0 */
/* Converts events of a Java trace to HATF records (docs/formats/hatf.md): objects become
 * allocations. */
#ifndef CONVERTER_TRACE_EVENTS_AS_ALLOCS_H
#define CONVERTER_TRACE_EVENTS_AS_ALLOCS_H

#include <stdbool.h>

#include "converter/trace/alloc_source.h"
#include "converter/trace/trace_format.h"
#include "steptrace/hatf.h"

/* Options of output formats that store allocations. */

enum alloc_addresses { ADDRESSES_ID, ADDRESSES_BUMP, ADDRESSES_MALLOC };

struct alloc_options {
    enum alloc_addresses addresses; /* how addresses of objects are chosen */
    bool class_attributes;          /* store the class of each object as its attributes */
    enum hatf_split split;
    unsigned omitted; /* bitmap of omitted fields, 1 << enum hatf_field */
};

/* alloc_event_options sets the first two members, for formats that need allocations; the others
 * set one member each. */
extern const struct format_options alloc_event_options;
extern const struct format_options alloc_split_options;
extern const struct format_options alloc_omit_options;

const struct alloc_options *alloc_options_of(const struct format_settings *settings);

/* Creates a source of records from events.  Takes ownership of `events`, even on failure.
 * `options` may be NULL: the defaults. */
enum step_status event_alloc_source_create(struct event_source *events,
                                           const struct alloc_options *options,
                                           struct alloc_source **out, struct step_error *error);

/* The sink of events of an output format that requires records. */
extern const struct trace_sink_operations events_as_allocs_sink;

/* Sets the omitted fields of a record to 0 or empty, except in comments. */
void record_omit(struct hatf_record *record, unsigned omitted);

#endif
