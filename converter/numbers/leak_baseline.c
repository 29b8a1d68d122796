/* SPDX-License-Identifier: Apache-2.0 */
/* Compares leaks with those of another trace. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "converter/base/error_report.h"
#include "converter/base/table_text.h"
#include "converter/numbers/leak_report.h"
#include "format/json/json_output.h"

struct change {
    uint32_t row;
    double before, after; /* bytes; objects if sizes are unknown */
};

struct changes {
    struct change *items; /* NULL: out of memory */
    size_t count;
    enum measure_axis axis;
    const struct metric *metric;
};

static int by_size(const void *left, const void *right)
{
    const struct change *a = left, *b = right;
    double x = fabs(a->after - a->before), y = fabs(b->after - b->before);
    if (x != y)
        return x > y ? -1 : 1;
    return a->row < b->row ? -1 : a->row > b->row;
}

/* Rows of call sites are identified by their innermost frame; the callers are their parents. */
static struct changes find_changes(const struct leak_report *report)
{
    const struct measures *measures = report->measures;
    struct changes changes = {.axis = (report->axes & HEAP_BY_SITE) != 0 ? AXIS_SITE : AXIS_CLASS,
                              .metric = metric_by_name("leaked", 6)};
    size_t rows = measures_count(measures, changes.axis);
    changes.items = calloc(rows + 1, sizeof *changes.items);
    for (uint32_t row = 1; changes.items != NULL && row <= rows; row++) {
        double before =
            measures_get(measures, changes.axis, row, changes.metric, SIDE_BEFORE).median;
        double after = measures_get(measures, changes.axis, row, changes.metric, SIDE_AFTER).median;
        if (before != after)
            changes.items[changes.count++] = (struct change){row, before, after};
    }
    if (changes.count > 1)
        qsort(changes.items, changes.count, sizeof *changes.items, by_size);
    return changes;
}

void leak_print_changes(const struct leak_report *report)
{
    struct changes changes = find_changes(report);
    size_t shown = table_shown(report->top, changes.count);
    const struct metric *metric = changes.metric;
    double before = measures_get(report->measures, AXIS_PROGRAM, 1, metric, SIDE_BEFORE).median;
    double after = measures_get(report->measures, AXIS_PROGRAM, 1, metric, SIDE_AFTER).median;
    printf("\nsince     ");
    print_shown_text(report->baseline, stdout);
    printf(": %s survived, now %s (%s)\n", metric_quantity(metric, before).text,
           metric_quantity(metric, after).text, metric_change(metric, after - before).text);
    if (changes.count > 0)
        printf("\n%12s %12s %12s  %s\n", "before", "now", "change",
               changes.axis == AXIS_SITE ? "site" : "class");
    for (size_t i = 0; i < shown; i++) {
        const struct change *change = &changes.items[i];
        printf("%12s %12s %12s  ", metric_quantity(metric, change->before).text,
               metric_quantity(metric, change->after).text,
               metric_change(metric, change->after - change->before).text);
        stack_print(measures_name(report->measures, changes.axis, change->row, report->depth),
                    stdout);
        putchar('\n');
    }
    table_print_rest(shown, changes.count, axis_plurals[changes.axis]);
    free(changes.items);
}

void leak_put_changes(const struct leak_report *report, struct json_output *json)
{
    struct changes changes = find_changes(report);
    size_t shown = table_shown(report->top, changes.count);
    json_begin_object(json, "baseline");
    json_text(json, "trace", report->baseline);
    json_begin_array(json, "changes");
    for (size_t i = 0; i < shown; i++) {
        const struct change *change = &changes.items[i];
        json_begin_object(json, NULL);
        json_number(json, "before_bytes", (uint64_t) change->before);
        json_number(json, "bytes", (uint64_t) change->after);
        measures_put_name(report->measures, changes.axis, change->row, json);
        json_end_object(json);
    }
    json_end_array(json);
    json_end_object(json);
    free(changes.items);
}
