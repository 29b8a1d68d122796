/* SPDX-License-Identifier: Apache-2.0 */
/* Functions common to all sources: names, live objects, the filter. */
#include "converter/trace/event_source.h"

#include <stdlib.h>
#include <string.h>

#include "converter/cli/error_report.h"
#include "converter/files/sampled_trace.h"
#include "converter/numbers/trace_ticks.h"
#include "format/core/step_no_memory.h"
#include "steptrace/live.h"

void event_source_init(struct event_source *source,
                       const struct event_source_operations *operations, const char *path,
                       const struct event_selection *selected)
{
    source->operations = operations;
    source->path = path;
    source->keep_live =
        !selected->untracked && (selected->kinds & (TRACE_KIND_BIT(EVENT_OBJECT_FREE) |
                                                    TRACE_KIND_BIT(EVENT_METHOD_ENTRY))) != 0;
    source->derives_stacks =
        (selected->kinds & TRACE_KIND_BIT(EVENT_OBJECT_ALLOC)) != 0 &&
        (selected->derives_stacks || selected->sites.count > 0 || selected->methods.count > 0);
    source->follows_calls = selected->follows_calls && !event_selection_is_all(selected) &&
                            (selected->kinds & TRACE_KIND_BIT(EVENT_METHOD_ENTRY)) != 0 &&
                            !selected->size.is_set && selected->sites.count == 0 &&
                            !event_selection_needs_deaths(selected);
    derived_stacks_init(&source->stacks);
    trace_names_init(&source->names);
    trace_filter_init(&source->filter, selected);
}

void event_source_reset(struct event_source *source)
{
    trace_names_reset(&source->names);
    derived_stacks_reset(&source->stacks);
    trace_filter_reset(&source->filter);
    object_table_reset(&source->live);
}

struct trace_text event_source_property(const struct event_source *source, const char *key)
{
    struct trace_property property;
    for (size_t i = 0; (property = trace_property_of(&source->about, i)).key.unshown != NULL; i++)
        if (trace_text_is(property.key, key))
            return property.value;
    return trace_text_of(NULL);
}

uint64_t event_source_number(const struct event_source *source, const char *key, uint64_t missing)
{
    return trace_number(event_source_property(source, key).unshown, missing);
}

uint64_t event_source_sample_interval(const struct event_source *source)
{
    return sampled_interval_bytes(event_source_property(source, "engine").unshown,
                                  event_source_property(source, "sample").unshown);
}

uint64_t event_source_stamp_events(const struct event_source *source)
{
    return event_source_number(source, STEP_LIVE_INTERPOLATED, 0);
}

bool trace_lacks_existing(const char *existing)
{
    return existing != NULL && strcmp(existing, "no") == 0;
}

enum time_unit event_source_time_unit(const struct event_source *source)
{
    return time_unit_of_clock(event_source_property(source, "clock").unshown);
}

uint32_t trace_not_recorded(const char *events)
{
    static const struct {
        const char *word;
        uint32_t kind;
    } words[] = {{"alloc", TRACE_KIND_BIT(EVENT_OBJECT_ALLOC)},
                 {"free", TRACE_KIND_BIT(EVENT_OBJECT_FREE)},
                 {"method", TRACE_KIND_BIT(EVENT_METHOD_ENTRY)}};
    uint32_t kinds = 0;
    for (size_t i = 0; events != NULL && i < sizeof words / sizeof words[0]; i++)
        kinds |= words[i].kind;
    while (events != NULL && *events != '\0') {
        size_t length = strcspn(events, "+");
        for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
            if (strlen(words[i].word) == length && memcmp(words[i].word, events, length) == 0)
                kinds &= ~words[i].kind;
        events += length + (events[length] == '+');
    }
    return kinds;
}

uint32_t event_source_not_recorded(const struct event_source *source)
{
    return trace_not_recorded(event_source_property(source, "events").unshown);
}

void trace_report_not_recorded(const char *path, uint32_t kinds)
{
    if ((kinds & TRACE_KIND_BIT(EVENT_OBJECT_ALLOC)) != 0)
        report_line("%s: has no allocations (the agent's option events=alloc)", path);
    else if ((kinds & TRACE_KIND_BIT(EVENT_OBJECT_FREE)) != 0)
        report_line("%s: has no deaths, so all objects count as alive: no collection found dead "
                    "objects, or deaths were not recorded (the agent's option events=free)",
                    path);
}

void trace_report_no_allocs(const char *path, const struct event_source *source)
{
    trace_report_not_recorded(path, event_source_not_recorded(source) &
                                        TRACE_KIND_BIT(EVENT_OBJECT_ALLOC));
}

/* A visitor that is out of memory has no error to say so. */
static enum step_status event_source_explained(enum step_status status, struct step_error *error)
{
    if (status == STEP_STATUS_NO_MEMORY && error->status == STEP_STATUS_OK)
        step_no_memory(error, NULL);
    return status;
}

enum step_status event_source_facts(struct event_source *source, trace_fact_visit visit, void *user,
                                    struct step_error *error)
{
    if (source->operations->facts == NULL)
        return STEP_STATUS_OK;
    return event_source_explained(source->operations->facts(source, visit, user, error), error);
}

enum step_status event_source_samples(struct event_source *source, trace_sample_visit visit,
                                      void *user, struct step_error *error)
{
    if (source->operations->samples == NULL)
        return STEP_STATUS_OK;
    return event_source_explained(source->operations->samples(source, visit, user, error), error);
}

enum step_status event_source_phases(struct event_source *source, trace_phase_visit visit,
                                     void *user, struct step_error *error)
{
    return source->operations->phases == NULL
               ? STEP_STATUS_OK
               : source->operations->phases(source, visit, user, error);
}

enum step_status event_source_layouts(struct event_source *source, trace_layout_visit visit,
                                      void *user)
{
    return source->operations->layouts == NULL ? STEP_STATUS_OK
                                               : source->operations->layouts(source, visit, user);
}

bool event_source_takes_some(struct event_source *source, struct trace_event *event)
{
    const struct event_selection *selected = &source->filter.selected;
    if (trace_filter_takes(&source->filter, &source->names, event))
        return true;
    if (!source->follows_calls || (CALL_KINDS & TRACE_KIND_BIT(event->kind)) == 0 ||
        event->time_ns > selected->to_ns)
        return false;
    if (!trace_filter_takes_call(&source->filter, &source->names, event))
        event->flags |= TRACE_FOLLOWED;
    if (event->time_ns < selected->from_ns) {
        event->flags |= TRACE_BEFORE;
        event->time_ns = selected->from_ns;
    }
    return true;
}
