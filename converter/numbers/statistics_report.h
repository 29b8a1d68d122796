/* SPDX-License-Identifier: Apache-2.0 */
/* Prints statistics as text and as JSON. */
#ifndef CONVERTER_NUMBERS_STATISTICS_REPORT_H
#define CONVERTER_NUMBERS_STATISTICS_REPORT_H

#include <stdio.h>

#include "converter/numbers/statistics.h"

enum statistics_order { ORDER_BYTES, ORDER_OBJECTS, ORDER_LIVE };

struct statistics_report {
    const struct statistics *statistics; /* borrowed */
    const char *path;
    uint64_t top; /* rows per table; 0: all */
    enum statistics_order order;
};

/* A row's id, with its sort key. */
struct ranked_id {
    uint64_t key;
    uint32_t id;
};

struct ranking {
    struct ranked_id *rows; /* the highest key first */
    size_t count;
    size_t shown; /* of these, those to print */
};

/* These return false if memory runs out.  The caller frees `rows`. */
bool rank_classes(const struct statistics_report *report, struct ranking *ranking);
bool rank_threads(const struct statistics_report *report, struct ranking *ranking);
bool rank_methods(const struct statistics_report *report, struct ranking *ranking);

static inline uint64_t live_objects_of(const struct object_totals *totals)
{
    return totals->allocated_objects > totals->freed_objects
               ? totals->allocated_objects - totals->freed_objects
               : 0;
}

static inline uint64_t live_bytes_of(const struct object_totals *totals)
{
    return totals->allocated_bytes > totals->freed_bytes
               ? totals->allocated_bytes - totals->freed_bytes
               : 0;
}

/* These return false if memory runs out. */
bool statistics_print_text(const struct statistics_report *report);
bool statistics_print_json(const struct statistics_report *report, FILE *out);

#endif
