/* SPDX-License-Identifier: Apache-2.0 */
/* Prints statistics as text and as JSON, of exact and of sampled traces: the tables are in
 * statistics_tables.c. */
#ifndef CONVERTER_STATISTICS_STATISTICS_REPORT_H
#define CONVERTER_STATISTICS_STATISTICS_REPORT_H

#include <stdio.h>

#include "converter/statistics/metrics.h"
#include "converter/statistics/statistics.h"
#include "format/json/json_output.h"

enum statistics_order { ORDER_BYTES, ORDER_OBJECTS, ORDER_LIVE };

struct statistics_report {
    const struct statistics *statistics; /* borrowed */
    const char *path;
    uint64_t top; /* rows per table; 0: all */
    enum statistics_order order;
    /* Writes more members of the JSON; NULL: none. */
    void (*put_more)(const void *user, struct json_output *json);
    const void *user;
};

/* A row's id, with its sort keys. */
struct ranked_id {
    uint64_t key;
    uint64_t calls; /* of methods: times can be equal, as where none were taken */
    uint32_t id;
};

struct ranking {
    struct ranked_id *rows; /* the highest key first; the caller frees it */
    size_t count;
    size_t shown; /* of these, those to print */
};

/* Returns false if memory runs out. */
bool statistics_rank(const struct statistics_report *report, enum measure_axis axis,
                     struct ranking *ranking);
/* Prints a table of the highest ranks: its head, a line for each id, and how many were left out.
 * Returns false if memory runs out. */
bool statistics_print_table(const struct statistics_report *report, enum measure_axis axis);
/* The same as an array of JSON, with an object for each id. */
bool statistics_put_table(const struct statistics_report *report, enum measure_axis axis,
                          struct json_output *json);
/* Puts the member `key`, the columns of a page's table (report_table_put_page_heads()); an empty
 * array if the ranking is. */
void statistics_put_page_heads(const struct statistics *statistics, enum measure_axis axis,
                               const struct ranking *ranking, const char *key,
                               struct json_output *json);
/* Puts the numbers of a row of such a table. */
void statistics_put_page_row(const struct statistics *statistics, enum measure_axis axis,
                             const struct ranked_id *rank, bool with_keys,
                             struct json_output *json);
/* Puts the members of a class for all classes together. */
void statistics_put_totals(const struct statistics *statistics, struct json_output *json);
/* Puts the members that say which thread it is. */
void statistics_put_thread_name(struct json_output *json, const struct statistics *statistics,
                                uint32_t id);

/* These return false if memory runs out. */
bool statistics_print_text(const struct statistics_report *report);
bool statistics_print_json(const struct statistics_report *report, FILE *out);
/* Returns the time in which the program could allocate: without a snapshot of references. */
static inline uint64_t statistics_running_ns(const struct statistics *statistics)
{
    uint64_t all_ns = statistics->last_ns - statistics->first_ns;
    return statistics->snapshot_ns < all_ns ? all_ns - statistics->snapshot_ns : all_ns;
}

#endif
