/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tells for record after record of a heap trace whether a selection has it.  Objects are counted as
 * allocs_as_events.h counts them; they have no call stacks, so `sites` and `methods` take none.  A
 * free is of the thread that it names.
 */
#ifndef CONVERTER_ALLOCS_ALLOC_FILTER_H
#define CONVERTER_ALLOCS_ALLOC_FILTER_H

#include "converter/base/object_table.h"
#include "converter/events/event_selection.h"
#include "steptrace/hatf.h"

struct alloc_filter {
    const struct event_selection *selected; /* borrowed */
    bool everything;
    bool is_of_objects;
    bool no_memory;
    uint64_t object_count;
    struct object_table live; /* by live_address_key(): value is the object, class_id 1 if taken */
};

/* False: out of memory; reset is allowed then. */
bool alloc_filter_init(struct alloc_filter *filter, const struct event_selection *selected);
void alloc_filter_reset(struct alloc_filter *filter);
/* Must be asked for all records, in order. */
bool alloc_filter_takes(struct alloc_filter *filter, const struct hatf_record *record);

#endif
