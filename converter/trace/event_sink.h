/* SPDX-License-Identifier: Apache-2.0 */
/* Where events go: one interface over all output formats. */
#ifndef CONVERTER_TRACE_EVENT_SINK_H
#define CONVERTER_TRACE_EVENT_SINK_H

#include "converter/trace/trace_format.h"

struct event_sink {
    const struct event_sink_operations *operations;
};

struct event_sink_operations {
    enum step_status (*put)(struct event_sink *sink, const struct trace_event *events, size_t count,
                            struct step_error *error);
    /* A visit of the trace's facts, after the last event; NULL: the format has no place for them.
     */
    enum step_status (*put_fact)(void *sink, const struct trace_fact *fact);
    /* Writes what is left; the file is complete after it.  Called once, and not after a put that
     * failed. */
    enum step_status (*close)(struct event_sink *sink, struct step_error *error);
    void (*destroy)(struct event_sink *sink);
};

#endif
