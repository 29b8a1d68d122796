/* SPDX-License-Identifier: Apache-2.0 */
/* The heaps at the moments that were asked for, wherever they come from, and what becomes of them.
 */
#ifndef CONVERTER_VERBS_HEAPS_FOUND_H
#define CONVERTER_VERBS_HEAPS_FOUND_H

#include "converter/heap/heap_ages.h"
#include "converter/verbs/heap_asked.h"

struct heaps_found {
    const struct heap_asked *asked; /* borrowed, as are path and sites */
    const char *path;
    const struct heap_sites *sites;
    struct heap_snapshot snapshots[HEAP_MOMENTS_MOST]; /* without rows: there is no such moment */
    struct heap_ages ages;                             /* if they are asked for */
    uint64_t collections;                              /* of the whole trace */
    uint64_t end_ns;                                   /* its last time */
    bool is_import;                                    /* of a dump, not of a trace */
};

/* Prints what was asked for, and judges by the rules; `*failed`: how many of these fail.  Errors
 * are said to people; NOT_FOUND: there is no such moment. */
enum step_status heaps_found_print(struct heaps_found *found, size_t *failed);
/* The snapshots. */
void heaps_found_reset(struct heaps_found *found);

#endif
