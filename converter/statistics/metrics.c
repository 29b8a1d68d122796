/* SPDX-License-Identifier: Apache-2.0 */
/* The metrics of what no table of `stats` has a column for, and the list of all. */
#include "converter/statistics/metrics.h"

#include <string.h>

#include "converter/statistics/statistics_columns.h"

const char *const axis_names[AXIS_COUNT] = {"program", "class", "site", "thread", "method"};
const char *const axis_plurals[AXIS_COUNT] = {"programs", "classes", "sites", "threads", "methods"};

static const struct metric without_column[] = {
    {"alive_at_peak", "at peak", AMOUNT_BYTES, SUM_PEAK_BYTES, METRICS_OF_TRACES, METRIC_OF_OBJECTS,
     false, METRIC_LIVES, NULL},
    {"alive_at_peak_objects", "objects at peak", AMOUNT_OBJECTS, SUM_PEAK_OBJECTS,
     METRICS_OF_TRACES, METRIC_OF_OBJECTS, false, METRIC_LIVES, NULL},
    {"collections", "collections", AMOUNT_OBJECTS, SUM_COLLECTIONS, METRICS_OF_TRACES,
     METRIC_OF_PROGRAM, false, TRACE_KIND_BIT(EVENT_OBJECT_FREE), NULL},
    {"duration", "duration", AMOUNT_NS, SUM_DURATION_NS, METRICS_OF_TRACES, METRIC_OF_PROGRAM, true,
     0, NULL},
    {"leaked", "leaked", AMOUNT_BYTES, SUM_LEAKED_BYTES, METRICS_OF_LEAKS, METRIC_OF_LEAKS, true,
     METRIC_LIVES, NULL},
    {"leaked_objects", "leaked objects", AMOUNT_OBJECTS, SUM_LEAKED_OBJECTS, METRICS_OF_LEAKS,
     METRIC_OF_LEAKS, true, METRIC_LIVES, NULL},
    {"growth", "growth", AMOUNT_BYTES, SUM_GROWTH_BYTES, METRICS_OF_LEAKS, METRIC_OF_LEAKS, true,
     METRIC_LIVES, NULL},
    {"alive", "alive", AMOUNT_BYTES, SUM_ALIVE_BYTES, METRICS_OF_HEAPS, METRIC_OF_OBJECTS, true,
     METRIC_LIVES, NULL},
    {"alive_objects", "alive objects", AMOUNT_OBJECTS, SUM_ALIVE_OBJECTS, METRICS_OF_HEAPS,
     METRIC_OF_OBJECTS, true, METRIC_LIVES, NULL},
};

/* Keeps the order of sums. */
static void metric_list_add(struct metric_list *list, const struct metric *metric)
{
    size_t at = list->count;
    if (at == METRICS_MOST)
        return;
    for (; at > 0 && list->items[at - 1]->sum > metric->sum; at--)
        list->items[at] = list->items[at - 1];
    list->items[at] = metric;
    list->count++;
}

void metric_list_init(struct metric_list *list)
{
    list->count = 0;
    for (unsigned axis = AXIS_CLASS; axis < AXIS_COUNT; axis++) {
        size_t count;
        const struct report_column *columns = statistics_columns((enum measure_axis) axis, &count);
        for (size_t i = 0; i < count; i++)
            if (columns[i].metric != NULL)
                metric_list_add(list, columns[i].metric);
    }
    for (size_t i = 0; i < sizeof without_column / sizeof without_column[0]; i++)
        metric_list_add(list, &without_column[i]);
}

const struct metric *metric_by_name(const char *name, size_t length)
{
    struct metric_list list;
    metric_list_init(&list);
    for (size_t i = 0; i < list.count; i++)
        if (strlen(list.items[i]->name) == length && memcmp(list.items[i]->name, name, length) == 0)
            return list.items[i];
    return NULL;
}

struct amount metric_amount(const struct metric *metric, const uint64_t sums[SUM_COUNT])
{
    if (metric->value == NULL)
        return amount_exact(sums[metric->sum], metric->unit);
    struct statistics_row row = {.statistics = NULL};
    memcpy(row.sums, sums, sizeof row.sums);
    return metric->value(&row);
}
