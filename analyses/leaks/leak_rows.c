/* SPDX-License-Identifier: Apache-2.0 */
/* Adds up old objects by cell, and cells by the requested axes. */
#include "analyses/leaks/leak_rows.h"

#include <stdlib.h>

#include "analyses/leaks/leak_growth.h"
#include "converter/numbers/estimates.h"
#include "converter/numbers/quantity.h"

/* Survivors of a cell. */
struct old_cell {
    struct heap_amount amount;
    struct sample_sums samples;
    double ages_us; /* of a sampled trace, by weight */
};

static void add_old(struct old_cell *cell, const struct live_object *object, uint64_t age_us,
                    const struct cell_samples *samples)
{
    double weight;
    if (!cell_samples_are_counted(samples)) {
        heap_amount_add(&cell->amount, &(struct heap_amount){1, object->size, age_us});
        return;
    }
    if (!sample_weights_now(&samples->weights, object->object, object->size, &weight))
        return;
    sample_weights_add(&samples->weights, &cell->samples, object->object, object->size, weight);
    cell->ages_us += weight * (double) age_us;
    cell->amount = heap_samples_amount(&cell->samples, cell->ages_us);
}

/* By cell of the tracker.  Returns NULL if memory runs out. */
static struct old_cell *old_by_cell(const struct leak_tracker *tracker,
                                    const struct leak_limits *limits)
{
    struct old_cell *old = calloc(tracker->heap.cells.count + 1, sizeof *old);
    enum time_unit unit = tracker->heap.unit;
    uint64_t now_us = time_age(tracker->heap.now_ns, unit);
    struct object_cursor cursor = {0};
    struct live_object object;
    while (old != NULL && object_table_next(&tracker->heap.live, &cursor, &object)) {
        uint64_t born_us = time_age(object.value, unit);
        uint64_t age_us = now_us > born_us ? now_us - born_us : 0;
        if (age_us >= time_age(limits->age_ns, unit) &&
            leak_tracker_survived(tracker, object.value) >= limits->survived)
            add_old(&old[object.class_id], &object, age_us, &tracker->heap.samples);
    }
    return old;
}

static int by_key(const void *left, const void *right)
{
    const struct heap_key *a = &((const struct leak_row *) left)->key;
    const struct heap_key *b = &((const struct leak_row *) right)->key;
    if (a->site != b->site)
        return a->site < b->site ? -1 : 1;
    return a->class_id < b->class_id ? -1 : a->class_id > b->class_id;
}

/* Rows without a stack are last.  At equal rank, single objects come after others. */
static int by_rank(const void *left, const void *right)
{
    const struct leak_row *a = left, *b = right;
    if ((a->key.site == 0) != (b->key.site == 0))
        return a->key.site == 0 ? 1 : -1;
    if (a->rank == b->rank && (a->old.objects == 1) != (b->old.objects == 1))
        return a->old.objects == 1 ? 1 : -1;
    if (a->rank != b->rank)
        return a->rank > b->rank ? -1 : 1;
    if (a->old.bytes != b->old.bytes)
        return a->old.bytes > b->old.bytes ? -1 : 1;
    return by_key(left, right);
}

static void fill_series(const struct leak_tracker *tracker, size_t cell, struct leak_row *row)
{
    for (size_t i = 0; i < tracker->sample_count; i++)
        if (cell < tracker->samples[i].cell_count)
            row->series[i] += tracker->samples[i].bytes[cell];
}

/* Merges rows with equal keys, and leaves them in the order of their keys. */
static void leak_rows_merge(struct leak_rows *rows)
{
    size_t last = 0;
    if (rows->count == 0)
        return;
    qsort(rows->rows, rows->count, sizeof *rows->rows, by_key);
    for (size_t i = 1; i < rows->count; i++) {
        if (by_key(&rows->rows[last], &rows->rows[i]) != 0) {
            rows->rows[++last] = rows->rows[i];
            continue;
        }
        heap_amount_add(&rows->rows[last].old, &rows->rows[i].old);
        sample_sums_merge(&rows->rows[last].old_samples, &rows->rows[i].old_samples);
    }
    rows->count = last + 1;
}

/* Of a sampled trace an estimate. */
static uint64_t born_amount(const struct cell_samples *samples, const struct live_object *object,
                            bool has_sizes)
{
    double weight;
    if (!cell_samples_are_counted(samples))
        return has_sizes ? object->size : 1;
    return sample_weights_now(&samples->weights, object->object, object->size, &weight)
               ? estimate_whole(weight * (double) object->size)
               : 0;
}

/* Adds the births of all live objects to the rows. */
static void fill_births(const struct leak_tracker *tracker, const uint32_t *row_of_cell,
                        struct leak_rows *rows)
{
    bool has_sizes = heap_sums_have_sizes(&tracker->heap.cells.all);
    const struct cell_samples *samples = &tracker->heap.samples;
    struct object_cursor cursor = {0};
    struct live_object object;
    while (object_table_next(&tracker->heap.live, &cursor, &object)) {
        if (row_of_cell[object.class_id] == 0)
            continue;
        size_t sample = leak_tracker_sample_after(tracker, object.value);
        if (sample < tracker->sample_count)
            rows->rows[row_of_cell[object.class_id] - 1].births[sample] +=
                born_amount(samples, &object, has_sizes);
    }
}

static struct heap_key key_of_row(const struct heap_cells *cells, size_t cell, unsigned axes)
{
    struct heap_key key = cells->items[cell].key;
    key.class_id = (axes & HEAP_BY_CLASS) != 0 ? key.class_id : 0;
    key.site = (axes & HEAP_BY_SITE) != 0 ? key.site : 0;
    return key;
}

/* Makes rows of the cells with old objects, in the order of their keys. */
static void make_rows(const struct leak_tracker *tracker, const struct old_cell *old, unsigned axes,
                      const struct suppressions *suppressions, struct leak_rows *rows)
{
    const struct heap_cells *cells = &tracker->heap.cells;
    for (size_t i = leak_tracker_first_cell(tracker); i < cells->count; i++) {
        if (old[i].amount.objects == 0)
            continue;
        heap_amount_add(&rows->all, &old[i].amount);
        sample_sums_merge(&rows->all_samples, &old[i].samples);
        struct suppression *suppression =
            suppressions_find(suppressions, &tracker->heap.sites, &cells->items[i].key);
        if (suppression != NULL) {
            suppression->used++;
            heap_amount_add(&rows->suppressed, &old[i].amount);
            sample_sums_merge(&rows->suppressed_samples, &old[i].samples);
            continue;
        }
        struct leak_row *row = &rows->rows[rows->count++];
        row->key = key_of_row(cells, i, axes);
        row->old = old[i].amount;
        row->old_samples = old[i].samples;
    }
    leak_rows_merge(rows);
}

/* Adds to each row what all its cells had over time, also those of which nothing survived: where a
 * cache was filled is not where its entries are replaced.  `row_of_cell`: the number of each cell's
 * row, from 1. */
static void fill_rows(const struct leak_tracker *tracker, unsigned axes,
                      const struct suppressions *suppressions, uint32_t *row_of_cell,
                      struct leak_rows *rows)
{
    const struct heap_cells *cells = &tracker->heap.cells;
    for (size_t i = leak_tracker_first_cell(tracker); rows->count > 0 && i < cells->count; i++) {
        struct leak_row wanted = {.key = key_of_row(cells, i, axes)};
        struct leak_row *row = bsearch(&wanted, rows->rows, rows->count, sizeof wanted, by_key);
        if (row == NULL ||
            suppressions_find(suppressions, &tracker->heap.sites, &cells->items[i].key) != NULL)
            continue;
        fill_series(tracker, i, row);
        row->at_end.objects += cells->items[i].now.objects;
        row->at_end.bytes += cells->items[i].now.bytes;
        row_of_cell[i] = (uint32_t) (row - rows->rows) + 1;
    }
    fill_births(tracker, row_of_cell, rows);
    leak_growth_fill(tracker, row_of_cell, rows);
}

bool leak_rows_make(const struct leak_tracker *tracker, const struct leak_limits *limits,
                    unsigned axes, struct suppressions *suppressions, struct leak_rows *out)
{
    const struct heap_cells *cells = &tracker->heap.cells;
    struct old_cell *old = old_by_cell(tracker, limits);
    uint32_t *row_of_cell = calloc(cells->count + 1, sizeof *row_of_cell);
    size_t used = 0;
    *out = (struct leak_rows){.rows = NULL};
    for (size_t i = 0; old != NULL && i < cells->count; i++)
        used += old[i].amount.objects > 0;
    if (old != NULL && row_of_cell != NULL)
        out->rows = calloc(used + 1, sizeof *out->rows);
    if (out->rows != NULL) {
        make_rows(tracker, old, axes, suppressions, out);
        fill_rows(tracker, axes, suppressions, row_of_cell, out);
    }
    free(row_of_cell);
    free(old);
    if (out->rows == NULL)
        return false;
    for (size_t i = 0; i < out->count; i++)
        leak_growth_find(tracker, &out->rows[i]);
    qsort(out->rows, out->count, sizeof *out->rows, by_rank);
    return true;
}

void leak_rows_reset(struct leak_rows *rows)
{
    free(rows->rows);
    rows->rows = NULL;
}
