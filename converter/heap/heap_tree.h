/* SPDX-License-Identifier: Apache-2.0 */
/* A heap as a tree of calls, and of types where the report's axes have classes. */
#ifndef CONVERTER_HEAP_HEAP_TREE_H
#define CONVERTER_HEAP_HEAP_TREE_H

#include "converter/heap/heap_report.h"

/* As text to standard output, in the order that report->tree says.  False: out of memory.  The
 * snapshot is folded, but where it has entries of its own. */
bool heap_print_tree(const struct heap_report *report, struct heap_snapshot *snapshot);

#endif
