/* SPDX-License-Identifier: Apache-2.0 */
/* Runs `steptrace watch`: once, or on a terminal until the user quits; the terminal. */
#ifndef CONVERTER_WATCH_WATCH_LOOP_H
#define CONVERTER_WATCH_WATCH_LOOP_H

#include "converter/watch/watch_view.h"
#include "steptrace/status.h"

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
