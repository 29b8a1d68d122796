/* SPDX-License-Identifier: Apache-2.0 */
/* Ranks rows by their change. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "converter/base/table_text.h"
#include "converter/numbers/compare_report.h"

static int by_change(const void *left, const void *right)
{
    const struct compare_row *a = left, *b = right;
    if (fabs(a->change) != fabs(b->change))
        return fabs(a->change) > fabs(b->change) ? -1 : 1;
    if (a->other_change != b->other_change)
        return a->other_change > b->other_change ? -1 : 1;
    if (a->time_change != b->time_change)
        return a->time_change > b->time_change ? -1 : 1;
    return a->row < b->row ? -1 : a->row > b->row;
}

static void find_other_changes(const struct measures *measures, enum measure_axis axis,
                               struct compare_row *row)
{
    for (size_t i = 0; i < metric_count; i++) {
        const struct metric *metric = &metrics[i];
        if (metric->group != METRICS_OF_TRACES || !measures_have(measures, metric))
            continue;
        double change = fabs(measures_get(measures, axis, row->row, metric, SIDE_AFTER).median -
                             measures_get(measures, axis, row->row, metric, SIDE_BEFORE).median);
        double *most = metric->unit == UNIT_TIME ? &row->time_change : &row->other_change;
        *most = change > *most ? change : *most;
    }
}

bool compare_rank(const struct compare_report *report, enum measure_axis axis,
                  const struct metric *metric, struct compare_ranking *ranking)
{
    const struct measures *measures = report->measures;
    size_t count = measures_count(measures, axis);
    *ranking = (struct compare_ranking){.rows = calloc(count + 1, sizeof *ranking->rows)};
    if (ranking->rows == NULL)
        return false;
    for (uint32_t row = 1; row <= count; row++) {
        struct compare_row *out = &ranking->rows[ranking->count];
        *out =
            (struct compare_row){.row = row,
                                 .before = measures_get(measures, axis, row, metric, SIDE_BEFORE),
                                 .after = measures_get(measures, axis, row, metric, SIDE_AFTER)};
        out->change = out->after.median - out->before.median;
        find_other_changes(measures, axis, out);
        ranking->count += out->change != 0 || out->other_change != 0 ||
                          (report->with_times && out->time_change != 0);
    }
    qsort(ranking->rows, ranking->count, sizeof *ranking->rows, by_change);
    ranking->shown = table_shown(report->top, ranking->count);
    return true;
}

bool compare_has(const struct compare_report *report, const struct metric *metric)
{
    for (size_t run = 0;
         measures_have(report->measures, metric) && run < report->measures->run_count; run++)
        if (measures_sums(report->measures, AXIS_PROGRAM, 1, run)[metric->sum] != 0)
            return true;
    return false;
}

static const struct metric *first_there(const struct compare_report *report,
                                        const char *const *names)
{
    const struct metric *metric = NULL;
    for (; *names != NULL; names++) {
        metric = metric_by_name(*names, strlen(*names));
        if (compare_has(report, metric))
            return metric;
    }
    return metric;
}

const struct metric *compare_metric(const struct compare_report *report, enum measure_axis axis)
{
    static const char *const of_objects[] = {"allocated", "allocated_objects", "calls", NULL};
    static const char *const of_methods[] = {"own_time", "calls", NULL};
    if (report->sort != NULL)
        return report->sort;
    return first_there(report, axis == AXIS_METHOD ? of_methods : of_objects);
}
