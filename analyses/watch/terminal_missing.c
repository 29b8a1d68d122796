/* SPDX-License-Identifier: Apache-2.0 */
/* Replaces watch_terminal.c in builds without ncurses. */
#include "analyses/watch/watch_view.h"

enum step_status watch_terminal_open(struct step_error *error)
{
    return step_error_set(error, STEP_STATUS_UNSUPPORTED, NULL, STEP_NO_OFFSET,
                          "this build has no ncurses (build it with Debian's libncurses-dev); "
                          "--once and --json work without");
}

void watch_terminal_close(void)
{
}

void watch_terminal_size(struct watch_screen *screen)
{
    screen->width = screen->height = 0;
}

void watch_terminal_show(const struct watch_screen *screen)
{
    (void) screen;
}

int watch_terminal_key(unsigned wait_ms, bool *ended)
{
    (void) wait_ms;
    *ended = true;
    return WATCH_KEY_NONE;
}
