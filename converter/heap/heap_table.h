/* SPDX-License-Identifier: Apache-2.0 */
/* Prints a heap, or the difference between two moments, as a table: text, JSON or CSV. */
#ifndef CONVERTER_HEAP_HEAP_TABLE_H
#define CONVERTER_HEAP_HEAP_TABLE_H

#include "converter/heap/heap_report.h"

/* Print to standard output and fold the snapshots.  Return false if out of memory. */
bool heap_print_table(const struct heap_report *report, struct heap_snapshot *snapshot);
bool heap_print_changes(const struct heap_report *report, struct heap_snapshot *before,
                        struct heap_snapshot *after);

#endif
