/* SPDX-License-Identifier: Apache-2.0 */
/* What `attach` shows on a terminal while a JVM is recorded: one line on stderr that is rewritten.
 * Nothing is printed where stderr is no terminal. */
#ifndef CONVERTER_RECORDERS_ATTACH_PROGRESS_H
#define CONVERTER_RECORDERS_ATTACH_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

#include "steptrace/reader.h"

struct attach_progress {
    const char *trace;    /* borrowed; NULL: it is not to be opened, and only the time is shown */
    uint64_t duration_ns; /* 0: none */
    bool is_shown;
    bool has_line;
    uint64_t start_ns, next_ns;
    struct step_reader *reader; /* of the trace as far as it is written */
    size_t blocks_seen;
    uint64_t events;
};

void attach_progress_begin(struct attach_progress *progress, const char *trace,
                           uint64_t duration_ns);
/* Rewrites the line, once a second at most. */
void attach_progress_show(struct attach_progress *progress);
/* Removes the line.  Returns for how long it was recorded, in nanoseconds. */
uint64_t attach_progress_end(struct attach_progress *progress);

#endif
