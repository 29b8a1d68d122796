/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Retained sizes: the bytes that would become unreachable together with an object, i.e. the size of
 * its dominator subtree.  The retained size of a class or site is the sum for those of its objects
 * that are not dominated by another of the same class or site.
 */
#ifndef CONVERTER_GRAPH_RETAINED_H
#define CONVERTER_GRAPH_RETAINED_H

#include "converter/graph/graph_moment.h"
#include "converter/graph/object_graph.h"

enum retained_by { RETAINED_BY_CLASS, RETAINED_BY_SITE, RETAINED_BY_OBJECT };

struct retained_row {
    uint64_t object; /* RETAINED_BY_OBJECT only */
    uint32_t class_id;
    uint32_t site;
    uint64_t objects;
    uint64_t bytes; /* shallow size */
    uint64_t retained_bytes;
    uint32_t open; /* scratch: number of its objects on the current path in the tree */
};

struct retained {
    enum retained_by by;
    struct retained_row *rows; /* by retained bytes, descending */
    size_t count;
    size_t left;                                 /* number of omitted rows */
    uint64_t objects, bytes;                     /* reachable from the roots */
    uint64_t unreached_objects, unreached_bytes; /* not collected, but not reachable */
};

/* Computes the retained sizes of all classes, sites or objects.  Keeps only the largest `top`
 * rows (0: all).  Returns CORRUPT if the reached and unreached objects do not add up to the live
 * objects.  Call retained_reset() in either case. */
enum step_status retained_find(const struct graph_moment *graph, enum retained_by by, uint64_t top,
                               struct retained *out, struct step_error *error);
void retained_reset(struct retained *retained);

#endif
