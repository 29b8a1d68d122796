/* SPDX-License-Identifier: Apache-2.0 */
/* Where allocations come from: the frame that an event names, or, where it names none, the calls
 * that its thread's method events have opened. */
#ifndef CONVERTER_HEAP_CALL_SITES_H
#define CONVERTER_HEAP_CALL_SITES_H

#include "converter/heap/heap_sites.h"
#include "converter/trace/event.h"

struct call_sites {
    struct id_table threads; /* struct call_stack */
};

void call_sites_init(struct call_sites *calls);
void call_sites_reset(struct call_sites *calls);

/* Takes any event in its turn; those of methods count, and make sites.  False: out of memory. */
bool call_sites_put(struct call_sites *calls, struct heap_sites *sites,
                    const struct trace_event *event);
/* The site of an allocation; 0: not known. */
uint32_t call_sites_of(const struct call_sites *calls, struct heap_sites *sites,
                       const struct trace_event *event);

#endif
