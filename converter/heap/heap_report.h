/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What all reports on heaps have alike: what they are of, and their heads.  Reports go to standard
 * output; text is for people, JSON and CSV for programs.
 */
#ifndef CONVERTER_HEAP_HEAP_REPORT_H
#define CONVERTER_HEAP_HEAP_REPORT_H

#include "converter/heap/heap_export.h"
#include "converter/heap/heap_snapshot.h"
#include "format/json/json_output.h"

enum heap_form { HEAP_AS_TEXT, HEAP_AS_JSON, HEAP_AS_CSV };
enum heap_tree { HEAP_NO_TREE, HEAP_TOP_DOWN, HEAP_BOTTOM_UP };

/* All that it points to is borrowed. */
struct heap_report {
    const char *path; /* of the trace */
    const struct heap_sites *sites;
    unsigned axes; /* enum heap_axis bits: the columns of the table */
    bool allocated;
    bool is_import; /* dumps of others: they are numbered, and have no ages */
    enum heap_form form;
    enum heap_tree tree;
    uint64_t top;             /* lines of a table; 0: all */
    uint64_t depth;           /* frames of a site; 0: all */
    struct heap_export least; /* its limit, a hundredth of the heap if there is none */
};

/* What the report is of: all that lives, or was allocated by then. */
static inline const struct heap_amount *heap_report_total(const struct heap_report *report,
                                                          const struct heap_snapshot *snapshot)
{
    return report->allocated ? &snapshot->allocated : &snapshot->live;
}

/* In percent; of nothing it is 0. */
double heap_report_share(uint64_t part, uint64_t whole);

/* The lines above a text: which moment, and what there was. */
void heap_report_put_head(const struct heap_report *report, const struct heap_snapshot *snapshot);

/* Opens the object that JSON is, with what it is of. */
void heap_report_begin_json(const struct heap_report *report, struct json_output *json);
void heap_report_put_moment(const struct heap_snapshot *snapshot, const char *key,
                            struct json_output *json);

#endif
