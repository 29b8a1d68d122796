/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How much memory objects keep: what would go if they went, which is what they dominate.  Of a
 * class or a site it is the sum over those of its objects that no other of the same keeps.
 */
#ifndef CONVERTER_GRAPH_RETAINED_H
#define CONVERTER_GRAPH_RETAINED_H

#include "converter/graph/graph_moment.h"

enum retained_by { RETAINED_BY_CLASS, RETAINED_BY_SITE, RETAINED_BY_OBJECT };

struct retained_row {
    uint64_t object; /* BY_OBJECT */
    uint32_t class_id;
    uint32_t site;
    uint64_t objects;
    uint64_t bytes; /* their own */
    uint64_t retained_bytes;
    uint32_t open; /* how many of it are on the way down the tree */
};

struct retained {
    enum retained_by by;
    struct retained_row *rows; /* by retained bytes, the most first */
    size_t count;
    size_t left;                                 /* how many rows are left out */
    uint64_t objects, bytes;                     /* that can be come to from the roots */
    uint64_t unreached_objects, unreached_bytes; /* that live and cannot */
};

/* Computes the retained sizes of all classes, sites or objects.  Of objects only the first `top`
 * (0: all) are kept.  An error if what is reached and what is not are not what lives.  Call
 * retained_reset() in any case. */
enum step_status retained_find(const struct graph_moment *graph, enum retained_by by, uint64_t top,
                               struct retained *out, struct step_error *error);
void retained_reset(struct retained *retained);

#endif
