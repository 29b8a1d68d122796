/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is on the screen: keys change it, and it is laid out as lines of a width.  It knows no
 * terminal, so that it can be tested, and printed by `--once`.
 */
#ifndef CONVERTER_WATCH_WATCH_VIEW_H
#define CONVERTER_WATCH_WATCH_VIEW_H

#include "converter/watch/watch_table.h"

#define WATCH_ROWS_MOST 200u
#define WATCH_WIDTH_MOST 500u
#define WATCH_LINE_BYTES (WATCH_WIDTH_MOST * 4u + 1u)
#define WATCH_INPUT_MOST 240u

/* Keys that are no characters. */
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
    WATCH_KEY_NONE /* the terminal has another size, or time has passed */
};

enum watch_look { WATCH_PLAIN, WATCH_STRONG, WATCH_TURNED, WATCH_DIM, WATCH_GRAPH };

struct watch_screen {
    size_t width, height;
    bool unicode; /* the terminal shows it */
    char lines[WATCH_ROWS_MOST][WATCH_LINE_BYTES];
    enum watch_look looks[WATCH_ROWS_MOST];
};

enum watch_input { WATCH_NO_INPUT, WATCH_INPUT_NAME, WATCH_INPUT_SELECTION };

struct watch_view {
    struct watch_feed *feed; /* borrowed */
    long pid;                /* 0: not known */
    enum watch_axis axis;
    enum watch_column by[WATCH_AXES];
    bool reversed, frozen, help;
    size_t top;                       /* the first line of the table that is shown */
    size_t page;                      /* how many are */
    char name[WATCH_INPUT_MOST];      /* what names must have in them */
    char selection[WATCH_INPUT_MOST]; /* as it was typed */
    enum watch_input input;
    char typed[WATCH_INPUT_MOST];
    char message[200]; /* the last line, until a key */
    struct watch_table table;
    struct watch_sums total, before; /* now, and at the look before */
    double seconds;                  /* between the two; 0: not known */
};

/* What a key asks the loop to do. */
enum watch_wish { WATCH_GOES_ON, WATCH_QUIT, WATCH_SELECT };

void watch_view_init(struct watch_view *view, struct watch_feed *feed, long pid);
void watch_view_reset(struct watch_view *view);
/* Shows the feed as it is now, `seconds` after the last time.  False: out of memory. */
bool watch_view_look(struct watch_view *view, double seconds);
/* WATCH_SELECT: the text in view->selection is another one, which watch_selection_parse() takes. */
enum watch_wish watch_view_key(struct watch_view *view, int key);
/* Fills the screen's lines for its width and height. */
void watch_view_draw(struct watch_view *view, struct watch_screen *screen);

/* Bytes a second, and what else a second, of the whole trace where it has ended. */
struct watch_rates {
    double seconds; /* 0: not known */
    double bytes, objects, freed_objects, calls;
};
struct watch_rates watch_view_rates(const struct watch_view *view);

#endif
