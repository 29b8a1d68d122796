/* SPDX-License-Identifier: Apache-2.0 */
/* A report's figures as the JSON text that its page reads (converter/report/). */
#ifndef CONVERTER_REPORT_REPORT_DATA_H
#define CONVERTER_REPORT_REPORT_DATA_H

#include <stdio.h>

#include "converter/graph/retained.h"
#include "converter/report/report_model.h"
#include "format/json/json_output.h"

/* What keeps most alive at a report's moment, by where it was allocated and by class: of traces
 * with stores of references, or with a snapshot by then. */

/* Zero-initialised: the trace does not tell. */
struct report_retained {
    bool is_known;
    struct graph_moment graph;
    struct retained by_site, by_class;
};

/* `reader` must live as long.  At most `top` rows each are kept.  OK as well where the trace has no
 * graph by that moment; report_retained_reset() in any case. */
enum step_status report_retained_find(struct report_retained *retained, struct step_reader *reader,
                                      const struct heap_moment *moment, uint64_t top,
                                      struct step_error *error);
void report_retained_reset(struct report_retained *retained);

/* As "leaks"; null without a tracker.  False: out of memory. */
bool report_leaks_put_data(const struct leak_tracker *tracker, struct json_output *json);

struct report_options {
    const char *title; /* NULL: the trace's file name */
    uint64_t top;      /* rows of each table at most */
};

/* False: out of memory; errors of the file are the caller's to look at. */
bool report_data_put(const struct report_model *model, const struct report_retained *retained,
                     const struct report_options *options, FILE *file);

#endif
