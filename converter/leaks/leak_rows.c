/* SPDX-License-Identifier: Apache-2.0 */
/* Old objects added up by cell, cells by the axes that are asked for. */
#include "converter/leaks/leak_rows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LEAST_POINTS ((size_t) 4)

static void add(struct heap_amount *sum, const struct heap_amount *amount)
{
    sum->objects += amount->objects;
    sum->bytes += amount->bytes;
    sum->ages_us += amount->ages_us;
}

/* By cell of the tracker.  NULL: out of memory. */
static struct heap_amount *old_by_cell(const struct leak_tracker *tracker,
                                       const struct leak_limits *limits)
{
    const struct object_table *live = &tracker->heap.live;
    struct heap_amount *old = calloc(tracker->heap.cells.count + 1, sizeof *old);
    uint64_t now_us = tracker->heap.now_ns / 1000;
    for (size_t i = 0; old != NULL && i <= live->mask; i++) {
        struct live_object object;
        if (live->slots[i].object == 0 || !object_table_find(live, live->slots[i].object, &object))
            continue;
        uint64_t age_us = now_us > object.value ? now_us - object.value : 0;
        if (age_us >= limits->age_ns / 1000 &&
            leak_tracker_survived(tracker, object.value) >= limits->survived)
            add(&old[object.class_id], &(struct heap_amount){1, object.size, age_us});
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

static int by_rank(const void *left, const void *right)
{
    const struct leak_row *a = left, *b = right;
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

static void fit_line(const struct leak_tracker *tracker, struct leak_row *row)
{
    size_t count = tracker->sample_count / 2;
    count = count < LEAST_POINTS ? LEAST_POINTS : count;
    count = count > tracker->sample_count ? tracker->sample_count : count;
    size_t first = tracker->sample_count - count;
    double mean_x = 0, mean_y = 0, xx = 0, xy = 0, yy = 0;
    for (size_t i = first; i < tracker->sample_count; i++) {
        mean_x += (double) tracker->samples[i].collection / (double) count;
        mean_y += (double) row->series[i] / (double) count;
    }
    for (size_t i = first; i < tracker->sample_count; i++) {
        double x = (double) tracker->samples[i].collection - mean_x;
        double y = (double) row->series[i] - mean_y;
        xx += x * x;
        xy += x * y;
        yy += y * y;
    }
    if (count >= 3 && xx > 0) {
        row->slope = xy / xx;
        row->fit = yy > 0 ? xy * xy / (xx * yy) : 1;
    }
    row->rank = row->slope > 0 ? row->slope * row->fit : 0;
}

/* Rows of one key become one. */
static void merge(struct leak_rows *rows)
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
        add(&rows->rows[last].old, &rows->rows[i].old);
        for (size_t k = 0; k < LEAK_SAMPLES; k++)
            rows->rows[last].series[k] += rows->rows[i].series[k];
    }
    rows->count = last + 1;
}

bool leak_rows_make(const struct leak_tracker *tracker, const struct leak_limits *limits,
                    unsigned axes, struct suppressions *suppressions, struct leak_rows *out)
{
    const struct heap_cells *cells = &tracker->heap.cells;
    struct heap_amount *old = old_by_cell(tracker, limits);
    size_t used = 0;
    *out = (struct leak_rows){.rows = NULL};
    for (size_t i = 0; old != NULL && i < cells->count; i++)
        used += old[i].objects > 0;
    if (old != NULL)
        out->rows = calloc(used + 1, sizeof *out->rows);
    for (size_t i = 0; out->rows != NULL && i < cells->count; i++) {
        if (old[i].objects == 0)
            continue;
        add(&out->all, &old[i]);
        if (suppressions_have(suppressions, &tracker->heap.sites, &cells->items[i].key)) {
            add(&out->suppressed, &old[i]);
            continue;
        }
        struct leak_row *row = &out->rows[out->count++];
        row->key = cells->items[i].key;
        row->key.class_id = (axes & HEAP_BY_CLASS) != 0 ? row->key.class_id : 0;
        row->key.site = (axes & HEAP_BY_SITE) != 0 ? row->key.site : 0;
        row->old = old[i];
        fill_series(tracker, i, row);
    }
    free(old);
    if (out->rows == NULL)
        return false;
    merge(out);
    for (size_t i = 0; i < out->count; i++)
        fit_line(tracker, &out->rows[i]);
    qsort(out->rows, out->count, sizeof *out->rows, by_rank);
    return true;
}

void leak_rows_reset(struct leak_rows *rows)
{
    free(rows->rows);
    rows->rows = NULL;
}

/* ---- for gates ---- */

static void measure_row(uint64_t *sums, const struct leak_row *row)
{
    sums[SUM_LEAKED_BYTES] += row->old.bytes;
    sums[SUM_LEAKED_OBJECTS] += row->old.objects;
    sums[SUM_GROWTH_BYTES] += row->slope > 0 ? (uint64_t) llround(row->slope) : 0;
}

bool leak_rows_measure(const struct leak_rows *rows, const struct leak_tracker *tracker,
                       enum measure_side side, struct measures *measures)
{
    const struct heap_sites *sites = &tracker->heap.sites;
    uint32_t *site_rows = measure_sites(measures, sites);
    bool ok = site_rows != NULL;
    for (size_t i = 0; ok && i < rows->count; i++) {
        const struct leak_row *row = &rows->rows[i];
        uint32_t class_row = measure_class_row(measures, sites->names, row->key.class_id);
        ok = class_row != 0;
        if (!ok)
            break;
        measure_row(measures_sums(measures, AXIS_PROGRAM, 1, measures->run_count), row);
        measure_row(measures_sums(measures, AXIS_CLASS, class_row, measures->run_count), row);
        measure_row(
            measures_sums(measures, AXIS_SITE, site_rows[row->key.site], measures->run_count), row);
    }
    free(site_rows);
    if (ok)
        measures->runs[measures->run_count++] = (struct measure_run){.side = side};
    return ok;
}
