/* SPDX-License-Identifier: Apache-2.0 */
/* Prints statistics as text and as JSON. */
#ifndef CONVERTER_NUMBERS_STATISTICS_REPORT_H
#define CONVERTER_NUMBERS_STATISTICS_REPORT_H

#include <stdio.h>

#include "converter/numbers/statistics.h"
#include "format/json/json_output.h"

enum statistics_order { ORDER_BYTES, ORDER_OBJECTS, ORDER_LIVE };

struct statistics_report {
    const struct statistics *statistics; /* borrowed */
    const char *path;
    uint64_t top; /* rows per table; 0: all */
    enum statistics_order order;
};

/* A row's id, with its sort keys. */
struct ranked_id {
    uint64_t key;
    uint64_t calls; /* of methods: times can be equal, as where none were taken */
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

/* A table of the highest ranks: its head, a line for each id, and how many `things` were left out.
 */
struct ranking_table {
    bool (*rank)(const struct statistics_report *report, struct ranking *ranking);
    void (*print_head)(void);
    void (*print_line)(const struct statistics *statistics, uint32_t id);
    const char *things;
};
bool ranking_table_print(const struct ranking_table *table, const struct statistics_report *report);
/* The same as an array of JSON: an object for each id, whose members `put_members` puts. */
struct ranking_array {
    bool (*rank)(const struct statistics_report *report, struct ranking *ranking);
    void (*put_members)(struct json_output *json, const struct statistics *statistics, uint32_t id);
    const char *name;
};
bool ranking_array_put(const struct ranking_array *array, const struct statistics_report *report,
                       struct json_output *json);
/* Put the members that say which class or thread it is. */
void statistics_put_class_name(struct json_output *json, const struct statistics *statistics,
                               uint32_t id);
void statistics_put_thread_name(struct json_output *json, const struct statistics *statistics,
                                uint32_t id);
/* Prints a thread's number and name, and ends the line. */
void statistics_print_thread_name(const struct statistics *statistics, uint32_t id);

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
/* Counts of events, and the time from the first to the last. */
void statistics_print_kinds(const struct statistics *statistics);
/* The same for a sampled trace: estimates, with their confidence intervals. */
bool statistics_print_sampled(const struct statistics_report *report);
bool statistics_print_sampled_json(const struct statistics_report *report, FILE *out);

#endif
