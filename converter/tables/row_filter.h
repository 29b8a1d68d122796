/* SPDX-License-Identifier: Apache-2.0 */
/* Which rows of a table are wanted: ranges of numbers, threads, a glob of classes. */
#ifndef CONVERTER_TABLES_ROW_FILTER_H
#define CONVERTER_TABLES_ROW_FILTER_H

#include "converter/tables/table.h"

#define ROW_FILTER_NO_COLUMN SIZE_MAX

struct row_filter {
    const struct table *table;
    struct table_range *ranges;
    size_t range_count;
    size_t thread_column;
    uint64_t *threads; /* ascending; NULL: any */
    size_t thread_count;
    size_t class_column;
    char *class_glob;  /* NULL: any */
    uint8_t *class_is; /* by code: 0 not looked at yet, 1 wanted, 2 not wanted */
    size_t class_capacity;
    uint8_t *keep; /* by row, while one batch is looked at */
    size_t keep_capacity;
};

/* Copies what the query wants.  INVALID where the table has no such column. */
enum step_status row_filter_init(struct row_filter *filter, const struct table *table,
                                 const struct table_query *query, struct step_error *error);
void row_filter_reset(struct row_filter *filter);
enum step_status row_filter_set_ranges(struct row_filter *filter, const struct table_range *ranges,
                                       size_t count, struct step_error *error);

/* Does it look at that column? */
bool row_filter_needs(const struct row_filter *filter, size_t column);

/* The range of a column, not of TABLE_INT, that all wanted rows are in whose value is below 2^63;
 * false: there can be none. */
bool row_filter_range(const struct row_filter *filter, size_t column, uint64_t *least,
                      uint64_t *most);
/* Can a row be wanted whose thread is `least` to `most`? */
bool row_filter_may_have_thread(const struct row_filter *filter, uint64_t least, uint64_t most);

/* Puts the numbers of the rows that are wanted into `selected`, and says how many they are.
 * `vectors` are by column of the table. */
enum step_status row_filter_select(struct row_filter *filter, const struct table_vector *vectors,
                                   size_t count, uint32_t *selected, size_t *selected_count,
                                   struct step_error *error);

#endif
