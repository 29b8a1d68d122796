/* SPDX-License-Identifier: Apache-2.0 */
/* Prints a heap as a tree of calls, and of types if the report's axes include classes. */
#ifndef CONVERTER_HEAP_HEAP_TREE_H
#define CONVERTER_HEAP_HEAP_TREE_H

#include "converter/heap/heap_report.h"

/* Prints to standard output, in the direction of report->tree.  Folds the snapshot unless it has
 * dump entries of its own.  Returns false if out of memory. */
bool heap_print_tree(const struct heap_report *report, struct heap_snapshot *snapshot);

#endif
