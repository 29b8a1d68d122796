/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A watched trace into its model, a slice at a time.  What the process may take while the trace
 * runs is limited to a share of one core: where reading would take more, a share of the objects
 * stands for all, and at last some blocks for all that came with them; the model's figures are
 * estimates then, until the trace has ended and all of it is read.
 */
#ifndef CONVERTER_WATCH_WATCH_FEED_H
#define CONVERTER_WATCH_WATCH_FEED_H

#include "converter/watch/watch_block.h"
#include "converter/watch/watch_heap.h"
#include "converter/watch/watch_tail.h"

struct watch_feed {
    struct watch_tail tail;
    struct watch_model model;
    struct watch_heap heap; /* of a native program: all is read, whatever the share */
    struct event_selection selected;
    struct step_block *block;
    struct watch_schema schema;
    double share;                       /* of a core, for a running trace; 0: no limit */
    size_t next;                        /* blocks before it were read or passed over */
    uint64_t records_met, records_read; /* of the kinds that are read */
    bool passed_over;                   /* not all blocks were read */
    double first_ns;                    /* what may be spent at once, before any credit; then 0 */
    double speed;     /* what reading costs, as a share of what it is thought to cost */
    double credit_ns; /* of processor time */
    double spent_ns;  /* the process's, when this was looked at last */
};

/* What is borrowed outlives the feed; `path` too. */
enum step_status watch_feed_open(struct watch_feed *feed, const char *path,
                                 const struct event_selection *selected, double share,
                                 struct step_error *error);
void watch_feed_close(struct watch_feed *feed);
/* Another selection; all is read anew. */
enum step_status watch_feed_select(struct watch_feed *feed, const struct event_selection *selected,
                                   struct step_error *error);

/* Takes what was written since `elapsed_ns` ago, and what lies in the live file. */
enum step_status watch_feed_refresh(struct watch_feed *feed, uint64_t elapsed_ns,
                                    struct step_error *error);
/* Reads on, for about `slice_ns` of processor time.  `*more`: there is more to read. */
enum step_status watch_feed_read(struct watch_feed *feed, uint64_t slice_ns, bool *more,
                                 struct step_error *error);

/* Names of what the model's rows are of. */
const struct trace_names *watch_feed_names(const struct watch_feed *feed);
/* Whether all figures are exact: nothing was estimated, and nothing waits to be read. */
bool watch_feed_is_exact(const struct watch_feed *feed);
/* Share of the events that was read, 0 to 1. */
double watch_feed_progress(const struct watch_feed *feed);

/* ---- watch_figures.c ---- */

/* What the trace comes to in all: what the headers of blocks tell exactly stands above what was
 * estimated. */
struct watch_sums watch_feed_total(const struct watch_feed *feed);
/* A row's sums, with what lives put right where deaths were lost. */
struct watch_sums watch_feed_row(const struct watch_feed *feed, const struct watch_row *row);

/* Growth is told since now. */
void watch_feed_mark(struct watch_feed *feed);
void watch_feed_unmark(struct watch_feed *feed);
/* Tells the rows' rates, of what came in so many seconds since this was called before; 0: not
 * known. */
void watch_feed_settle(struct watch_feed *feed, double seconds);
/* What lived over the time up to `until_ns`, in bytes. */
void watch_feed_curve(const struct watch_feed *feed, uint64_t until_ns, uint64_t *out,
                      size_t columns);

#endif
