/* SPDX-License-Identifier: Apache-2.0 */
/* Heaps for people and programs: tables, trees, differences, ages; as text, JSON or CSV. */
#ifndef CONVERTER_HEAP_HEAP_REPORT_H
#define CONVERTER_HEAP_HEAP_REPORT_H

#include "converter/heap/heap_dump.h"
#include "converter/heap/heap_export.h"
#include "converter/heap/heap_snapshot.h"

enum heap_form { HEAP_AS_TEXT, HEAP_AS_JSON, HEAP_AS_CSV };
enum heap_tree { HEAP_NO_TREE, HEAP_TOP_DOWN, HEAP_BOTTOM_UP };

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

/* Each prints to standard output; false: out of memory.  The snapshots are folded. */
bool heap_print_table(const struct heap_report *report, struct heap_snapshot *snapshot);
bool heap_print_tree(const struct heap_report *report, struct heap_snapshot *snapshot);
bool heap_print_changes(const struct heap_report *report, struct heap_snapshot *before,
                        struct heap_snapshot *after);

#define HEAP_AGES 65u
struct heap_ages {
    struct heap_amount buckets[HEAP_AGES]; /* 0: younger than 1 us; k: from 2^(k-1) us */
};
void heap_ages_add(struct heap_ages *ages, uint64_t bytes, uint64_t age_us);
bool heap_print_ages(const struct heap_report *report, const struct heap_snapshot *snapshot,
                     const struct heap_ages *ages);

#endif
