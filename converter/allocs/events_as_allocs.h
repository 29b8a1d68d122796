/* SPDX-License-Identifier: Apache-2.0 */
/* Events of a Java trace as HATF's records (docs/formats/hatf.md): objects become allocations. */
#ifndef CONVERTER_EVENT_RECORDS_H
#define CONVERTER_EVENT_RECORDS_H

#include <stdbool.h>

#include "converter/base/object_table.h"
#include "converter/events/event.h"
#include "converter/events/names.h"
#include "steptrace/hatf.h"

enum record_addresses { ADDRESSES_ID, ADDRESSES_BUMP, ADDRESSES_MALLOC };

struct record_options {
    enum record_addresses addresses;
    bool class_attributes;
};

struct event_records {
    struct record_options options;
    const struct trace_names *names; /* borrowed */
    struct object_table addresses;   /* by object, where its address is not its id */
    uint64_t bump;                   /* the next address */
    bool has_comment;                /* it was given */
};

/* `options` NULL: the defaults.  False: out of memory. */
bool event_records_init(struct event_records *records, const struct record_options *options,
                        const struct trace_names *names);
void event_records_reset(struct event_records *records);

/* What comes before the first record; false: nothing does. */
bool event_records_comment(struct event_records *records, struct hatf_record *comment);
/* END for an event that has no record. */
enum step_status event_records_take(struct event_records *records, const struct trace_event *event,
                                    struct hatf_record *record, struct step_error *error);

#endif
