/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Method events as calls that open and close in order, thread by thread, for formats that need just
 * that: an exit closes its own call and those further in; exits of calls that the events do not
 * begin are passed over; calls that are open when the slice begins open there, calls that are open
 * at the end close there.
 */
#ifndef CONVERTER_TRACE_CALL_EVENTS_H
#define CONVERTER_TRACE_CALL_EVENTS_H

#include "converter/base/id_table.h"
#include "converter/trace/call_stack.h"
#include "converter/trace/event.h"
#include "converter/trace/trace_format.h"
#include "steptrace/status.h"

enum call_change { CALL_OPENS, CALL_CLOSES, CALL_THROWS /* closes by an exception */ };

typedef enum step_status (*call_receive)(void *user, enum call_change change, uint32_t thread_id,
                                         uint32_t method_id, uint64_t time_ns,
                                         struct step_error *error);

struct call_events {
    uint64_t from_ns; /* where the slice begins: calls before are followed, not given */
    bool has_begun;
    uint64_t last_ns;
    struct id_table threads; /* struct call_stack */
    call_receive receive;
    void *user;
};

/* A uint64_t of verbs that convert calls: where the slice begins. */
extern const struct format_options call_options;

void call_events_init(struct call_events *calls, uint64_t from_ns, call_receive receive,
                      void *user);
void call_events_reset(struct call_events *calls);

/* Events of other kinds only tell the time. */
enum step_status call_events_put(struct call_events *calls, const struct trace_event *event,
                                 struct step_error *error);
enum step_status call_events_finish(struct call_events *calls, struct step_error *error);

#endif
