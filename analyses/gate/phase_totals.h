/* SPDX-License-Identifier: Apache-2.0 */
/* What is allocated in each phase of a trace: objects, bytes, and the classes with most bytes. */
#ifndef ANALYSES_GATE_PHASE_TOTALS_H
#define ANALYSES_GATE_PHASE_TOTALS_H

#include <stddef.h>
#include <stdint.h>

#include "converter/trace/event_selection.h"
#include "steptrace/status.h"

struct phase_total {
    char *name; /* of the phase, as lines of a snapshot have it */
    char *text; /* "3 objects, 72 bytes: 1 a.B, 2 byte[]" */
    uint64_t objects, bytes;
    unsigned jdk;
    const char *path; /* of the trace; borrowed */
};

struct phase_totals {
    struct phase_total *items;
    size_t count, capacity;
};

struct phase_counting {
    struct event_selection selected; /* its phases choose which are counted */
    const char *whole; /* the name of one line for the whole program; NULL: a line for a phase */
};

/* What the JVM does once for a class or a call site, and JaCoCo for a class, is not counted: the
 * selection gets these patterns of --site. */
void phase_counting_init(struct phase_counting *counting);
/* Adds the counts of a trace, which may be in any order.  Reports errors. */
enum step_status phase_totals_add(struct phase_totals *counts, const char *path,
                                  const struct phase_counting *counting);
/* Returns the phase's own name, of that in a line, which has escapes; the caller frees it.  NULL if
 * out of memory. */
char *phase_name_of_line(const char *name);
void phase_totals_reset(struct phase_totals *counts);

#endif
