/* SPDX-License-Identifier: Apache-2.0 */
/* Runs `steptrace watch`: once, or on a terminal until the user quits. */
#ifndef CONVERTER_WATCH_WATCH_LOOP_H
#define CONVERTER_WATCH_WATCH_LOOP_H

#include "converter/watch/watch_view.h"

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

#endif
