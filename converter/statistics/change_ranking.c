/* SPDX-License-Identifier: Apache-2.0 */
/* Ranks rows by their change. */
#include "converter/statistics/change_ranking.h"

#include <math.h>
#include <stdlib.h>

#include "converter/cli/table_text.h"

static double change_of(const struct change_row *row)
{
    return measured_pair_change(&row->pair);
}

static int by_change(const void *left, const void *right)
{
    const struct change_row *a = left, *b = right;
    if (fabs(change_of(a)) != fabs(change_of(b)))
        return fabs(change_of(a)) > fabs(change_of(b)) ? -1 : 1;
    if (a->other_change != b->other_change)
        return a->other_change > b->other_change ? -1 : 1;
    if (a->time_change != b->time_change)
        return a->time_change > b->time_change ? -1 : 1;
    return a->row < b->row ? -1 : a->row > b->row;
}

static void find_other_changes(const struct measures *measures, enum measure_axis axis,
                               struct change_row *row)
{
    for (size_t i = 0; i < measures->metrics.count; i++) {
        const struct metric *metric = measures->metrics.items[i];
        if (metric->group != METRICS_OF_TRACES || !measures_have(measures, metric))
            continue;
        const struct measured_pair pair = measures_pair(measures, axis, row->row, metric);
        double change = fabs(measured_pair_change(&pair));
        double *most = metric->unit == AMOUNT_NS ? &row->time_change : &row->other_change;
        *most = change > *most ? change : *most;
    }
}

bool rank_changes(const struct measures *measures, enum measure_axis axis,
                  const struct metric *metric, bool with_times, uint64_t top,
                  struct change_ranking *ranking)
{
    size_t count = measures_count(measures, axis);
    *ranking = (struct change_ranking){.rows = calloc(count + 1, sizeof *ranking->rows)};
    if (ranking->rows == NULL)
        return false;
    for (uint32_t row = 1; row <= count; row++) {
        struct change_row *out = &ranking->rows[ranking->count];
        *out = (struct change_row){.row = row, .pair = measures_pair(measures, axis, row, metric)};
        find_other_changes(measures, axis, out);
        ranking->count +=
            change_of(out) != 0 || out->other_change != 0 || (with_times && out->time_change != 0);
    }
    qsort(ranking->rows, ranking->count, sizeof *ranking->rows, by_change);
    ranking->shown = table_shown(top, ranking->count);
    return true;
}
