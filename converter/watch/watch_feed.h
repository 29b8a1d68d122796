/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads a watched trace into its model, in slices.  All events are read: sums are those of the
 * trace up to the position read.  While the trace is being written, reading uses at most a share of
 * one core. If that is too little, the figures lag, and watch_feed_behind_ns() returns by how much.
 */
#ifndef CONVERTER_WATCH_WATCH_FEED_H
#define CONVERTER_WATCH_WATCH_FEED_H

#include "converter/watch/watch_block.h"
#include "converter/watch/watch_heap.h"
#include "converter/watch/watch_tail.h"

struct watch_feed {
    struct watch_tail tail;
    struct watch_model model;
    struct watch_heap heap; /* of a native program; not limited by `share` */
    struct event_selection selected;
    struct step_block *block;
    struct watch_schema schema;
    struct watch_phases phases;
    double share;          /* of a core, for a running trace; 0: unlimited */
    size_t next;           /* the next block to read */
    uint64_t records_read; /* of the record types that are read */
    uint64_t read_ns;      /* the latest time in the blocks read */
    bool is_pending;       /* the model includes the events of the live file */
    unsigned follows;      /* looks at the live file since the last refresh */
    double credit_ns;      /* processor time left to use */
    double spent_ns;       /* processor time of the process at the last check */
    double settled_ns;     /* trace time at the last look; < 0: there was none */
    bool was_exact;        /* at the last look */
};

/* Borrowed objects and `path` must outlive the feed. */
enum step_status watch_feed_open(struct watch_feed *feed, const char *path,
                                 const struct event_selection *selected, double share,
                                 struct step_error *error);
void watch_feed_close(struct watch_feed *feed);
/* Sets another selection and restarts reading. */
enum step_status watch_feed_select(struct watch_feed *feed, const struct event_selection *selected,
                                   struct step_error *error);

/* Finds blocks written since the last call.  The feed may use processor time for the `elapsed_ns`
 * since then. */
enum step_status watch_feed_refresh(struct watch_feed *feed, uint64_t elapsed_ns,
                                    struct step_error *error);
/* Reads for about `slice_ns` of processor time, and looks at the live file when the end is reached.
 * `*more`: call again immediately; false also if the share of the core is used up. */
enum step_status watch_feed_read(struct watch_feed *feed, uint64_t slice_ns, bool *more,
                                 struct step_error *error);

/* Returns the reader that notes damage. */
static inline const struct step_reader *watch_feed_reader(const struct watch_feed *feed)
{
    return feed->heap.reader != NULL ? feed->heap.reader : feed->tail.reader;
}
static inline bool watch_feed_is_sampled(const struct watch_feed *feed)
{
    return feed->tail.sample_bytes != 0;
}
/* Returns the names of the model's rows. */
const struct trace_names *watch_feed_names(const struct watch_feed *feed);
/* Returns true if everything recorded until the last look has been read.  Otherwise sums are lower
 * bounds, and live amounts are of an earlier moment. */
bool watch_feed_is_exact(const struct watch_feed *feed);
/* Returns the time between the latest event that was read and the latest known one. */
uint64_t watch_feed_behind_ns(const struct watch_feed *feed);
/* Return the latest known time, and the latest time read. */
uint64_t watch_feed_now_ns(const struct watch_feed *feed);
uint64_t watch_feed_read_ns(const struct watch_feed *feed);
/* Returns the share of events that was read, 0 to 1. */
double watch_feed_progress(const struct watch_feed *feed);
/* Ends a look, `seconds` after the last one; see watch_model_settle().  Returns the seconds between
 * the two, 0 if unknown, or -1 if nothing was read and nothing has changed. */
double watch_feed_settle(struct watch_feed *feed, double seconds);

/* Returns the processor time of this process. */
double watch_feed_cpu_ns(void);

#endif
