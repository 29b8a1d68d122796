/* SPDX-License-Identifier: Apache-2.0 */
/*
 * State of the screen: handles keys, and formats the state as lines of a given width.  It is
 * independent of the terminal, so that tests and `--once` can use it.
 */
#ifndef CONVERTER_WATCH_WATCH_VIEW_H
#define CONVERTER_WATCH_WATCH_VIEW_H

#include "converter/watch/watch_feed.h"

/* Sorted rows of one axis, as printed in tables. */

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

#define WATCH_ROWS_MOST 200u
#define WATCH_WIDTH_MOST 500u
#define WATCH_LINE_BYTES (WATCH_WIDTH_MOST * 4u + 1u)
#define WATCH_INPUT_MOST 240u

/* Keys that are not characters. */
enum watch_key {
    WATCH_KEY_UP = 0x1000,
    WATCH_KEY_DOWN,
    WATCH_KEY_PAGE_UP,
    WATCH_KEY_PAGE_DOWN,
    WATCH_KEY_HOME,
    WATCH_KEY_END,
    WATCH_KEY_ENTER,
    WATCH_KEY_ESCAPE,
    WATCH_KEY_BACKSPACE,
    WATCH_KEY_NONE /* the size of the terminal has changed, or a timeout */
};

enum watch_look { WATCH_PLAIN, WATCH_STRONG, WATCH_TURNED, WATCH_DIM, WATCH_GRAPH };

struct watch_screen {
    size_t width, height;
    bool unicode; /* supported by the terminal */
    char lines[WATCH_ROWS_MOST][WATCH_LINE_BYTES];
    enum watch_look looks[WATCH_ROWS_MOST];
};

enum watch_input { WATCH_NO_INPUT, WATCH_INPUT_NAME, WATCH_INPUT_SELECTION };

struct watch_view {
    struct watch_feed *feed; /* borrowed */
    long pid;                /* 0: unknown */
    enum watch_axis axis;
    enum watch_column by[WATCH_AXES];
    bool reversed, frozen, help;
    size_t top;                       /* the first visible line of the table */
    size_t page;                      /* number of visible lines */
    char name[WATCH_INPUT_MOST];      /* text that names must contain */
    char selection[WATCH_INPUT_MOST]; /* as typed */
    enum watch_input input;
    char typed[WATCH_INPUT_MOST];
    char message[200]; /* shown in the last line until the next key */
    struct watch_table table;
    struct watch_sums total, before;                    /* now, and at the previous look */
    struct watch_estimates estimates, estimates_before; /* of a sampled trace: the same */
    double seconds;                                     /* between the two; 0: unknown */
};

/* The action that a key requests from the loop. */
enum watch_action { WATCH_GOES_ON, WATCH_QUIT, WATCH_SELECT };

void watch_view_init(struct watch_view *view, struct watch_feed *feed, long pid);
void watch_view_reset(struct watch_view *view);
/* Updates the view from the feed, `seconds` after the last update.  Returns false if memory runs
 * out. */
bool watch_view_look(struct watch_view *view, double seconds);
/* Handles a key.  WATCH_SELECT: view->selection has a new text for watch_selection_parse(). */
enum watch_action watch_view_key(struct watch_view *view, int key);
/* Formats the view as lines for the screen's width and height. */
void watch_view_draw(struct watch_view *view, struct watch_screen *screen);

/* Rates per second; of a completed trace, over its whole duration. */
struct watch_rates {
    double seconds; /* 0: unknown */
    double bytes, objects, freed_objects, calls;
};
struct watch_rates watch_view_rates(const struct watch_view *view);

#endif
