/* SPDX-License-Identifier: Apache-2.0 */
/* Where HATF's records go: one interface over all formats of heap traces. */
#ifndef CONVERTER_ALLOCS_ALLOC_SINK_H
#define CONVERTER_ALLOCS_ALLOC_SINK_H

#include "converter/events/event_sink.h"
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

/* `source` gives provenance, and outlives the sink; `output` is the caller's. */
typedef enum step_status (*alloc_sink_open)(struct output_file *output,
                                            const struct event_source *source,
                                            const struct event_sink_options *options,
                                            struct alloc_sink **out, struct step_error *error);

#endif
