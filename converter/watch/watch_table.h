/* SPDX-License-Identifier: Apache-2.0 */
/* Sorted rows of one axis, as printed in tables. */
#ifndef CONVERTER_WATCH_WATCH_TABLE_H
#define CONVERTER_WATCH_WATCH_TABLE_H

#include "converter/watch/watch_feed.h"

/* Finds the rows whose names contain a text, in slices: a trace may have 200,000 call sites, and
 * building their names takes seconds.  Results are cached until the text or the axis changes. */

struct watch_search {
    char *text; /* NULL: no search yet */
    enum watch_axis axis;
    struct id_table answers; /* uint8_t, by id */
    double until_ns;         /* processor time at which this slice ends */
    size_t asked;            /* names checked in this slice */
    size_t left;             /* rows not reached in this slice */
};

void watch_search_reset(struct watch_search *search);
/* Begins a slice of about `slice_ns` of processor time.  Returns false if memory runs out. */
bool watch_search_begin(struct watch_search *search, enum watch_axis axis, const char *text,
                        double slice_ns);
/* Returns true if the row's name contains the text.  Returns false also if the slice is over. */
bool watch_search_matches(struct watch_search *search, struct watch_feed *feed, uint32_t id);

enum watch_column {
    WATCH_LIVE_BYTES,
    WATCH_LIVE_OBJECTS,
    WATCH_BYTES, /* allocated */
    WATCH_OBJECTS,
    WATCH_RATE,   /* bytes or calls per second */
    WATCH_GROWTH, /* since the mark: live amounts, or calls */
    WATCH_CALLS,
    WATCH_NAME,
    WATCH_COLUMNS
};

struct watch_line {
    uint32_t id;
    struct watch_sums now;
    struct watch_estimates estimates; /* of a sampled trace, whose `now` is not shown */
    double growth, growth_objects;    /* 0 if there is no mark */
    double rate;
    double key; /* sort key, the largest first */
};

struct watch_table {
    struct watch_line *lines;
    size_t count, capacity;
    struct watch_search search; /* `left` > 0: make the table again for the remaining rows */
};

struct watch_order {
    enum watch_axis axis;
    enum watch_column by;
    bool reversed;
    const char *name; /* only rows whose name contains it; NULL or empty: all */
    double seconds;   /* duration of a completed trace, for its rates */
};

void watch_table_reset(struct watch_table *table);
/* Returns false if memory runs out. */
bool watch_table_make(struct watch_table *table, struct watch_feed *feed,
                      const struct watch_order *order);

#define WATCH_NAME_TEXT 1024u
/* Writes a row's name for display and returns its length: "java/lang/String", "HashMap.newNode:1901
 * <- HashMap.merge:1401", "7 main". */
size_t watch_name(struct watch_feed *feed, enum watch_axis axis, uint32_t id, char *out,
                  size_t out_size);

#endif
