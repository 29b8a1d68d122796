/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The call sites of a report: a tree small enough for a page.  Of the sites of the trace those stay
 * that hold enough, with what is under them; what is cut off counts for its parent's node "...".
 */
#ifndef CONVERTER_REPORT_REPORT_SITES_H
#define CONVERTER_REPORT_REPORT_SITES_H

#include "converter/report/report_model.h"

#define REPORT_SITE_OTHER UINT32_MAX

struct report_site_sums {
    uint64_t live_bytes, live_objects; /* at the moment */
    uint64_t allocated_bytes, allocated_objects;
};

struct report_site {
    uint32_t site;   /* in the tracker's sites; REPORT_SITE_OTHER: all that is small */
    uint32_t parent; /* in the report's; less than its own number */
    struct report_site_sums own;
};

/* A line that allocates objects of a class, whoever calls it. */
struct report_place {
    uint32_t leaf; /* in `leaves` */
    uint32_t class_id;
    struct report_site_sums sums;
};

struct report_sites {
    struct report_site *items; /* the first is the root */
    size_t count;
    uint32_t *numbers; /* by site of the tracker: where it is counted in the report's */
    struct heap_sites leaves;
    struct report_place *places; /* the largest first */
    size_t place_count;
};

/* At most about `node_limit` nodes and `place_limit` places.  False: out of memory; reset is
 * allowed then. */
bool report_sites_make(const struct report_model *model, size_t node_limit, size_t place_limit,
                       struct report_sites *sites);
void report_sites_reset(struct report_sites *sites);

#endif
