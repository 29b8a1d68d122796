/* SPDX-License-Identifier: Apache-2.0 */
/* The terminal on which a view is shown. */
#ifndef CONVERTER_WATCH_WATCH_TERMINAL_H
#define CONVERTER_WATCH_WATCH_TERMINAL_H

#include "converter/watch/watch_view.h"
#include "steptrace/status.h"

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
