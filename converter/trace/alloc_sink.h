/* SPDX-License-Identifier: Apache-2.0 */
/* Destination of HATF records: the interface that all output formats for heap traces implement. */
#ifndef CONVERTER_TRACE_ALLOC_SINK_H
#define CONVERTER_TRACE_ALLOC_SINK_H

#include "converter/trace/event_sink.h"
#include "steptrace/hatf.h"

struct alloc_sink {
    const struct alloc_sink_operations *operations;
};

struct alloc_sink_operations {
    enum step_status (*put)(struct alloc_sink *sink, const struct hatf_record *record,
                            struct step_error *error);
    /* Passes on the data written so far, as far as the format permits; NULL: not needed. */
    enum step_status (*flush)(struct alloc_sink *sink, struct step_error *error);
    /* Writes the rest.  Called once, and not after a put that failed. */
    enum step_status (*close)(struct alloc_sink *sink, struct step_error *error);
    void (*destroy)(struct alloc_sink *sink);
};

#endif
