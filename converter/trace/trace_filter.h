/* SPDX-License-Identifier: Apache-2.0 */
/* Decides for each event whether a selection accepts it. */
#ifndef CONVERTER_TRACE_TRACE_FILTER_H
#define CONVERTER_TRACE_TRACE_FILTER_H

#include "converter/containers/id_table.h"
#include "converter/containers/object_table.h"
#include "converter/trace/event_selection.h"
#include "converter/trace/names.h"

struct trace_filter {
    struct event_selection selected;
    bool everything;
    bool only_kinds; /* the selection has no other criterion */
    bool is_of_objects;
    bool no_memory; /* an object could not be stored: its free will be missing */
    /* uint32_t by id: cached results of matching (trace_filter.c); 0: not matched yet */
    struct id_table classes;
    struct id_table threads;
    struct id_table methods;
    struct id_table frames;
    struct object_table chosen; /* live objects whose allocation was accepted */
};

void trace_filter_init(struct trace_filter *filter, const struct event_selection *selected);
void trace_filter_reset(struct trace_filter *filter);

/* Returns whether the event is accepted.  Call it for all allocations, in order. */
bool trace_filter_takes(struct trace_filter *filter, const struct trace_names *names,
                        const struct trace_event *event);

/* Returns whether all criteria except the time accept what is no object's event. */
bool trace_filter_takes_call(struct trace_filter *filter, const struct trace_names *names,
                             const struct trace_event *event);
/* Returns whether all criteria except the call stack accept an allocated object. */
bool trace_filter_takes_object(struct trace_filter *filter, const struct trace_names *names,
                               const struct trace_event *event);
/* Returns a bitmap of the --thread patterns that match a thread. */
uint32_t trace_filter_thread_mask(const struct trace_names *names,
                                  const struct selected_globs *globs, uint32_t thread_id);
/* Returns a bitmap of the --site (or --method) patterns that match a frame. */
uint32_t trace_filter_frame_mask(const struct trace_names *names,
                                 const struct selected_globs *globs, uint32_t method_id,
                                 uint32_t line);

#endif
