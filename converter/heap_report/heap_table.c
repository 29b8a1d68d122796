/* SPDX-License-Identifier: Apache-2.0 */
/* Two layouts of rows: of one moment, and of the change from one to another. */
#include "converter/heap_report/heap_table.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "converter/base/quantity.h"
#include "converter/heap_report/row_list.h"

/* ---- one moment ---- */

static bool has_ages(const struct row_list *list)
{
    return !list->report->allocated && !list->report->is_import;
}

static struct quantity mean_age(const struct heap_amount *amount)
{
    return quantity_of_ns(
        amount->objects > 0 ? 1000.0 * (double) amount->ages_us / (double) amount->objects : 0);
}

static void table_titles(const struct row_list *list)
{
    printf("%12s %14s %6s %9s  ", "objects", "bytes", "%", has_ages(list) ? "mean age" : "");
}

static void table_text(const struct row_list *list, const struct listed_row *row)
{
    const struct heap_amount *amount = &row->amount;
    const struct heap_amount *all = heap_report_total(list->report, list->moments[0]);
    printf("%12" PRIu64 " %14" PRIu64 " %6.1f %9s  ", amount->objects, amount->bytes,
           heap_report_share(amount->bytes, all->bytes),
           has_ages(list) ? mean_age(amount).text : "");
}

static void table_json(const struct row_list *list, const struct listed_row *row,
                       struct json_output *json)
{
    const struct heap_amount *amount = &row->amount;
    json_number(json, "objects", amount->objects);
    json_number(json, "bytes", amount->bytes);
    if (has_ages(list) && amount->objects > 0)
        json_number(json, "mean_age_ns", amount->ages_us / amount->objects * 1000);
}

static void table_csv(const struct listed_row *row)
{
    printf("%" PRIu64 ",%" PRIu64, row->amount.objects, row->amount.bytes);
}

static const struct row_layout table_layout = {.moments = {"moment"},
                                               .csv_titles = "objects,bytes",
                                               .put_titles = table_titles,
                                               .put_text = table_text,
                                               .put_json = table_json,
                                               .put_csv = table_csv};

bool heap_print_table(const struct heap_report *report, struct heap_snapshot *snapshot)
{
    struct row_list list = {.report = report, .layout = &table_layout, .moments = {snapshot}};
    if (!row_list_init(&list, snapshot->count))
        return false;
    heap_snapshot_fold(snapshot, report->axes);
    for (size_t i = 0; i < snapshot->count; i++) {
        const struct heap_row *row = &snapshot->rows[i];
        const struct heap_amount *amount = report->allocated ? &row->allocated : &row->live;
        if (amount->objects != 0 || amount->bytes != 0)
            list.rows[list.count++] = (struct listed_row){
                row->key, *amount, (int64_t) amount->objects, (int64_t) amount->bytes};
    }
    row_list_print(&list);
    row_list_reset(&list);
    return true;
}

/* ---- from one moment to another ---- */

static void changes_titles(const struct row_list *list)
{
    (void) list;
    printf("%13s %15s %14s  ", "objects", "bytes", "then");
}

static void changes_text(const struct row_list *list, const struct listed_row *row)
{
    (void) list;
    printf("%+13" PRId64 " %+15" PRId64 " %14" PRIu64 "  ", row->objects, row->bytes,
           row->amount.bytes);
}

static void changes_json(const struct row_list *list, const struct listed_row *row,
                         struct json_output *json)
{
    (void) list;
    json_real(json, "objects", (double) row->objects);
    json_real(json, "bytes", (double) row->bytes);
    json_number(json, "after_objects", row->amount.objects);
    json_number(json, "after_bytes", row->amount.bytes);
}

static void changes_csv(const struct listed_row *row)
{
    printf("%" PRId64 ",%" PRId64 ",%" PRIu64 ",%" PRIu64, row->objects, row->bytes,
           row->amount.objects, row->amount.bytes);
}

static const struct row_layout changes_layout = {.moments = {"before", "after"},
                                                 .csv_titles =
                                                     "objects,bytes,after_objects,after_bytes",
                                                 .put_titles = changes_titles,
                                                 .put_text = changes_text,
                                                 .put_json = changes_json,
                                                 .put_csv = changes_csv};

bool heap_print_changes(const struct heap_report *report, struct heap_snapshot *before,
                        struct heap_snapshot *after)
{
    struct row_list list = {
        .report = report, .layout = &changes_layout, .moments = {before, after}};
    struct heap_change *changes = NULL;
    size_t count = 0;
    heap_snapshot_fold(before, report->axes);
    heap_snapshot_fold(after, report->axes);
    if (!heap_snapshot_compare(before, after, report->allocated, &changes, &count))
        return false;
    bool ok = row_list_init(&list, count);
    for (size_t i = 0; ok && i < count; i++)
        list.rows[list.count++] = (struct listed_row){changes[i].key, changes[i].after,
                                                      changes[i].objects, changes[i].bytes};
    free(changes);
    if (ok)
        row_list_print(&list);
    row_list_reset(&list);
    return ok;
}
