/* SPDX-License-Identifier: Apache-2.0 */
/* Filters rows by ranges of numbers, threads, and a class pattern. */
#ifndef CONVERTER_TABLES_ROW_FILTER_H
#define CONVERTER_TABLES_ROW_FILTER_H

#include "converter/tables/table.h"

#define ROW_FILTER_NO_COLUMN SIZE_MAX

struct row_filter {
    const struct table *table;
    struct table_range *ranges;
    size_t range_count;
    size_t thread_column;
    uint64_t *threads; /* in ascending order; NULL: all */
    size_t thread_count;
    size_t class_column;
    char *class_glob;  /* NULL: all */
    uint8_t *class_is; /* by code: 0 not tested yet, 1 wanted, 2 not wanted */
    size_t class_capacity;
    uint8_t *keep; /* by row of the batch being filtered */
    size_t keep_capacity;
};

/* Copies the filters of a query.  Returns INVALID if the table lacks a column that they use. */
enum step_status row_filter_init(struct row_filter *filter, const struct table *table,
                                 const struct table_query *query, struct step_error *error);
void row_filter_reset(struct row_filter *filter);
enum step_status row_filter_set_ranges(struct row_filter *filter, const struct table_range *ranges,
                                       size_t count, struct step_error *error);

/* Returns whether the filter uses a column. */
bool row_filter_needs(const struct row_filter *filter, size_t column);

/* Gets the range that contains a column's values in all wanted rows, apart from values of 2^63
 * or more.  Not for TABLE_INT.  Returns false if no row can be wanted. */
bool row_filter_range(const struct row_filter *filter, size_t column, uint64_t *least,
                      uint64_t *most);
/* Returns whether rows with threads `least` to `most` may be wanted. */
bool row_filter_may_have_thread(const struct row_filter *filter, uint64_t least, uint64_t most);

/* Writes the numbers of the wanted rows to `selected`, and their count to `*selected_count`.
 * `vectors` is indexed by column of the table. */
enum step_status row_filter_select(struct row_filter *filter, const struct table_vector *vectors,
                                   size_t count, uint32_t *selected, size_t *selected_count,
                                   struct step_error *error);

#endif
