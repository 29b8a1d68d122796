/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the differences between two sets of traces: tables and a tree for people, JSON, CSV. */
#ifndef ANALYSES_COMPARE_COMPARE_REPORT_H
#define ANALYSES_COMPARE_COMPARE_REPORT_H

#include <stdio.h>

#include "converter/statistics/change_ranking.h"
#include "format/json/json_output.h"

struct compare_report {
    const struct measures *measures; /* borrowed */
    unsigned axes;                   /* bits of enum measure_axis: the tables to print */
    const struct metric *sort;       /* NULL: the most informative metric of each table */
    uint64_t top;                    /* lines of a table; 0: all */
    uint64_t depth;                  /* frames of a site; 0: all */
    double least;                    /* threshold of the tree: share of the largest change, 0 to
                                        1 */
    bool with_times;                 /* also rows in which only times changed */
};

/* Returns the metric that a table is sorted by. */
const struct metric *compare_metric(const struct compare_report *report, enum measure_axis axis);
/* Returns true if all runs have the metric, and any of them a value for it. */
bool compare_has(const struct compare_report *report, const struct metric *metric);

/* Returns false if memory runs out. */
bool compare_print_text(const struct compare_report *report);
bool compare_print_tree(const struct compare_report *report);
bool compare_print_csv(const struct compare_report *report);
bool compare_print_json(const struct compare_report *report);
/* Writes the data of the page as JSON.  For output_file_print(). */
bool compare_put_page_data(const void *report, FILE *out);

#endif
