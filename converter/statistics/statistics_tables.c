/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of statistics: which rows they have, their order and their names. */
#include <inttypes.h>
#include <stdlib.h>

#include "converter/cli/error_report.h"
#include "converter/cli/report_table.h"
#include "converter/cli/table_text.h"
#include "converter/statistics/statistics_columns.h"
#include "converter/statistics/statistics_report.h"

/* ---- names ---- */

static void print_class_name(const struct statistics *statistics, uint32_t id)
{
    print_shown(trace_class_of(statistics->names, id)->name, stdout);
}

static void print_thread_name(const struct statistics *statistics, uint32_t id)
{
    const struct trace_thread *thread = trace_thread_of(statistics->names, id);
    printf("%" PRIu64 " ", id == 0 ? 0 : thread->number);
    if (id == 0)
        printf("(the VM, or not known)");
    else
        print_shown(thread->name, stdout);
}

static void print_method_name(const struct statistics *statistics, uint32_t id)
{
    const struct trace_method *method = trace_method_of(statistics->names, id);
    print_class_name(statistics, method->class_id);
    putchar('.');
    print_shown(method->name, stdout);
    print_shown(method->descriptor, stdout);
}

static void put_class_name(struct json_output *json, const struct statistics *statistics,
                           uint32_t id)
{
    json_bytes(json, "name", trace_class_of(statistics->names, id)->name);
    json_number(json, "loader", trace_class_of(statistics->names, id)->loader);
}

void statistics_put_thread_name(struct json_output *json, const struct statistics *statistics,
                                uint32_t id)
{
    const struct trace_thread *names = trace_thread_of(statistics->names, id);
    json_number(json, "thread", id == 0 ? 0 : names->number);
    json_bytes(json, "name", names->name);
}

static void put_thread_name(struct json_output *json, const struct statistics *statistics,
                            uint32_t id)
{
    const struct trace_thread *names = trace_thread_of(statistics->names, id);
    statistics_put_thread_name(json, statistics, id);
    if (statistics->weights.interval_bytes != 0)
        return;
    json_bool(json, "daemon", (names->flags & TRACE_THREAD_DAEMON) != 0);
    json_bool(json, "virtual", (names->flags & TRACE_THREAD_VIRTUAL) != 0);
}

static void put_method_name(struct json_output *json, const struct statistics *statistics,
                            uint32_t id)
{
    const struct trace_method *method = trace_method_of(statistics->names, id);
    json_bytes(json, "class", trace_class_of(statistics->names, method->class_id)->name);
    json_bytes(json, "method", method->name);
    json_bytes(json, "descriptor", method->descriptor);
}

/* ---- which rows, and their order ---- */

static int compare_ranks(const void *left, const void *right)
{
    const struct ranked_id *a = left;
    const struct ranked_id *b = right;
    if (a->key != b->key)
        return a->key > b->key ? -1 : 1;
    if (a->calls != b->calls)
        return a->calls > b->calls ? -1 : 1;
    return a->id < b->id ? -1 : a->id > b->id;
}

static uint64_t sampled_key(enum statistics_order order, const struct sampled_totals *totals)
{
    struct sample_sums live = sampled_totals_live(totals);
    double key = order == ORDER_LIVE    ? live.bytes
                 : order == ORDER_BYTES ? estimate_bytes(&totals->allocated).value
                                        : estimate_objects(&totals->allocated).value;
    return key < 1e18 ? (uint64_t) key : UINT64_C(1000000000000000000);
}

static bool class_key(const struct statistics_report *report, const void *entry,
                      struct ranked_id *row)
{
    const struct class_totals *class = entry;
    const struct object_totals *totals = &class->objects;
    if (report->statistics->weights.interval_bytes != 0) {
        row->key = sampled_key(report->order, &class->sampled);
        if (class->is_known)
            return true;
        return object_totals_have_objects(totals) || totals->freed_objects > 0;
    }
    bool has_sizes = object_totals_have_sizes(&report->statistics->all.objects);
    if (report->order == ORDER_LIVE)
        row->key = has_sizes ? live_bytes_of(totals) : live_objects_of(totals);
    else if (report->order == ORDER_BYTES && has_sizes)
        row->key = totals->allocated_bytes;
    else
        row->key = totals->allocated_objects;
    return object_totals_have_objects(totals) || totals->freed_objects > 0;
}

/* An estimate of a hostile trace may be more than any number has room for. */
#define BEYOND_ALL 18446744073709551616.0

static bool thread_key(const struct statistics_report *report, const void *entry,
                       struct ranked_id *row)
{
    const struct thread_totals *totals = entry;
    row->key =
        report->order == ORDER_BYTES && object_totals_have_sizes(&report->statistics->all.objects)
            ? totals->allocated_bytes
            : totals->allocated_objects;
    if (report->statistics->weights.interval_bytes != 0)
        row->key =
            totals->sampled.bytes < BEYOND_ALL ? (uint64_t) totals->sampled.bytes : UINT64_MAX;
    if (!object_totals_have_objects(&report->statistics->all.objects))
        row->key = totals->calls;
    return totals->is_used;
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

/* The id_table of each axis, the key of its rows (false: the row is not shown), and their names. */
static const struct {
    size_t table;
    bool (*key_of)(const struct statistics_report *report, const void *entry,
                   struct ranked_id *row);
    void (*print_name)(const struct statistics *statistics, uint32_t id);
    void (*put_name)(struct json_output *json, const struct statistics *statistics, uint32_t id);
} axes[AXIS_COUNT] = {
    [AXIS_CLASS] = {offsetof(struct statistics, classes), class_key, print_class_name,
                    put_class_name},
    [AXIS_THREAD] = {offsetof(struct statistics, threads), thread_key, print_thread_name,
                     put_thread_name},
    [AXIS_METHOD] = {offsetof(struct statistics, methods), method_key, print_method_name,
                     put_method_name},
};

static const struct id_table *totals_by(const struct statistics *statistics, enum measure_axis axis)
{
    return (const void *) ((const char *) statistics + axes[axis].table);
}

bool statistics_rank(const struct statistics_report *report, enum measure_axis axis,
                     struct ranking *ranking)
{
    const struct id_table *table = totals_by(report->statistics, axis);
    const void *entry;
    size_t most = 1;
    for (uint32_t i = 0; id_table_next(table, &i); i++)
        most++;
    *ranking = (struct ranking){.rows = calloc(most, sizeof *ranking->rows)};
    if (ranking->rows == NULL)
        return false;
    for (uint32_t i = 0; (entry = id_table_next(table, &i)) != NULL; i++) {
        struct ranked_id *row = &ranking->rows[ranking->count];
        *row = (struct ranked_id){.id = i};
        ranking->count += axes[axis].key_of(report, entry, row);
    }
    if (ranking->count > 0)
        qsort(ranking->rows, ranking->count, sizeof *ranking->rows, compare_ranks);
    ranking->shown = table_shown(report->top, ranking->count);
    return true;
}

/* ---- printing ---- */

static struct statistics_row statistics_ranked_row(const struct statistics *statistics,
                                                   enum measure_axis axis,
                                                   const struct ranked_id *rank)
{
    return statistics_row_of(statistics, axis, rank->id,
                             id_table_find(totals_by(statistics, axis), rank->id));
}

bool statistics_print_table(const struct statistics_report *report, enum measure_axis axis)
{
    const struct report_table table = statistics_text_columns_of(report->statistics, axis);
    struct ranking ranking;
    if (!statistics_rank(report, axis, &ranking))
        return false;
    if (ranking.count > 0) {
        putchar('\n');
        report_table_print_head(&table, stdout);
        printf(" %s\n", axis_names[axis]);
    }
    for (size_t i = 0; i < ranking.shown; i++) {
        const struct statistics_row row =
            statistics_ranked_row(report->statistics, axis, &ranking.rows[i]);
        report_table_print_row(&table, &row, stdout);
        putchar(' ');
        axes[axis].print_name(row.statistics, row.id);
        putchar('\n');
    }
    table_print_rest(ranking.shown, ranking.count, axis_plurals[axis]);
    free(ranking.rows);
    return true;
}

bool statistics_put_table(const struct statistics_report *report, enum measure_axis axis,
                          struct json_output *json)
{
    const struct report_table table = statistics_columns_of(report->statistics, axis);
    struct ranking ranking;
    if (!statistics_rank(report, axis, &ranking))
        return false;
    json_begin_array(json, axis_plurals[axis]);
    for (size_t i = 0; i < ranking.shown; i++) {
        const struct statistics_row row =
            statistics_ranked_row(report->statistics, axis, &ranking.rows[i]);
        json_begin_object(json, NULL);
        axes[axis].put_name(json, row.statistics, row.id);
        report_table_put_row(&table, &row, json);
        json_end_object(json);
    }
    json_end_array(json);
    free(ranking.rows);
    return true;
}

void statistics_put_page_heads(const struct statistics *statistics, enum measure_axis axis,
                               const struct ranking *ranking, const char *key,
                               struct json_output *json)
{
    const struct report_table table = statistics_columns_of(statistics, axis);
    json_begin_array(json, key);
    if (ranking->count > 0) {
        const struct statistics_row row = statistics_ranked_row(statistics, axis, ranking->rows);
        report_table_put_page_heads(&table, &row, json);
    }
    json_end_array(json);
}

void statistics_put_page_row(const struct statistics *statistics, enum measure_axis axis,
                             const struct ranked_id *rank, bool with_keys, struct json_output *json)
{
    const struct report_table table = statistics_columns_of(statistics, axis);
    const struct statistics_row row = statistics_ranked_row(statistics, axis, rank);
    report_table_put_page_row(&table, &row, with_keys, json);
}

void statistics_put_totals(const struct statistics *statistics, struct json_output *json)
{
    const struct report_table table = statistics_columns_of(statistics, AXIS_PROGRAM);
    const struct statistics_row all =
        statistics_row_of(statistics, AXIS_PROGRAM, 0, &statistics->all);
    report_table_put_row(&table, &all, json);
}
