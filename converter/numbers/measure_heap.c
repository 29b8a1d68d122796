/* SPDX-License-Identifier: Apache-2.0 */
/* Adds the rows of a heap snapshot to measures, under the names that gates use. */
#include "converter/numbers/measure_heap.h"

#include <stdlib.h>

static void add(struct measures *measures, enum measure_axis axis, uint32_t row,
                const struct heap_amount *live)
{
    uint64_t *sums = measures_sums(measures, axis, row, measures->run_count);
    sums[SUM_ALIVE_BYTES] += live->bytes;
    sums[SUM_ALIVE_OBJECTS] += live->objects;
}

bool measure_heap(struct measures *measures, const struct heap_sites *sites,
                  const struct heap_snapshot *snapshot, enum measure_side side)
{
    uint32_t *site_rows = measure_sites(measures, sites);
    bool ok = site_rows != NULL;
    for (size_t i = 0; ok && i < snapshot->count; i++) {
        const struct heap_row *row = &snapshot->rows[i];
        uint32_t class_row = measure_class_row(measures, sites->names, row->key.class_id);
        uint32_t thread = measure_thread_row(measures, sites->names, row->key.thread_id);
        ok = class_row != 0 && thread != 0;
        if (!ok)
            break;
        add(measures, AXIS_PROGRAM, 1, &row->live);
        add(measures, AXIS_CLASS, class_row, &row->live);
        add(measures, AXIS_THREAD, thread, &row->live);
        add(measures, AXIS_SITE, site_rows[row->key.site], &row->live);
    }
    free(site_rows);
    if (ok)
        measures->runs[measures->run_count++] = (struct measure_run){.side = side};
    return ok;
}
