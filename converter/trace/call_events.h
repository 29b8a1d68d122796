/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Converts method events to properly nested calls per thread, for output formats that require them.
 * An exit closes its own call and those nested in it.  Exits without an entry are ignored.  Calls
 * that are open at the start of the slice open there; calls that are open at the end close there.
 */
#ifndef CONVERTER_TRACE_CALL_EVENTS_H
#define CONVERTER_TRACE_CALL_EVENTS_H

#include "converter/containers/id_table.h"
#include "converter/trace/call_stack.h"
#include "converter/trace/event.h"
#include "converter/trace/trace_format.h"
#include "format/json/json_output.h"
#include "steptrace/status.h"

enum call_change {
    CALL_OPENS,
    CALL_CLOSES,
    CALL_THROWS, /* closes by an exception */
    CALL_LEAVES, /* closes with a call that it is nested in */
};

/* A call that opens or closes. */
struct call_event {
    enum call_change change;
    uint32_t thread_id;
    uint64_t time_ns;
    uint64_t took_ns;         /* if it closes */
    struct call_frame *frame; /* of the call; the slice's start counts as its entry at the earliest.
                                 The receiver may set `site` when it opens */
    size_t depth;             /* 0: outermost; else the frame before it is its caller's */
};

/* Returns NULL for an outermost call. */
static inline const struct call_frame *call_event_caller(const struct call_event *event)
{
    return event->depth > 0 ? event->frame - 1 : NULL;
}

typedef enum step_status (*call_receive)(void *user, const struct call_event *event,
                                         struct step_error *error);

struct call_events {
    uint64_t from_ns; /* start of the slice: earlier calls are tracked, but not passed on */
    bool has_begun;
    uint64_t last_ns;
    struct id_table threads; /* struct call_stack */
    call_receive receive;
    void *user;
};

/* The option values of call formats, a uint64_t set by verbs: the start of the slice in ns. */
extern const struct format_options call_options;

void call_events_init(struct call_events *calls, uint64_t from_ns, call_receive receive,
                      void *user);
void call_events_reset(struct call_events *calls);

/* Processes the next event.  Events of other kinds only advance the time. */
enum step_status call_events_put(struct call_events *calls, const struct trace_event *event,
                                 struct step_error *error);
enum step_status call_events_finish(struct call_events *calls, struct step_error *error);

/* Puts the name of a call, as in "java/util/HashMap.put". */
void call_put_name(struct json_output *json, const struct trace_names *names, uint32_t method_id);

#endif
