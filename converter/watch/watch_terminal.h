/* SPDX-License-Identifier: Apache-2.0 */
/* The terminal that a view is shown on. */
#ifndef CONVERTER_WATCH_WATCH_TERMINAL_H
#define CONVERTER_WATCH_WATCH_TERMINAL_H

#include "converter/watch/watch_view.h"
#include "steptrace/status.h"

/* UNSUPPORTED: there is no terminal, or none that can be used, or this build has no ncurses; the
 * message says so. */
enum step_status watch_terminal_open(struct step_error *error);
void watch_terminal_close(void);
/* How large the screen is now, and whether it shows Unicode. */
void watch_terminal_size(struct watch_screen *screen);
void watch_terminal_show(const struct watch_screen *screen);
/* A key of enum watch_key or a character; WATCH_KEY_NONE: none came for so long, or the size is
 * another.  `*ended`: a signal asks for the end, or the terminal is gone. */
int watch_terminal_key(unsigned wait_ms, bool *ended);

#endif
