/* SPDX-License-Identifier: Apache-2.0 */
/* A sink of events over one of records: for Java traces that become heap traces. */
#include <stdlib.h>

#include "converter/allocs/alloc_sink.h"

struct events_as_allocs_sink {
    struct event_sink base;
    struct event_records events;
    struct alloc_sink *records;
    unsigned omitted;
};

static struct events_as_allocs_sink *of(struct event_sink *sink)
{
    return (struct events_as_allocs_sink *) sink;
}

void record_omit(struct hatf_record *record, unsigned omitted)
{
    if ((omitted & 1u << HATF_SIZE) != 0)
        record->size = 0;
    if ((omitted & 1u << HATF_TIME) != 0)
        record->time = 0;
    if ((omitted & 1u << HATF_THREAD) != 0)
        record->thread = 0;
    if ((omitted & 1u << HATF_HEAP) != 0)
        record->heap = 0;
    if ((omitted & 1u << HATF_ATTRIBUTES) != 0)
        record->attributes.length = 0;
}

static enum step_status put(struct event_sink *base, const struct trace_event *events, size_t count,
                            struct step_error *error)
{
    struct events_as_allocs_sink *sink = of(base);
    enum step_status status = STEP_STATUS_OK;
    struct hatf_record comment;
    if (event_records_comment(&sink->events, &comment))
        status = sink->records->operations->put(sink->records, &comment, error);
    for (size_t i = 0; i < count && status == STEP_STATUS_OK; i++) {
        struct hatf_record record;
        status = event_records_take(&sink->events, &events[i], &record, error);
        if (status == STEP_STATUS_OK) {
            record_omit(&record, sink->omitted);
            status = sink->records->operations->put(sink->records, &record, error);
        } else if (status == STEP_STATUS_END) {
            status = STEP_STATUS_OK;
        }
    }
    return status;
}

static enum step_status close_sink(struct event_sink *base, struct step_error *error)
{
    struct alloc_sink *records = of(base)->records;
    return records->operations->close(records, error);
}

static void destroy(struct event_sink *base)
{
    struct events_as_allocs_sink *sink = of(base);
    if (sink->records != NULL)
        sink->records->operations->destroy(sink->records);
    event_records_reset(&sink->events);
    free(sink);
}

static const struct event_sink_operations operations = {
    .put = put,
    .close = close_sink,
    .destroy = destroy,
};

enum step_status event_sink_create(alloc_sink_open open, struct output_file *output,
                                   const struct event_source *source,
                                   const struct event_sink_options *options,
                                   struct event_sink **out, struct step_error *error)
{
    struct events_as_allocs_sink *sink = calloc(1, sizeof *sink);
    if (sink == NULL || !event_records_init(&sink->events, options->records, &source->names)) {
        free(sink);
        return step_error_set(error, STEP_STATUS_NO_MEMORY, NULL, STEP_NO_OFFSET, "out of memory");
    }
    sink->base.operations = &operations;
    sink->omitted = options->omitted;
    enum step_status status = open(output, source, options, &sink->records, error);
    if (status == STEP_STATUS_OK)
        *out = &sink->base;
    else
        destroy(&sink->base);
    return status;
}
