/* SPDX-License-Identifier: Apache-2.0 */
/* Destination of events: the interface that all output formats for events implement. */
#ifndef CONVERTER_TRACE_EVENT_SINK_H
#define CONVERTER_TRACE_EVENT_SINK_H

#include "converter/trace/trace_format.h"

struct event_sink {
    const struct event_sink_operations *operations;
};

struct event_sink_operations {
    enum step_status (*put)(struct event_sink *sink, const struct trace_event *events, size_t count,
                            struct step_error *error);
    /* Writes a fact, after the last event; NULL: the format cannot store facts. */
    enum step_status (*put_fact)(void *sink, const struct trace_fact *fact);
    /* Writes the rest, after which the file is complete.  Called once, and not after a put that
     * failed. */
    enum step_status (*close)(struct event_sink *sink, struct step_error *error);
    void (*destroy)(struct event_sink *sink);
};

#endif
