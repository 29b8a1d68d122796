/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prints heaps: as tables, as trees of calls, and as a histogram of ages.  Reports are printed to
 * standard output, as text for people, or as JSON or CSV for programs.
 */
#ifndef CONVERTER_HEAP_HEAP_REPORT_H
#define CONVERTER_HEAP_HEAP_REPORT_H

#include "converter/heap/heap_snapshot.h"
#include "converter/heap/heap_writer.h"
#include "format/json/json_output.h"

enum heap_form { HEAP_AS_TEXT, HEAP_AS_JSON, HEAP_AS_CSV };
enum heap_tree { HEAP_NO_TREE, HEAP_TOP_DOWN, HEAP_BOTTOM_UP };

/* All pointers are borrowed. */
struct heap_report {
    const char *path; /* path of the trace */
    const struct heap_sites *sites;
    unsigned axes; /* bitmap of enum heap_axis: the columns of the table */
    bool allocated;
    bool is_import;    /* imported dumps: they are numbered, and have no ages */
    bool is_collected; /* the agent had the JVM collect at the end */
    bool is_of_jvm;    /* recorded in a JVM: the garbage of the end was never collected */
    enum heap_form form;
    enum heap_tree tree;
    uint64_t top;             /* rows of a table; 0: all */
    uint64_t depth;           /* frames of a site; 0: all */
    struct heap_export least; /* its size limit; default: 1% of the heap */
};

/* Returns the totals of the report: live objects, or all allocations so far. */
static inline const struct heap_amount *heap_report_total(const struct heap_report *report,
                                                          const struct heap_snapshot *snapshot)
{
    return report->allocated ? &snapshot->allocated : &snapshot->live;
}

/* Returns a percentage; 0 if `whole` is 0. */
double heap_report_share(uint64_t part, uint64_t whole);

/* Prints the head of a text report: the moment and the totals. */
void heap_report_put_head(const struct heap_report *report, const struct heap_snapshot *snapshot);

/* Begins the JSON object of a report with its common members. */
void heap_report_begin_json(const struct heap_report *report, struct json_output *json);
void heap_report_put_moment(const struct heap_report *report, const struct heap_snapshot *snapshot,
                            const char *key, struct json_output *json);

#define HEAP_AGES 65u
struct heap_ages {
    struct heap_amount buckets[HEAP_AGES]; /* [0]: younger than 1 us; [k]: from 2^(k-1) us */
};

struct heap_tracker;
/* Sets the ages, at `now_ns`, of the selected objects that the tracker has as alive. */
void heap_ages_find(const struct heap_tracker *tracker, uint64_t now_ns, struct heap_ages *ages);
/* Prints the histogram as text to standard output. */
void heap_print_ages(const struct heap_report *report, const struct heap_snapshot *snapshot,
                     const struct heap_ages *ages);

/* Prints a heap as a tree of calls, and of types if the report's axes include classes. */

/* Prints to standard output, in the direction of report->tree.  Folds the snapshot unless it has
 * dump entries of its own.  Returns false if out of memory. */
bool heap_print_tree(const struct heap_report *report, struct heap_snapshot *snapshot);

/* Prints a heap, or the difference between two moments, as a table: text, JSON or CSV. */

/* Print to standard output and fold the snapshots.  Return false if out of memory. */
bool heap_print_table(const struct heap_report *report, struct heap_snapshot *snapshot);
bool heap_print_changes(const struct heap_report *report, struct heap_snapshot *before,
                        struct heap_snapshot *after);

#endif
