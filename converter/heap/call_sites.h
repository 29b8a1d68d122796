/* SPDX-License-Identifier: Apache-2.0 */
/* The call sites of allocations: the frame that an event names, or else the calls that the
 * thread's method events have opened. */
#ifndef CONVERTER_HEAP_CALL_SITES_H
#define CONVERTER_HEAP_CALL_SITES_H

#include "converter/heap/heap_sites.h"
#include "converter/trace/event.h"

struct call_sites {
    struct id_table threads; /* struct call_stack */
};

void call_sites_init(struct call_sites *calls);
void call_sites_reset(struct call_sites *calls);

/* Processes the next event; only method events have an effect, and may add sites.  Returns false
 * if out of memory. */
bool call_sites_put(struct call_sites *calls, struct heap_sites *sites,
                    const struct trace_event *event);
/* Returns the site of an allocation; 0 if it is unknown. */
uint32_t call_sites_of(const struct call_sites *calls, struct heap_sites *sites,
                       const struct trace_event *event);

#endif
