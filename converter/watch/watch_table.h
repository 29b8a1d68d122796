/* SPDX-License-Identifier: Apache-2.0 */
/* The rows of one axis in an order, as tables for people and programs have them. */
#ifndef CONVERTER_WATCH_WATCH_TABLE_H
#define CONVERTER_WATCH_WATCH_TABLE_H

#include "converter/watch/watch_feed.h"

enum watch_column {
    WATCH_LIVE_BYTES,
    WATCH_LIVE_OBJECTS,
    WATCH_BYTES, /* allocated */
    WATCH_OBJECTS,
    WATCH_RATE, /* bytes a second, or calls */
    WATCH_GROWTH, /* since the mark: of what lives, or calls */
    WATCH_CALLS,
    WATCH_NAME,
    WATCH_COLUMNS
};

struct watch_line {
    uint32_t id;
    struct watch_sums now;
    double growth, growth_objects; /* 0 where nothing was marked */
    double rate;
    double key; /* lines stand by this, the largest first */
};

struct watch_table {
    struct watch_line *lines;
    size_t count, capacity;
};

struct watch_order {
    enum watch_axis axis;
    enum watch_column by;
    bool reversed;
    const char *name; /* only rows whose name has this in it; NULL or empty: all */
    double seconds;   /* since the last watch_model_settle(); 0: no rates */
};

void watch_table_reset(struct watch_table *table);
/* False: out of memory. */
bool watch_table_make(struct watch_table *table, struct watch_feed *feed,
                      const struct watch_order *order);

#define WATCH_NAME_TEXT 1024u
/* A row's name, fit to be shown: "java/lang/String", "HashMap.newNode:1901 <- HashMap.merge:1401",
 * "7 main".  Returns its length. */
size_t watch_name(struct watch_feed *feed, enum watch_axis axis, uint32_t id, char *out,
                  size_t out_size);

#endif
