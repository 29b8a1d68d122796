/* SPDX-License-Identifier: Apache-2.0 */
/*
 * State of the screen: handles keys, and formats the state as lines of a given width.  It is
 * independent of the terminal, so that tests and `--once` can use it.
 */
#ifndef CONVERTER_WATCH_WATCH_VIEW_H
#define CONVERTER_WATCH_WATCH_VIEW_H

#include "converter/watch/watch_table.h"

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
