/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks what walks of eden have found (engine=walk, totals=; rule 10): walks are numbered, the
 * bytes of each one's classes are what the JVM has counted, and no more objects survived than were
 * allocated.
 */
#ifndef CONVERTER_STATISTICS_CHECK_WALKS_H
#define CONVERTER_STATISTICS_CHECK_WALKS_H

#include "converter/statistics/check_rules.h"
#include "converter/trace/event_source.h"

struct check_walks {
    struct check_rules *rules; /* borrowed */
    uint64_t last;             /* number of the last walk */
    /* of the next one, so far */
    bool has_rows;
    bool is_too_large; /* the sum does not fit into 64 bits */
    uint64_t bytes, known;
};

void check_walks_init(struct check_walks *walks, struct check_rules *rules);
/* Checks a record of a walk; others are passed over. */
void check_walks_put(struct check_walks *walks, const struct trace_fact *fact);
/* Call after the last record. */
void check_walks_finish(struct check_walks *walks);

#endif
