/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What was allocated when, and what died, by class and site: bins of equal length, of which two
 * become one when time runs past the last.  A bin has only the cells of the tracker that changed in
 * it.
 */
#ifndef CONVERTER_REPORT_REPORT_BINS_H
#define CONVERTER_REPORT_REPORT_BINS_H

#include "converter/heap/heap_tracker.h"

#define REPORT_BINS 64u /* even */

struct bin_change {
    uint32_t cell;                     /* of the tracker; in a bin each once, in order */
    uint64_t objects, bytes;           /* allocated */
    uint64_t dead_objects, dead_bytes; /* of whenever they were allocated */
};

struct report_bin {
    struct bin_change *changes;
    size_t count;
};

struct report_bins {
    struct report_bin bins[REPORT_BINS];
    size_t count; /* that are closed */
    uint64_t start_ns, step_ns, end_ns;
    bool has_begun;
    struct bin_change *before; /* by cell: what it came to when the last bin was closed */
    size_t before_count;
};

void report_bins_init(struct report_bins *bins);
void report_bins_reset(struct report_bins *bins);
/* Hands the events on to the tracker, and closes bins in between. */
enum step_status report_bins_put(struct report_bins *bins, struct heap_tracker *tracker,
                                 const struct trace_event *events, size_t count,
                                 struct step_error *error);
/* Closes the last bin.  False: out of memory. */
bool report_bins_finish(struct report_bins *bins, const struct heap_tracker *tracker);

#endif
