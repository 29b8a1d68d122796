/* SPDX-License-Identifier: Apache-2.0 */
/* The text of a report: the data that its page reads, and the page of a sampled trace. */
#ifndef ANALYSES_REPORT_REPORT_DATA_H
#define ANALYSES_REPORT_REPORT_DATA_H

#include <stdio.h>

#include "analyses/leaks/leak_rows.h"
#include "analyses/report/report_model.h"
#include "converter/graph/retained.h"
#include "converter/statistics/statistics_report.h"
#include "format/json/json_output.h"
#include "steptrace/value.h"

/* Writes a report's figures as the JSON text that its page reads (analyses/report/). */

/* The largest retained sizes at a report's moment, by allocation site and by class.  Available if
 * the trace has reference stores, or a snapshot before that moment. */

/* Zero-initialised: the trace has no graph. */
struct report_retained {
    bool is_known;
    struct graph_moment graph;
    struct retained by_site, by_class;
};

/* `reader` must outlive `retained`.  Keeps at most `top` rows of each kind.  Returns OK as well if
 * the trace has no graph at that moment.  Call report_retained_reset() in any case. */
enum step_status report_retained_find(struct report_retained *retained, struct step_reader *reader,
                                      const struct heap_moment *moment, uint64_t top,
                                      struct step_error *error);
void report_retained_reset(struct report_retained *retained);
/* Writes the member "retained"; null if it is unknown. */
void report_retained_put_data(const struct report_retained *retained, struct json_output *json);

/* Writes the member "advice"; null if it is unknown.  Returns false if memory runs out. */
bool report_advice_put_data(const struct report_advice *advice, const struct trace_names *names,
                            struct json_output *json);
/* Writes the member "collectors"; null if nothing was simulated. */
void report_collectors_put_data(const struct simulation *simulation, struct json_output *json);

/* Writes the member "leaks"; null without a tracker.  Returns false if memory runs out. */
bool report_leaks_put_data(const struct leak_tracker *tracker, struct json_output *json);

struct report_options {
    const char *title;      /* NULL: the trace's file name */
    const char *source_url; /* address of a line, with {path} and {line}; NULL: no links */
    uint64_t top;           /* maximum number of rows per table */
    bool is_name_given;     /* false: the user did not name the page (output_file_print_own()) */
};

/* Writes what pages of any trace say of it: the members "title", "source_url", "gaps" and
 * "properties".  `not_probed`: number of classes and methods that could not be traced. */
void report_properties_put(const struct event_source *source, uint64_t not_probed,
                           const struct report_options *options, struct json_output *json);

/* Returns false if memory runs out.  The caller checks `file` for write errors. */
bool report_data_put(const struct report_model *model, const struct report_retained *retained,
                     const struct report_options *options, FILE *file);

/* Writes the call sites of a report's page. */

/* Writes "sites" (a tree, with names by leaf), "places" (leaf and class), and the bins of both.
 * Returns false if memory runs out. */
bool report_sites_put_data(const struct report_model *model, const struct report_options *options,
                           const struct statistics_report *report, struct json_output *json);

/* Writes a page; see output_file_print().  A page whose name the user did not give replaces only a
 * file of the caller's: in a directory that others may write in, a link or a FIFO may have the
 * name. */
enum step_status report_page_write(const char *path, const struct step_bytes frame[2],
                                   bool (*print)(const void *user, FILE *out), const void *user,
                                   const struct report_options *options, struct step_error *error);

/* The page of a sampled trace: estimates with 95 % intervals, by class, site and thread, and
 * growth. It has no curves: live bytes over time, the peak and sizes are of all objects. */

enum step_status sampled_page_write(const char *path, struct report_model *model,
                                    const struct report_options *options, struct step_error *error);

#endif
