/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads a watched trace into its model, a slice at a time.  Every event is read: the sums are those
 * of the trace up to where it was read.  While the trace runs, reading takes at most a share of one
 * core; where that does not suffice the figures fall behind, and watch_feed_behind_ns() says how
 * far.
 */
#ifndef CONVERTER_WATCH_WATCH_FEED_H
#define CONVERTER_WATCH_WATCH_FEED_H

#include "converter/watch/watch_block.h"
#include "converter/watch/watch_heap.h"
#include "converter/watch/watch_tail.h"

struct watch_feed {
    struct watch_tail tail;
    struct watch_model model;
    struct watch_heap heap; /* of a native program: no limit by `share` */
    struct event_selection selected;
    struct step_block *block;
    struct watch_schema schema;
    double share;                 /* of a core, for a running trace; 0: no limit */
    size_t next;                  /* blocks before it were read */
    uint64_t records_read;        /* of the kinds that are read */
    uint64_t read_ns;             /* the latest time of blocks that were read */
    bool is_pending;              /* the model has what lies in the live file, too */
    unsigned follows;             /* how often the live file was looked at since the last refresh */
    uint64_t round, round_before; /* records that were read since the last of these looks */
    double credit_ns;             /* of processor time */
    double spent_ns;              /* the process's, when this was looked at last */
    double settled_ns;            /* time of the trace at the last look; < 0: there was none */
    bool was_exact;               /* at the last look */
};

/* What is borrowed outlives the feed; `path` too. */
enum step_status watch_feed_open(struct watch_feed *feed, const char *path,
                                 const struct event_selection *selected, double share,
                                 struct step_error *error);
void watch_feed_close(struct watch_feed *feed);
/* Another selection: all is read anew. */
enum step_status watch_feed_select(struct watch_feed *feed, const struct event_selection *selected,
                                   struct step_error *error);

/* Finds the blocks that were written meanwhile.  The feed may take processor time for the
 * `elapsed_ns` since the last call. */
enum step_status watch_feed_refresh(struct watch_feed *feed, uint64_t elapsed_ns,
                                    struct step_error *error);
/* Reads on, for about `slice_ns` of processor time, and at the end of the file looks at the live
 * file.  `*more`: call again at once; false also where the share of the core is used up. */
enum step_status watch_feed_read(struct watch_feed *feed, uint64_t slice_ns, bool *more,
                                 struct step_error *error);

/* The reader that notes what is damaged. */
static inline const struct step_reader *watch_feed_reader(const struct watch_feed *feed)
{
    return feed->heap.reader != NULL ? feed->heap.reader : feed->tail.reader;
}
/* Names of what the model's rows are of. */
const struct trace_names *watch_feed_names(const struct watch_feed *feed);
/* Whether all that was recorded until the last look was read.  Otherwise sums are lower bounds, and
 * what lives is that of some moment before. */
bool watch_feed_is_exact(const struct watch_feed *feed);
/* The time between the latest event that was read and the latest that is known. */
uint64_t watch_feed_behind_ns(const struct watch_feed *feed);
/* The latest time that is known; and the latest that was read. */
uint64_t watch_feed_now_ns(const struct watch_feed *feed);
uint64_t watch_feed_read_ns(const struct watch_feed *feed);
/* Share of the events that was read, 0 to 1. */
double watch_feed_progress(const struct watch_feed *feed);
/* Ends a look, `seconds` after the last one: see watch_model_settle().  Returns the seconds that
 * lie between the two, 0 where they are not known; -1: nothing was read, and nothing has changed.
 */
double watch_feed_settle(struct watch_feed *feed, double seconds);

/* Processor time of this process. */
double watch_feed_cpu_ns(void);

/* ---- watch_feed_live.c ---- */

/* Puts the events of the live file that the trace does not have, as pending ones. */
void watch_feed_peek(struct watch_feed *feed);

#endif
