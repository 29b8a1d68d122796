/* SPDX-License-Identifier: Apache-2.0 */
/* The columns of statistics, by class, thread and method: of the tables of `stats` and of the pages
 * of `report`, and as metrics of rules and comparisons. */
#ifndef CONVERTER_STATISTICS_STATISTICS_COLUMNS_H
#define CONVERTER_STATISTICS_STATISTICS_COLUMNS_H

#include "converter/cli/report_table.h"
#include "converter/statistics/metrics.h"
#include "converter/statistics/statistics.h"

/* What the numbers of a row are made of: the totals of a class, a thread or a method, or the sums
 * of measures alone. */
struct statistics_row {
    const struct statistics *statistics; /* NULL: of measures */
    uint32_t id;
    const void *totals;            /* struct class_totals, thread_totals or method_totals */
    struct sampled_totals sampled; /* of a class or a thread, with what its class says of sizes */
    uint64_t sums[SUM_COUNT];      /* of all objects; 0: those that the totals do not have */
};

/* Returns the row of a class, of a thread or of a method. */
struct statistics_row statistics_row_of(const struct statistics *statistics, enum measure_axis axis,
                                        uint32_t id, const void *totals);
/* Returns the table of such rows. */
struct report_table statistics_columns_of(const struct statistics *statistics,
                                          enum measure_axis axis);
/* The same, as text. */
struct report_table statistics_text_columns_of(const struct statistics *statistics,
                                               enum measure_axis axis);
/* Returns the columns, whatever the trace; those of the program are those of classes, and sites
 * have none. */
const struct report_column *statistics_columns(enum measure_axis axis, size_t *count);

static inline uint64_t live_objects_of(const struct object_totals *totals)
{
    return still_live(totals->existing_objects, totals->allocated_objects, totals->freed_objects);
}

static inline uint64_t live_bytes_of(const struct object_totals *totals)
{
    return still_live(totals->existing_bytes, totals->allocated_bytes, totals->freed_bytes);
}

#endif
