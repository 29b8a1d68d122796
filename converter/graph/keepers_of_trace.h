/* SPDX-License-Identifier: Apache-2.0 */
/* Retained sizes and paths from GC roots, for verbs: opens a trace, builds its graph at a
 * moment, and prints the result. */
#ifndef CONVERTER_GRAPH_KEEPERS_OF_TRACE_H
#define CONVERTER_GRAPH_KEEPERS_OF_TRACE_H

#include "converter/graph/graph_moment.h"
#include "converter/graph/paths.h"
#include "converter/graph/retained.h"
#include "converter/records/record_dump.h"

struct keepers_options {
    struct heap_moment moment;
    enum retained_by by;
    uint64_t top;   /* maximum number of rows; 0: all */
    uint64_t depth; /* maximum number of frames of a site; 0: all */
    bool as_json;
};

/* A trace's object graph at a moment. */
struct opened_graph {
    struct step_reader *reader;
    struct seekable_path seekable;
    struct graph_moment graph;
};

enum step_status opened_graph_open(struct opened_graph *opened, const char *path,
                                   const struct heap_moment *moment, struct step_error *error);
/* Reports missing parts of the graph: references that the trace lacks, or live objects that were
 * not reached. */
void opened_graph_report_unknown(const char *path, const struct opened_graph *opened,
                                 uint64_t unreached);
/* Reports `error` if `status` is not OK, or else the trace's damage, and frees everything.
 * Returns the status of what it reported. */
enum step_status opened_graph_close(struct opened_graph *opened, const char *path,
                                    enum step_status status, const struct step_error *error);

/* Print to standard output and report errors. */
enum step_status keepers_print_retained(const char *path, const struct keepers_options *options);
enum step_status keepers_print_paths(const char *path, const struct keepers_options *options,
                                     const struct keeper_choice *choice);

#endif
