/* SPDX-License-Identifier: Apache-2.0 */
/* Records that are made of the events of another trace. */
#include <stdlib.h>

#include "converter/allocs/alloc_source.h"

enum { BATCH = 512 };

struct event_record_source {
    struct alloc_source base;
    struct event_source *events;
    struct event_records records;
    size_t at;
    size_t count;
    struct trace_event batch[BATCH];
};

static struct event_record_source *of(struct alloc_source *source)
{
    return (struct event_record_source *) source;
}

static const struct event_record_source *of_const(const struct alloc_source *source)
{
    return (const struct event_record_source *) source;
}

static enum step_status next(struct alloc_source *base, struct hatf_record *record,
                             struct step_error *error)
{
    struct event_record_source *source = of(base);
    enum step_status status = STEP_STATUS_END;
    if (event_records_comment(&source->records, record))
        return STEP_STATUS_OK;
    while (status == STEP_STATUS_END) {
        if (source->at == source->count) {
            source->at = 0;
            status = source->events->operations->read(source->events, source->batch, BATCH,
                                                      &source->count, error);
            if (status != STEP_STATUS_OK)
                return status;
        }
        status = event_records_take(&source->records, &source->batch[source->at++], record, error);
    }
    return status;
}

static void summary(const struct alloc_source *base, struct trace_summary *out)
{
    const struct event_source *events = of_const(base)->events;
    events->operations->summary(events, out);
}

static size_t property_count(const struct alloc_source *base)
{
    const struct event_source *events = of_const(base)->events;
    return events->operations->property_count(events);
}

static void property(const struct alloc_source *base, size_t i, const char **key,
                     const char **value)
{
    const struct event_source *events = of_const(base)->events;
    events->operations->property(events, i, key, value);
}

static size_t damage_count(const struct alloc_source *base)
{
    const struct event_source *events = of_const(base)->events;
    return events->operations->damage_count(events);
}

static const struct step_damage *damage(const struct alloc_source *base, size_t i)
{
    const struct event_source *events = of_const(base)->events;
    return events->operations->damage(events, i);
}

static double progress(const struct alloc_source *base)
{
    const struct event_source *events = of_const(base)->events;
    return events->operations->progress(events);
}

static void destroy(struct alloc_source *base)
{
    struct event_record_source *source = of(base);
    event_records_reset(&source->records);
    source->events->operations->destroy(source->events);
    free(source);
}

static const struct alloc_source_operations operations = {
    .next = next,
    .summary = summary,
    .property_count = property_count,
    .property = property,
    .damage_count = damage_count,
    .damage = damage,
    .progress = progress,
    .destroy = destroy,
};

enum step_status event_alloc_source_create(struct event_source *events,
                                           const struct record_options *options,
                                           struct alloc_source **out, struct step_error *error)
{
    struct event_record_source *source = calloc(1, sizeof *source);
    if (source == NULL || !event_records_init(&source->records, options, &events->names)) {
        free(source);
        events->operations->destroy(events);
        return step_error_set(error, STEP_STATUS_NO_MEMORY, NULL, STEP_NO_OFFSET, "out of memory");
    }
    source->base.operations = &operations;
    source->base.path = events->path;
    source->events = events;
    *out = &source->base;
    return STEP_STATUS_OK;
}
