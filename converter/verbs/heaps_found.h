/* SPDX-License-Identifier: Apache-2.0 */
/* The heaps at the requested moments, from a trace or a dump, and their output. */
#ifndef CONVERTER_VERBS_HEAPS_FOUND_H
#define CONVERTER_VERBS_HEAPS_FOUND_H

#include "converter/heap/heap_ages.h"
#include "converter/verbs/heap_asked.h"

struct heaps_found {
    const struct heap_asked *asked; /* borrowed, as are path and sites */
    const char *path;
    const struct heap_sites *sites;
    struct heap_snapshot snapshots[HEAP_MOMENTS_MOST]; /* without rows if there is no such moment */
    struct heap_ages ages;                             /* if requested */
    uint64_t collections;                              /* of the whole trace */
    uint64_t end_ns;                                   /* of the whole trace */
    bool is_import;                                    /* from a dump, not a trace */
};

/* Prints the request's result, and evaluates its rules.  Sets `*failed` to the number of failed
 * rules. Reports errors; NOT_FOUND: there is no such moment. */
enum step_status heaps_found_print(struct heaps_found *found, size_t *failed);
/* Frees the snapshots. */
void heaps_found_reset(struct heaps_found *found);

#endif
