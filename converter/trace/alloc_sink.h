/* SPDX-License-Identifier: Apache-2.0 */
/* Where HATF's records go: one interface over all formats of heap traces. */
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
    /* Hands on what was written so far, as far as the format allows it; NULL: nothing to do. */
    enum step_status (*flush)(struct alloc_sink *sink, struct step_error *error);
    /* Writes what is left; called once, and not after a put that failed. */
    enum step_status (*close)(struct alloc_sink *sink, struct step_error *error);
    void (*destroy)(struct alloc_sink *sink);
};

#endif
