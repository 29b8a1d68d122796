/* SPDX-License-Identifier: Apache-2.0 */
/* Opens a sink of events or of allocations, feeds it, and closes it. */
#include "converter/formats/pour.h"

#include "converter/trace/trace_sink.h"

struct flow {
    const struct pouring *how;
    struct input *input;
    struct trace_sink *sink;
    bool is_checked; /* whether it has what the format needs */
    uint32_t kinds;  /* of events that were put, if it is checked */
    bool has_sites;
};

static enum step_status pour_put_events(void *user, const struct trace_event *events, size_t count,
                                        struct step_error *error)
{
    struct flow *flow = user;
    return trace_sink_put(flow->sink, events, count, error);
}

static enum step_status put_checked(void *user, const struct trace_event *events, size_t count,
                                    struct step_error *error)
{
    struct flow *flow = user;
    for (size_t i = 0; i < count; i++) {
        flow->kinds |= TRACE_KIND_BIT(events[i].kind);
        flow->has_sites |= events[i].kind == EVENT_OBJECT_ALLOC && events[i].stack_id != 0;
    }
    return pour_put_events(user, events, count, error);
}

static enum step_status pour_put_alloc(void *user, const struct hatf_record *record,
                                       struct step_error *error)
{
    return trace_sink_put_alloc(user, record, error);
}

static enum step_status pour_put_part(void *user, const struct hatf_record *record,
                                      struct step_error *error)
{
    const struct flow *flow = user;
    struct hatf_record copy = *record;
    record_omit(&copy, alloc_options_of(flow->how->settings)->omitted);
    return trace_sink_put_alloc(flow->sink, &copy, error);
}

static enum step_status pour_open(struct flow *flow, struct output_file *file,
                                  struct step_error *error)
{
    const struct format_output to = {.format = flow->how->to,
                                     .file = file,
                                     .source = flow->input->source,
                                     .settings = flow->how->settings};
    return trace_sink_create(&to, flow->input->allocs != NULL, &flow->sink, error);
}

/* The error is reported again at the next record. */
static void flush_allocs(void *user)
{
    struct trace_sink *sink = user;
    fflush(sink->stream.file);
}

static bool takes_events(const struct flow *flow)
{
    return flow->sink->operations->put != NULL;
}

static enum step_status feed(struct flow *flow)
{
    if (takes_events(flow))
        return input_each(flow->input, flow->is_checked ? put_checked : pour_put_events, flow);
    if (flow->sink->operations->prints) {
        flow->input->allocs->before_wait = flush_allocs;
        flow->input->allocs->before_wait_user = flow->sink;
    }
    return alloc_options_of(flow->how->settings)->omitted != 0
               ? input_each_alloc(flow->input, pour_put_part, flow)
               : input_each_alloc(flow->input, pour_put_alloc, flow->sink);
}

/* Facts about the whole trace may not hold for a part. */
static enum step_status put_facts(const struct flow *flow, struct step_error *error)
{
    struct event_source *source = flow->input->source;
    if (flow->sink->operations->put_fact == NULL ||
        !event_selection_is_all(&source->filter.selected))
        return STEP_STATUS_OK;
    return event_source_facts(source, flow->sink->operations->put_fact, flow->sink, error);
}

/* Returns whether an event of the kind was selected, and there was none. */
static bool lacks(const struct flow *flow, uint8_t kind)
{
    return (flow->input->source->filter.selected.kinds & ~flow->kinds & TRACE_KIND_BIT(kind)) != 0;
}

/* A part of a trace may lack what the format needs by its selection. */
static bool is_to_be_checked(const struct flow *flow)
{
    const struct trace_format *to = flow->how->to;
    struct event_selection selected = flow->input->source->filter.selected;
    selected.kinds = TRACE_ALL_KINDS;
    return (to->needs == FORMAT_NEEDS_CALLS || to->needs == FORMAT_NEEDS_HEAP ||
            to->needs == FORMAT_NEEDS_ALLOCATIONS || to->shows_allocations) &&
           event_selection_is_all(&selected);
}

/* Says which option of the agent records what the format needs and the trace lacks. */
static void report_lacks(const struct flow *flow)
{
    const struct event_source *source = flow->input->source;
    enum format_needs needs = flow->how->to->needs;
    bool is_native = source->content == TRACE_OF_ALLOCATIONS;
    if (needs == FORMAT_NEEDS_CALLS && lacks(flow, EVENT_METHOD_ENTRY))
        report_line("%s: has no method events (%s)", source->path,
                    is_native ? "it is of a native program" : "the agent's option events=method");
    if (needs == FORMAT_NEEDS_CALLS)
        return;
    uint32_t absent = source->filter.selected.kinds & ~flow->kinds;
    if (is_native)
        absent &= ~TRACE_KIND_BIT(EVENT_OBJECT_FREE);
    trace_report_not_recorded(source->path, absent);
    if (lacks(flow, EVENT_OBJECT_ALLOC))
        return;
    if (needs != FORMAT_NEEDS_ALLOCATIONS && !flow->has_sites)
        report_no_stacks(source->path);
}

static enum step_status pour(struct flow *flow, struct output_file *file)
{
    struct step_error error = {.offset = STEP_NO_OFFSET};
    enum step_status status = pour_open(flow, file, &error);
    if (status != STEP_STATUS_OK)
        return report_error(&error);
    flow->is_checked = takes_events(flow) && is_to_be_checked(flow);
    enum step_status fed = feed(flow);
    if (fed == STEP_STATUS_OK)
        status = put_facts(flow, &error);
    if (status == STEP_STATUS_OK && (fed == STEP_STATUS_OK || flow->how->writes_broken_part))
        status = trace_sink_close(flow->sink, &error);
    trace_sink_destroy(flow->sink);
    if (fed != STEP_STATUS_OK)
        return fed; /* already reported */
    if (status == STEP_STATUS_OK)
        status = output_file_commit(file, &error);
    if (status != STEP_STATUS_OK)
        return report_error(&error);
    if (flow->is_checked)
        report_lacks(flow);
    return status;
}

enum step_status input_pour(struct input *input, const struct pouring *pouring, const char *output,
                            uint64_t *size_bytes)
{
    struct flow flow = {.how = pouring, .input = input};
    struct step_error error = {.offset = STEP_NO_OFFSET};
    struct output_file file;
    enum step_status status =
        output_file_open_or_post(&file, output, pouring->to->post_type, &error);
    if (status != STEP_STATUS_OK)
        return report_error(&error);
    status = pour(&flow, &file);
    if (size_bytes != NULL)
        *size_bytes = file.size_bytes;
    output_file_abort(&file);
    return status;
}
