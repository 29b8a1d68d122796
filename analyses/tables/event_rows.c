/* SPDX-License-Identifier: Apache-2.0 */
/* Opens the trace's events with a separate reader. */
#include "analyses/tables/event_rows.h"

#include <stdlib.h>

#include "converter/files/trace_reader.h"
#include "converter/step/stepfile.h"
#include "format/core/step_no_memory.h"

enum step_status event_feed_open(struct event_feed *feed, struct tables *tables, uint32_t kinds,
                                 bool untracked, struct step_error *error)
{
    struct event_selection selected;
    struct opened_trace opened = {0};
    event_selection_init(&selected);
    selected.kinds = kinds;
    selected.needs_all = NULL; /* tables of samples say so */
    selected.untracked = untracked;
    feed->count = feed->at = 0;
    enum step_status status = stepfile_source_create(tables->path, &selected, &opened, error);
    feed->source = opened.events;
    return status;
}

enum step_status event_feed_open_weighed(struct event_feed *feed, struct tables *tables,
                                         uint32_t kinds, struct step_error *error)
{
    struct event_selection selected;
    struct step_reader *reader = NULL;
    event_selection_init(&selected);
    selected.kinds = kinds;
    selected.untracked = true;
    enum step_status status = open_with_given_definition(tables->path, NULL, &reader, error);
    return status == STEP_STATUS_OK
               ? stepfile_event_source_create(tables->path, reader, &selected, &feed->source, error)
               : status;
}

enum step_status tables_find_weights(struct tables *tables, struct step_error *error)
{
    struct event_feed *feed = NULL;
    if (tables->weighed != NULL || tables->sample_interval_bytes == 0)
        return STEP_STATUS_OK;
    feed = calloc(1, sizeof *feed);
    if (feed == NULL)
        return step_no_memory(error, tables->path);
    enum step_status status = event_feed_open_weighed(feed, tables, 0, error);
    tables->weighed = feed->source;
    free(feed);
    return status == STEP_STATUS_OK ? sample_weights_read(&tables->weights, tables->weighed, error)
                                    : status;
}

void tables_note_damage(struct tables *tables, const struct trace_about *about)
{
    if (tables->damage.status != STEP_STATUS_OK || trace_damage_count(about) == 0)
        return;
    const struct step_damage *damage = trace_damage(about, 0);
    step_error_set(&tables->damage, STEP_STATUS_CORRUPT, tables->path, damage->offset, "%s",
                   damage->message);
}

enum step_status event_feed_next(struct event_feed *feed, struct tables *tables,
                                 const struct trace_event **event, struct step_error *error)
{
    if (feed->at == feed->count) {
        struct event_source *source = feed->source;
        feed->at = feed->count = 0;
        enum step_status status =
            source->operations->read(source, feed->events, EVENT_BATCH, &feed->count, error);
        if (status == STEP_STATUS_END)
            tables_note_damage(tables, &source->about);
        if (status != STEP_STATUS_OK)
            return status;
        if (source->names.no_memory)
            return step_no_memory(error, tables->path);
    }
    *event = &feed->events[feed->at++];
    return STEP_STATUS_OK;
}

void event_feed_close(struct event_feed *feed)
{
    if (feed->source != NULL)
        feed->source->operations->destroy(feed->source);
    feed->source = NULL;
}
