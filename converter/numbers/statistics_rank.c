/* SPDX-License-Identifier: Apache-2.0 */
/* Selects and sorts the rows of a statistics table. */
#include <stdlib.h>

#include "converter/base/table_text.h"
#include "converter/numbers/statistics_report.h"

static int compare(const void *left, const void *right)
{
    const struct ranked_id *a = left;
    const struct ranked_id *b = right;
    if (a->key != b->key)
        return a->key > b->key ? -1 : 1;
    if (a->calls != b->calls)
        return a->calls > b->calls ? -1 : 1;
    return a->id < b->id ? -1 : a->id > b->id;
}

/* Computes the key of a row.  Returns false if the row is not shown. */
typedef bool (*key_function)(const struct statistics_report *report, const void *entry,
                             struct ranked_id *row);

static bool rank(const struct statistics_report *report, const struct id_table *table,
                 key_function key_of, struct ranking *ranking)
{
    size_t most = 0;
    for (uint32_t i = 0; id_table_next(table, &i); i++)
        most++;
    *ranking = (struct ranking){.rows = calloc(most + 1, sizeof(struct ranked_id))};
    if (ranking->rows == NULL)
        return false;
    for (uint32_t i = 0; id_table_next(table, &i); i++) {
        const void *entry = id_table_find(table, i);
        struct ranked_id row = {.id = i};
        if (entry != NULL && key_of(report, entry, &row))
            ranking->rows[ranking->count++] = row;
    }
    if (ranking->count > 0)
        qsort(ranking->rows, ranking->count, sizeof *ranking->rows, compare);
    ranking->shown = table_shown(report->top, ranking->count);
    return true;
}

static uint64_t sampled_key(enum statistics_order order, const struct sampled_totals *totals)
{
    struct sample_sums live = sampled_totals_live(totals);
    double key = order == ORDER_LIVE    ? live.bytes
                 : order == ORDER_BYTES ? totals->allocated.bytes
                                        : totals->allocated.objects;
    return key < 1e18 ? (uint64_t) key : UINT64_C(1000000000000000000);
}

static bool class_key(const struct statistics_report *report, const void *entry,
                      struct ranked_id *row)
{
    const struct class_totals *class = entry;
    const struct object_totals *totals = &class->objects;
    if (report->statistics->sample_interval_bytes != 0) {
        row->key = sampled_key(report->order, &class->sampled);
        return totals->allocated_objects > 0 || totals->freed_objects > 0;
    }
    bool has_sizes = report->statistics->all.objects.allocated_bytes > 0;
    if (report->order == ORDER_LIVE)
        row->key = has_sizes ? live_bytes_of(totals) : live_objects_of(totals);
    else if (report->order == ORDER_BYTES && has_sizes)
        row->key = totals->allocated_bytes;
    else
        row->key = totals->allocated_objects;
    return totals->allocated_objects > 0 || totals->freed_objects > 0;
}

bool rank_classes(const struct statistics_report *report, struct ranking *ranking)
{
    return rank(report, &report->statistics->classes, class_key, ranking);
}

static bool thread_key(const struct statistics_report *report, const void *entry,
                       struct ranked_id *row)
{
    const struct thread_totals *totals = entry;
    row->key = report->order == ORDER_BYTES && report->statistics->all.objects.allocated_bytes > 0
                   ? totals->allocated_bytes
                   : totals->allocated_objects;
    if (report->statistics->sample_interval_bytes != 0)
        row->key = (uint64_t) totals->sampled.bytes;
    if (report->statistics->all.objects.allocated_objects == 0)
        row->key = totals->calls;
    return totals->is_used;
}

bool rank_threads(const struct statistics_report *report, struct ranking *ranking)
{
    return rank(report, &report->statistics->threads, thread_key, ranking);
}

static bool method_key(const struct statistics_report *report, const void *entry,
                       struct ranked_id *row)
{
    (void) report;
    const struct method_totals *totals = entry;
    row->key = totals->exclusive_ns;
    row->calls = totals->calls;
    return totals->calls > 0;
}

bool rank_methods(const struct statistics_report *report, struct ranking *ranking)
{
    return rank(report, &report->statistics->methods, method_key, ranking);
}
