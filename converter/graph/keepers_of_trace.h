/* SPDX-License-Identifier: Apache-2.0 */
/* What keeps objects alive, for verbs: opens a trace, finds its graph at a moment, prints. */
#ifndef CONVERTER_GRAPH_KEEPERS_OF_TRACE_H
#define CONVERTER_GRAPH_KEEPERS_OF_TRACE_H

#include "converter/graph/graph_moment.h"
#include "converter/graph/paths.h"
#include "converter/graph/retained.h"
#include "converter/records/record_dump.h"

struct keepers_options {
    struct heap_moment moment;
    enum retained_by by;
    uint64_t top;   /* rows; 0: all */
    uint64_t depth; /* frames of a site; 0: all */
    bool as_json;
};

/* A trace's graph at a moment. */
struct opened_graph {
    struct step_reader *reader;
    struct seekable_path seekable;
    struct graph_moment graph;
};

enum step_status opened_graph_open(struct opened_graph *opened, const char *path,
                                   const struct heap_moment *moment, struct step_error *error);
/* Reports what is not in the graph: references that the trace lacks, or objects that live and were
 * not reached. */
void opened_graph_report_unknown(const char *path, const struct opened_graph *opened,
                                 uint64_t unreached);
/* Reports `error` where `status` is one, else the trace's damage, and gives back all. */
enum step_status opened_graph_close(struct opened_graph *opened, const char *path,
                                    enum step_status status, const struct step_error *error);

/* Each reports its faults. */
enum step_status keepers_print_retained(const char *path, const struct keepers_options *options);
enum step_status keepers_print_paths(const char *path, const struct keepers_options *options,
                                     const struct keeper_choice *choice);

#endif
