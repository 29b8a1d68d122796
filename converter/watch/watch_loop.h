/* SPDX-License-Identifier: Apache-2.0 */
/* Looking at a trace: once, or on a terminal until the user has seen enough. */
#ifndef CONVERTER_WATCH_WATCH_LOOP_H
#define CONVERTER_WATCH_WATCH_LOOP_H

#include "converter/watch/watch_view.h"

struct watch_settings {
    uint64_t interval_ns; /* from look to look */
    uint64_t top;         /* rows of tables, once */
    bool json;
};

/* Reads all of a trace that has ended; of a running one what can be had, twice, so that there are
 * rates; and prints it. */
enum step_status watch_once(struct watch_view *view, const struct watch_settings *settings,
                            struct step_error *error);
enum step_status watch_on_terminal(struct watch_view *view, const struct watch_settings *settings,
                                   struct step_error *error);

#endif
