/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The longest calls of a trace, as many as a page draws, with where they stood on their thread's
 * stack.
 */
#ifndef CONVERTER_REPORT_REPORT_CALLS_H
#define CONVERTER_REPORT_REPORT_CALLS_H

#include "converter/events/call_events.h"

#define REPORT_CALLS ((size_t) 12000)

struct report_call {
    uint64_t start_ns, length_ns;
    uint32_t thread_id, method_id;
    uint32_t depth; /* 0: outermost */
};

struct report_calls {
    struct call_events calls;
    struct id_table threads;     /* struct open_calls */
    struct report_call *longest; /* a heap, the shortest first */
    size_t count;
    uint64_t seen;
};

/* False: out of memory; reset is allowed then. */
bool report_calls_init(struct report_calls *calls);
void report_calls_reset(struct report_calls *calls);
enum step_status report_calls_put(struct report_calls *calls, const struct trace_event *events,
                                  size_t count, struct step_error *error);
/* Ends what is open, and sorts the calls by their starts. */
enum step_status report_calls_finish(struct report_calls *calls, struct step_error *error);

#endif
