/* SPDX-License-Identifier: Apache-2.0 */
/* Filters a batch with one pass per criterion. */
#include "analyses/tables/table_rows.h"

#include <stdlib.h>
#include <string.h>

#include "converter/containers/no_memory.h"
#include "converter/trace/event_selection.h"
#include "format/core/grow.h"
#include "format/core/search.h"

#define SIGN (UINT64_C(1) << 63)

static enum step_status check_ranges(const struct table *table, const struct table_range *ranges,
                                     size_t count, struct step_error *error)
{
    for (size_t i = 0; i < count; i++) {
        if (ranges[i].column >= table->column_count)
            return step_error_set(error, STEP_STATUS_INVALID, NULL, STEP_NO_OFFSET,
                                  "table %s has no column %zu", table->name, ranges[i].column);
        if (!table_type_has_numbers(table->columns[ranges[i].column].type))
            return step_error_set(error, STEP_STATUS_INVALID, NULL, STEP_NO_OFFSET,
                                  "column %s of table %s has no numbers",
                                  table->columns[ranges[i].column].name, table->name);
    }
    return STEP_STATUS_OK;
}

enum step_status row_filter_set_ranges(struct row_filter *filter, const struct table_range *ranges,
                                       size_t count, struct step_error *error)
{
    enum step_status status = check_ranges(filter->table, ranges, count, error);
    if (status != STEP_STATUS_OK)
        return status;
    if (count > filter->range_count) {
        struct table_range *room = realloc(filter->ranges, count * sizeof *room);
        if (room == NULL)
            return no_memory(error);
        filter->ranges = room;
    }
    if (count > 0)
        memcpy(filter->ranges, ranges, count * sizeof *ranges);
    filter->range_count = count;
    return STEP_STATUS_OK;
}

static int compare_threads(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *) a;
    uint64_t y = *(const uint64_t *) b;
    return x < y ? -1 : x > y;
}

enum step_status row_filter_init(struct row_filter *filter, const struct table *table,
                                 const struct table_query *query, struct step_error *error)
{
    *filter = (struct row_filter){.table = table,
                                  .thread_column = ROW_FILTER_NO_COLUMN,
                                  .class_column = ROW_FILTER_NO_COLUMN};
    enum step_status status =
        row_filter_set_ranges(filter, query->ranges, query->range_count, error);
    if (status == STEP_STATUS_OK && query->threads != NULL) {
        status = table_find_column(table, "thread", &filter->thread_column, error);
        filter->threads = calloc(query->thread_count + 1, sizeof *filter->threads);
        if (filter->threads == NULL)
            return no_memory(error);
        memcpy(filter->threads, query->threads, query->thread_count * sizeof *filter->threads);
        filter->thread_count = query->thread_count;
        qsort(filter->threads, filter->thread_count, sizeof *filter->threads, compare_threads);
    }
    if (status == STEP_STATUS_OK && query->class_glob != NULL) {
        status = table_find_column(table, "class", &filter->class_column, error);
        filter->class_glob = strdup(query->class_glob);
        if (filter->class_glob == NULL)
            return no_memory(error);
    }
    return status == STEP_STATUS_NOT_FOUND ? STEP_STATUS_INVALID : status;
}

void row_filter_reset(struct row_filter *filter)
{
    free(filter->ranges);
    free(filter->threads);
    free(filter->class_glob);
    free(filter->class_is);
    free(filter->keep);
    *filter = (struct row_filter){0};
}

bool row_filter_needs(const struct row_filter *filter, size_t column)
{
    bool needs = column == filter->thread_column || column == filter->class_column;
    for (size_t i = 0; i < filter->range_count; i++)
        needs = needs || filter->ranges[i].column == column;
    return needs;
}

bool row_filter_range(const struct row_filter *filter, size_t column, uint64_t *least,
                      uint64_t *most)
{
    *least = 0;
    *most = UINT64_MAX;
    for (size_t i = 0; i < filter->range_count; i++) {
        const struct table_range *range = &filter->ranges[i];
        if (range->column != column || filter->table->columns[column].type == TABLE_INT)
            continue;
        if (range->is_signed && (range->most & SIGN) != 0)
            return false;
        uint64_t from = range->is_signed && (range->least & SIGN) != 0 ? 0 : range->least;
        *least = from > *least ? from : *least;
        *most = range->most < *most ? range->most : *most;
    }
    return *least <= *most;
}

bool row_filter_may_have_thread(const struct row_filter *filter, uint64_t least, uint64_t most)
{
    if (filter->threads == NULL)
        return true;
    size_t at = step_lower_bound(filter->threads, filter->thread_count, least);
    return at < filter->thread_count && filter->threads[at] <= most;
}

static void keep_range(const struct row_filter *filter, const struct table_range *range,
                       const struct table_vector *vector, size_t count)
{
    bool is_signed = range->is_signed || filter->table->columns[range->column].type == TABLE_INT;
    uint64_t flip = is_signed ? SIGN : 0;
    uint64_t least = range->least ^ flip;
    uint64_t most = range->most ^ flip;
    uint8_t *keep = filter->keep;
    if (least > most) {
        memset(keep, 0, count);
        return;
    }
    uint64_t width = most - least;
    for (size_t i = 0; i < count; i++)
        keep[i] &= (vector->numbers[i] ^ flip) - least <= width;
    for (size_t i = 0; vector->validity != NULL && i < count; i++)
        keep[i] &= vector->validity[i / 8] >> i % 8;
}

static void keep_threads(const struct row_filter *filter, const struct table_vector *vector,
                         size_t count)
{
    uint64_t last = 0;
    bool last_is = false;
    for (size_t i = 0; i < count; i++) {
        uint64_t thread = vector->numbers[i];
        if (i == 0 || thread != last) {
            size_t at = step_lower_bound(filter->threads, filter->thread_count, thread);
            last_is = at < filter->thread_count && filter->threads[at] == thread;
            last = thread;
        }
        filter->keep[i] &= last_is && !table_vector_is_null(vector, i);
    }
}

static bool row_filter_class_is_wanted(struct row_filter *filter, const struct table_vector *vector,
                                       uint32_t code)
{
    if (filter->class_is[code] == 0)
        filter->class_is[code] =
            trace_class_matches(filter->class_glob, vector->dictionary->texts[code]) ? 1 : 2;
    return filter->class_is[code] == 1;
}

static enum step_status keep_classes(struct row_filter *filter, const struct table_vector *vector,
                                     size_t count, struct step_error *error)
{
    size_t codes = vector->dictionary->count;
    if (!STEP_MAKE_ZEROED_ROOM(filter->class_is, filter->class_capacity, codes))
        return no_memory(error);
    for (size_t i = 0; i < count; i++)
        filter->keep[i] &= !table_vector_is_null(vector, i) &&
                           row_filter_class_is_wanted(filter, vector, vector->codes[i]);
    return STEP_STATUS_OK;
}

enum step_status row_filter_select(struct row_filter *filter, const struct table_vector *vectors,
                                   size_t count, uint32_t *selected, size_t *selected_count,
                                   struct step_error *error)
{
    enum step_status status = STEP_STATUS_OK;
    if (count > filter->keep_capacity) {
        free(filter->keep);
        filter->keep = malloc(count);
        filter->keep_capacity = filter->keep != NULL ? count : 0;
        if (filter->keep == NULL)
            return no_memory(error);
    }
    memset(filter->keep, 1, count);
    for (size_t i = 0; i < filter->range_count; i++)
        keep_range(filter, &filter->ranges[i], &vectors[filter->ranges[i].column], count);
    if (filter->threads != NULL)
        keep_threads(filter, &vectors[filter->thread_column], count);
    if (filter->class_glob != NULL)
        status = keep_classes(filter, &vectors[filter->class_column], count, error);
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        selected[kept] = (uint32_t) i;
        kept += filter->keep[i] & 1u;
    }
    *selected_count = kept;
    return status;
}
