/* SPDX-License-Identifier: Apache-2.0 */
/* Returns events in the trace's order, for tables whose rows are made from several events. */
#ifndef ANALYSES_TABLES_EVENT_ROWS_H
#define ANALYSES_TABLES_EVENT_ROWS_H

#include "analyses/tables/tables_trace.h"
#include "converter/trace/event_source.h"

enum { EVENT_BATCH = 1024 };

struct event_feed {
    struct event_source *source;
    struct trace_event events[EVENT_BATCH];
    size_t count, at;
};

/* Opens the events.  `kinds` is a bitmap of TRACE_KIND_BIT; `untracked` as in event_selection.h. */
enum step_status event_feed_open(struct event_feed *feed, struct tables *tables, uint32_t kinds,
                                 bool untracked, struct step_error *error);
/* The same for a zeroed feed, untracked, and also of a sampled trace, whose weights the caller
 * knows. */
enum step_status event_feed_open_weighed(struct event_feed *feed, struct tables *tables,
                                         uint32_t kinds, struct step_error *error);
/* Returns the next event, or END.  Damage that was skipped is noted in `tables` at the end. */
enum step_status event_feed_next(struct event_feed *feed, struct tables *tables,
                                 const struct trace_event **event, struct step_error *error);
void event_feed_close(struct event_feed *feed);

/* Notes the first damage that a source found, which reads with a reader of its own. */
void tables_note_damage(struct tables *tables, const struct trace_about *about);

#endif
