/* SPDX-License-Identifier: Apache-2.0 */
/* A heap as a table, and what changed between two moments as another: text, JSON or CSV. */
#ifndef CONVERTER_HEAP_HEAP_TABLE_H
#define CONVERTER_HEAP_HEAP_TABLE_H

#include "converter/heap/heap_report.h"

/* Each prints to standard output; false: out of memory.  The snapshots are folded. */
bool heap_print_table(const struct heap_report *report, struct heap_snapshot *snapshot);
bool heap_print_changes(const struct heap_report *report, struct heap_snapshot *before,
                        struct heap_snapshot *after);

#endif
