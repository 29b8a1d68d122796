/* SPDX-License-Identifier: Apache-2.0 */
/* Tells for event after event whether a selection has it. */
#ifndef CONVERTER_TRACE_TRACE_FILTER_H
#define CONVERTER_TRACE_TRACE_FILTER_H

#include "converter/base/id_table.h"
#include "converter/base/object_table.h"
#include "converter/trace/event_selection.h"
#include "converter/trace/names.h"

struct trace_filter {
    struct event_selection selected;
    bool everything;
    bool is_of_objects;
    bool no_memory; /* an object could not be noted: its free will be missing */
    /* uint32_t: what is known of a number (trace_filter.c), 0: not looked at yet */
    struct id_table classes;
    struct id_table threads;
    struct id_table methods;
    struct id_table frames;
    struct object_table chosen; /* objects that were taken and live */
};

/* False: out of memory; reset is allowed then. */
bool trace_filter_init(struct trace_filter *filter, const struct event_selection *selected);
void trace_filter_reset(struct trace_filter *filter);

/* Must be asked for all allocations, in order. */
bool trace_filter_takes(struct trace_filter *filter, const struct trace_names *names,
                        const struct trace_event *event);

/* Whether the object of an allocation is wanted, by all but its call stack. */
bool trace_filter_takes_object(struct trace_filter *filter, const struct trace_names *names,
                               const struct trace_event *event);
/* Which of the patterns of --thread a thread matches. */
uint32_t trace_filter_thread_mask(const struct trace_names *names,
                                  const struct selected_globs *globs, uint32_t thread_id);
/* Which of the patterns of --site (or --method) a frame of a call stack matches. */
uint32_t trace_filter_frame_mask(const struct trace_names *names,
                                 const struct selected_globs *globs, uint32_t method_id,
                                 uint32_t line);

#endif
