/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Call stacks of allocations that were recorded without one: the calls that the thread's method
 * events have opened.  A source derives them before it selects events (event_source.c), so they do
 * not depend on what is selected.
 */
#ifndef CONVERTER_TRACE_DERIVED_STACKS_H
#define CONVERTER_TRACE_DERIVED_STACKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "converter/containers/id_table.h"
#include "converter/trace/event.h"
#include "converter/trace/names.h"
#include "format/core/hash_index.h"

struct derived_stacks {
    struct id_table threads; /* struct call_stack, whose frames have their frame's id as `site` */
    struct step_index index; /* frames by caller and method */
    struct derived_frame *frames;
    size_t count;
    size_t capacity;
};

/* The event kinds that stacks are derived from. */
#define DERIVED_STACKS_KINDS                                                                       \
    (TRACE_KIND_BIT(EVENT_METHOD_ENTRY) | TRACE_KIND_BIT(EVENT_METHOD_EXIT) |                      \
     TRACE_KIND_BIT(EVENT_METHOD_POP))

void derived_stacks_init(struct derived_stacks *stacks);
void derived_stacks_reset(struct derived_stacks *stacks);

/* Processes the next event: a method event opens or closes calls, for which `names` gets frames
 * without lines, and an allocation without a stack gets its thread's.  Returns false if out of
 * memory. */
bool derived_stacks_follow(struct derived_stacks *stacks, struct trace_names *names,
                           struct trace_event *event);
/* The same; before the first entry of a method there is nothing to do. */
static inline bool derived_stacks_put(struct derived_stacks *stacks, struct trace_names *names,
                                      struct trace_event *event)
{
    return (stacks->count == 0 && event->kind != EVENT_METHOD_ENTRY) ||
           derived_stacks_follow(stacks, names, event);
}

#endif
