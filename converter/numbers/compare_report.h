/* SPDX-License-Identifier: Apache-2.0 */
/* What changed from one set of traces to another: tables and a tree for people, JSON, CSV. */
#ifndef CONVERTER_NUMBERS_COMPARE_REPORT_H
#define CONVERTER_NUMBERS_COMPARE_REPORT_H

#include <stdio.h>

#include "converter/numbers/measures.h"
#include "format/json/json_output.h"

struct compare_report {
    const struct measures *measures; /* borrowed */
    unsigned axes;                   /* bits of enum measure_axis: the tables */
    const struct metric *sort;       /* NULL: what tells most of each table */
    uint64_t top;                    /* lines of a table; 0: all */
    uint64_t depth;                  /* frames of a site; 0: all */
    double least;                    /* of the tree: share of the largest change, 0 to 1 */
    bool with_times;                 /* rows in which nothing but times changed, too */
};

/* A row, the change of the metric that rows are sorted by, and the largest of the others. */
struct compare_row {
    uint32_t row;
    struct measured before, after;
    double change;
    double other_change; /* of bytes, objects and calls */
    double time_change;
};

struct compare_ranking {
    struct compare_row *rows; /* the largest change first; to be freed */
    size_t count;             /* that changed in any metric */
    size_t shown;
};

/* False: out of memory. */
bool compare_rank(const struct compare_report *report, enum measure_axis axis,
                  const struct metric *metric, struct compare_ranking *ranking);
/* What a table is sorted by. */
const struct metric *compare_metric(const struct compare_report *report, enum measure_axis axis);
/* Runs of one program differ by as much. */
bool compare_is_noise(const struct compare_row *row);
/* Whether any run tells something of it. */
bool compare_has(const struct compare_report *report, const struct metric *metric);

/* False: out of memory. */
bool compare_print_text(const struct compare_report *report);
bool compare_print_tree(const struct compare_report *report);
bool compare_print_csv(const struct compare_report *report);
bool compare_print_json(const struct compare_report *report);
/* The data of the page. */
bool compare_put_page_data(const struct compare_report *report, FILE *out);

#endif
