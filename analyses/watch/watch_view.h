/* SPDX-License-Identifier: Apache-2.0 */
/* What is shown of a watched trace: tables, the screen, estimates, the terminal, and the loop. */
#ifndef ANALYSES_WATCH_WATCH_VIEW_H
#define ANALYSES_WATCH_WATCH_VIEW_H

#include "analyses/watch/watch_feed.h"
#include "converter/numbers/amount.h"
#include "converter/numbers/quantity.h"
#include "converter/trace/event_selection.h"
#include "steptrace/status.h"

/* Parses a selection typed while a trace is watched: "class=com.acme.** size=>=1k". */

/* Adds the text's criteria to the selection, which borrows the text's words; modifies `text`.
 * Returns false with the position and the reason in `fault`. */
bool watch_selection_parse(char *text, struct event_selection *selected, char *fault,
                           size_t fault_size);
/* Returns the name of an option that does not work while a trace is being written; NULL: none was
 * used. */
const char *watch_selection_fault(const struct event_selection *selected);

/*
 * State of the screen: handles keys, and formats the state as lines of a given width.  It is
 * independent of the terminal, so that tests and `--once` can use it.
 */

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
    double growth;                    /* 0 if there is no mark */
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

/* Returns a figure of a row; 0 for its name. */
double watch_line_value(const struct watch_line *line, enum watch_column column);

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

/* To be reset: its table. */
void watch_view_init(struct watch_view *view, struct watch_feed *feed, long pid);
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

/*
 * The figures of a sampled trace (docs/estimates.md): estimates with their intervals, and nothing
 * else.  The curve, growth, and rates of rows have no intervals and are left out.
 */

/* Lines of the screen: what the figures are, what lives, what was allocated, and a second. */
#define WATCH_SAMPLED_LINES 4u
#define WATCH_SAMPLED_TEXT (2u * ESTIMATE_TEXT)
void watch_sampled_lines(const struct watch_view *view,
                         char lines[WATCH_SAMPLED_LINES][WATCH_SAMPLED_TEXT]);

/* Notes what the class of a row says of its objects' sizes (estimates.h). */
void watch_sampled_note_class(struct watch_line *line, enum watch_axis axis, const char *name,
                              size_t length);
struct watch_sampled_cell {
    char text[3 * sizeof(struct quantity) + 4];
};
/* Returns a figure of a row as "12.3 MiB 9.10 MiB..15.9 MiB"; "-" without a sample. */
struct watch_sampled_cell watch_sampled_cell_of(const struct watch_model *model,
                                                const struct watch_line *line,
                                                enum watch_column column);

/* Put members of JSON objects: the sums of a row, of a sampled trace its estimates; what was
 * allocated in a second, which is absent if the time is not known. */
void watch_put_sums(const struct watch_model *model, const struct watch_sums *sums,
                    const struct watch_estimates *estimates, struct json_output *json);
void watch_put_rates(const struct watch_view *view, struct json_output *json);

/* Runs `steptrace watch`: once, or on a terminal until the user quits; the terminal. */

struct watch_settings {
    uint64_t interval_ns; /* between looks */
    uint64_t top;         /* rows of tables, for a single look */
    bool json;
};

/* Prints a trace.  Reads a running one up to four times, until there are rates. */
enum step_status watch_once(struct watch_view *view, const struct watch_settings *settings,
                            struct step_error *error);
enum step_status watch_on_terminal(struct watch_view *view, const struct watch_settings *settings,
                                   struct step_error *error);

/* The terminal on which a view is shown. */

/* Returns UNSUPPORTED with a message if there is no usable terminal, or if this build has no
 * ncurses. */
enum step_status watch_terminal_open(struct step_error *error);
void watch_terminal_close(void);
/* Sets the size of the screen, and whether it supports Unicode. */
void watch_terminal_size(struct watch_screen *screen);
void watch_terminal_show(const struct watch_screen *screen);
/* Returns a key of enum watch_key or a character.  WATCH_KEY_NONE: no key within `wait_ms`, or the
 * size has changed.  `*ended`: a signal asks to quit, or the terminal is gone. */
int watch_terminal_key(unsigned wait_ms, bool *ended);

#endif
