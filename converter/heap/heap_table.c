/* SPDX-License-Identifier: Apache-2.0 */
/* Two row layouts: one moment, and the difference between two moments. */

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "converter/base/csv_output.h"
#include "converter/base/error_report.h"
#include "converter/base/estimate_text.h"
#include "converter/base/quantity.h"
#include "converter/base/table_text.h"
#include "converter/heap/heap_report.h"

#define ROW_LIST_MOMENTS 2u

struct listed_row {
    struct heap_key key;
    struct heap_amount amount; /* at the last moment */
    int64_t objects, bytes;    /* the difference, or else the same as `amount` */
    uint64_t samples;          /* of a sampled trace, as are the estimates of these */
    struct estimate objects_estimate, bytes_estimate;
};

struct row_list {
    const struct heap_report *report;
    const struct row_layout *layout;
    const struct heap_snapshot *moments[ROW_LIST_MOMENTS]; /* as many as the layout names */
    struct listed_row *rows;                               /* owned by the list */
    size_t count;
};

/* Formatting of the numbers in front of a row's names. */
struct row_layout {
    const char *moments[ROW_LIST_MOMENTS]; /* their keys in JSON; NULL: none */
    const char *csv_titles;
    void (*put_titles)(const struct row_list *list); /* titles of the text form */
    void (*put_text)(const struct row_list *list, const struct listed_row *row);
    void (*put_json)(const struct row_list *list, const struct listed_row *row,
                     struct json_output *json);
    void (*put_csv)(const struct listed_row *row);
};

/* Columns: one per axis, with a function for each output form. */

/* ---- classes ---- */

static struct step_bytes class_of(const struct heap_report *report, const struct heap_key *key)
{
    return trace_class_of(report->sites->names, key->class_id)->name;
}

static void class_as_text(const struct heap_report *report, const struct heap_key *key)
{
    print_shown(class_of(report, key), stdout);
}

static void class_as_json(const struct heap_report *report, const struct heap_key *key,
                          struct json_output *json)
{
    json_bytes(json, "class", class_of(report, key));
}

static void class_as_csv(const struct heap_report *report, const struct heap_key *key)
{
    printf(",\"");
    csv_put_shown(class_of(report, key), stdout);
    putchar('"');
}

/* ---- sites ---- */

static struct stack_text site_of(const struct heap_report *report, const struct heap_key *key)
{
    return heap_site_stack(report->sites, key->site, report->depth);
}

static void site_as_text(const struct heap_report *report, const struct heap_key *key)
{
    stack_print(site_of(report, key), stdout);
}

static void site_as_json(const struct heap_report *report, const struct heap_key *key,
                         struct json_output *json)
{
    stack_put_json(site_of(report, key), json, "site");
}

static void site_as_csv(const struct heap_report *report, const struct heap_key *key)
{
    putchar(',');
    stack_put_csv(site_of(report, key), stdout);
}

/* ---- threads ---- */

static const struct trace_thread *thread_of(const struct heap_report *report,
                                            const struct heap_key *key)
{
    return trace_thread_of(report->sites->names, key->thread_id);
}

static void thread_as_text(const struct heap_report *report, const struct heap_key *key)
{
    const struct trace_thread *thread = thread_of(report, key);
    printf("%" PRIu64 "%s", thread->number, thread->name.length > 0 ? " " : "");
    print_shown(thread->name, stdout);
}

static void thread_as_json(const struct heap_report *report, const struct heap_key *key,
                           struct json_output *json)
{
    json_number(json, "thread", thread_of(report, key)->number);
}

static void thread_as_csv(const struct heap_report *report, const struct heap_key *key)
{
    printf(",%" PRIu64, thread_of(report, key)->number);
}

/* ---- columns ---- */

static const struct column {
    enum heap_axis axis;
    const char *name;
    const char *plural;
    void (*as_text)(const struct heap_report *report, const struct heap_key *key);
    void (*as_json)(const struct heap_report *report, const struct heap_key *key,
                    struct json_output *json);
    void (*as_csv)(const struct heap_report *report, const struct heap_key *key);
} columns[] = {
    {HEAP_BY_CLASS, "class", "classes", class_as_text, class_as_json, class_as_csv},
    {HEAP_BY_SITE, "site", "sites", site_as_text, site_as_json, site_as_csv},
    {HEAP_BY_THREAD, "thread", "threads", thread_as_text, thread_as_json, thread_as_csv},
};

#define COLUMNS_END (columns + sizeof columns / sizeof columns[0])

static bool is_wanted(const struct heap_report *report, const struct column *column)
{
    return (report->axes & (unsigned) column->axis) != 0;
}

/* Prints "class, site" and a row's names, with as many frames as the report requests. */
static void row_titles_put_text(const struct heap_report *report)
{
    const char *separator = "";
    for (const struct column *column = columns; column < COLUMNS_END; column++) {
        if (!is_wanted(report, column))
            continue;
        printf("%s%s", separator, column->name);
        separator = ", ";
    }
}

static void row_names_put_text(const struct heap_report *report, const struct heap_key *key)
{
    const char *separator = "";
    for (const struct column *column = columns; column < COLUMNS_END; column++) {
        if (!is_wanted(report, column))
            continue;
        printf("%s", separator);
        column->as_text(report, key);
        separator = ", ";
    }
}

/* Returns the noun for rows: "classes", or "rows" if there are several axes. */
static const char *row_names_plural(const struct heap_report *report)
{
    for (const struct column *column = columns; column < COLUMNS_END; column++)
        if (report->axes == (unsigned) column->axis)
            return column->plural;
    return "rows";
}

/* Puts members of the current JSON object, with all frames of a site. */
static void row_names_put_json(const struct heap_report *report, const struct heap_key *key,
                               struct json_output *json)
{
    for (const struct column *column = columns; column < COLUMNS_END; column++)
        if (is_wanted(report, column) && column->axis != HEAP_BY_SITE)
            column->as_json(report, key, json);
    if ((report->axes & HEAP_BY_SITE) != 0) /* an array, therefore last */
        site_as_json(report, key, json);
}

/* Puts the last CSV fields, each preceded by a comma, with all frames of a site. */
static void row_titles_put_csv(const struct heap_report *report)
{
    for (const struct column *column = columns; column < COLUMNS_END; column++)
        if (is_wanted(report, column))
            printf(",%s", column->name);
}

static void row_names_put_csv(const struct heap_report *report, const struct heap_key *key)
{
    for (const struct column *column = columns; column < COLUMNS_END; column++)
        if (is_wanted(report, column))
            column->as_csv(report, key);
}

/* Allocates `capacity` rows.  Returns false if out of memory.  Reset the list in either case. */
static bool row_list_init(struct row_list *list, size_t capacity)
{
    list->count = 0;
    list->rows = calloc(capacity + 1, sizeof *list->rows);
    return list->rows != NULL;
}

static void row_list_reset(struct row_list *list)
{
    free(list->rows);
}

static uint64_t magnitude(int64_t value)
{
    return value < 0 ? 0 - (uint64_t) value : (uint64_t) value;
}

static int by_bytes(const void *left, const void *right)
{
    const struct listed_row *a = left;
    const struct listed_row *b = right;
    uint64_t x = magnitude(a->bytes), y = magnitude(b->bytes);
    if (x != y)
        return x > y ? -1 : 1;
    if (a->objects != b->objects)
        return a->objects > b->objects ? -1 : 1;
    return memcmp(&a->key, &b->key, sizeof a->key);
}

static void print_text(const struct row_list *list, size_t shown)
{
    const struct heap_report *report = list->report;
    for (size_t i = 0; i < ROW_LIST_MOMENTS; i++)
        if (list->moments[i] != NULL)
            heap_report_put_head(report, list->moments[i]);
    putchar('\n');
    list->layout->put_titles(list);
    row_titles_put_text(report);
    putchar('\n');
    for (size_t i = 0; i < shown; i++) {
        list->layout->put_text(list, &list->rows[i]);
        row_names_put_text(report, &list->rows[i].key);
        putchar('\n');
    }
    table_print_rest(shown, list->count, row_names_plural(report));
}

static void print_json(const struct row_list *list, size_t shown)
{
    struct json_output json;
    heap_report_begin_json(list->report, &json);
    for (size_t i = 0; i < ROW_LIST_MOMENTS; i++)
        if (list->moments[i] != NULL)
            heap_report_put_moment(list->moments[i], list->layout->moments[i], &json);
    json_begin_array(&json, "rows");
    for (size_t i = 0; i < shown; i++) {
        json_begin_object(&json, NULL);
        list->layout->put_json(list, &list->rows[i], &json);
        row_names_put_json(list->report, &list->rows[i].key, &json);
        json_end_object(&json);
    }
    json_end_array(&json);
    json_close(&json);
}

static void print_csv(const struct row_list *list, size_t shown)
{
    printf("%s", list->layout->csv_titles);
    row_titles_put_csv(list->report);
    printf("\n");
    for (size_t i = 0; i < shown; i++) {
        list->layout->put_csv(&list->rows[i]);
        row_names_put_csv(list->report, &list->rows[i].key);
        printf("\n");
    }
}

/* Sorts the rows and prints them. */
static void row_list_print(struct row_list *list)
{
    size_t shown = table_shown(list->report->top, list->count);
    qsort(list->rows, list->count, sizeof *list->rows, by_bytes);
    if (list->report->form == HEAP_AS_TEXT)
        print_text(list, shown);
    else if (list->report->form == HEAP_AS_JSON)
        print_json(list, shown);
    else
        print_csv(list, shown);
}

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

/* ---- one moment of a sampled trace ---- */

static void samples_titles(const struct row_list *list)
{
    printf("%8s" ESTIMATE_TITLES ESTIMATE_TITLES " %6s %9s  ", "samples", "objects", "(95 %)",
           "bytes", "(95 %)", "%", has_ages(list) ? "mean age" : "");
}

static void samples_text(const struct row_list *list, const struct listed_row *row)
{
    const struct heap_amount *all = heap_report_total(list->report, list->moments[0]);
    printf("%8" PRIu64, row->samples);
    estimate_print(row->objects_estimate);
    estimate_print(row->bytes_estimate);
    printf(" %6.1f %9s  ", heap_report_share(row->amount.bytes, all->bytes),
           has_ages(list) ? mean_age(&row->amount).text : "");
}

static void samples_json(const struct row_list *list, const struct listed_row *row,
                         struct json_output *json)
{
    json_number(json, "samples", row->samples);
    estimate_put_members(json, "objects", row->objects_estimate);
    estimate_put_members(json, "bytes", row->bytes_estimate);
    if (has_ages(list) && row->amount.objects > 0)
        json_number(json, "mean_age_ns", row->amount.ages_us / row->amount.objects * 1000);
}

static void samples_csv(const struct listed_row *row)
{
    printf("%" PRIu64 ",", row->samples);
    estimate_put_csv(row->objects_estimate);
    putchar(',');
    estimate_put_csv(row->bytes_estimate);
}

static const struct row_layout samples_layout = {
    .moments = {"moment"},
    .csv_titles = "samples,objects,objects_low,objects_high,bytes,bytes_low,bytes_high",
    .put_titles = samples_titles,
    .put_text = samples_text,
    .put_json = samples_json,
    .put_csv = samples_csv};

static struct listed_row listed_row_of(const struct heap_row *row, bool allocated)
{
    const struct heap_amount *amount = allocated ? &row->allocated : &row->live;
    struct listed_row out = {.key = row->key,
                             .amount = *amount,
                             .objects = (int64_t) amount->objects,
                             .bytes = (int64_t) amount->bytes};
    if (row->samples != NULL) {
        const struct sample_sums *sums = allocated ? &row->samples->allocated : &row->samples->live;
        out.samples = sums->samples;
        out.objects_estimate = estimate_objects(sums);
        out.bytes_estimate = estimate_bytes(sums);
    }
    return out;
}

bool heap_print_table(const struct heap_report *report, struct heap_snapshot *snapshot)
{
    struct row_list list = {.report = report,
                            .layout = snapshot->samples != NULL ? &samples_layout : &table_layout,
                            .moments = {snapshot}};
    if (!row_list_init(&list, snapshot->count))
        return false;
    heap_snapshot_fold(snapshot, report->axes);
    for (size_t i = 0; i < snapshot->count; i++) {
        const struct heap_row *row = &snapshot->rows[i];
        const struct heap_amount *amount = report->allocated ? &row->allocated : &row->live;
        if (amount->objects != 0 || amount->bytes != 0)
            list.rows[list.count++] = listed_row_of(row, report->allocated);
    }
    row_list_print(&list);
    row_list_reset(&list);
    return true;
}

/* ---- difference between two moments ---- */

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

/* ---- difference between two moments of a sampled trace ---- */

static void sampled_changes_titles(const struct row_list *list)
{
    (void) list;
    printf("%8s" ESTIMATE_TITLES ESTIMATE_TITLES " %14s  ", "samples", "objects", "(95 %)", "bytes",
           "(95 %)", "then");
}

static void sampled_changes_text(const struct row_list *list, const struct listed_row *row)
{
    (void) list;
    printf("%8" PRIu64, row->samples);
    estimate_print_change(row->objects_estimate);
    estimate_print_change(row->bytes_estimate);
    printf(" %14" PRIu64 " %c", row->amount.bytes,
           estimate_contains(row->bytes_estimate, 0) ? '~' : ' ');
}

static void sampled_changes_json(const struct row_list *list, const struct listed_row *row,
                                 struct json_output *json)
{
    (void) list;
    json_number(json, "samples", row->samples);
    estimate_put_change(json, "objects", row->objects_estimate);
    estimate_put_change(json, "bytes", row->bytes_estimate);
    json_bool(json, "noise", estimate_contains(row->bytes_estimate, 0));
    json_number(json, "after_objects", row->amount.objects);
    json_number(json, "after_bytes", row->amount.bytes);
}

static void sampled_changes_csv(const struct listed_row *row)
{
    printf("%" PRIu64 ",", row->samples);
    estimate_put_change_csv(row->objects_estimate);
    putchar(',');
    estimate_put_change_csv(row->bytes_estimate);
    printf(",%" PRIu64 ",%" PRIu64, row->amount.objects, row->amount.bytes);
}

static const struct row_layout sampled_changes_layout = {
    .moments = {"before", "after"},
    .csv_titles = "samples,objects,objects_low,objects_high,bytes,bytes_low,bytes_high,"
                  "after_objects,after_bytes",
    .put_titles = sampled_changes_titles,
    .put_text = sampled_changes_text,
    .put_json = sampled_changes_json,
    .put_csv = sampled_changes_csv};

bool heap_print_changes(const struct heap_report *report, struct heap_snapshot *before,
                        struct heap_snapshot *after)
{
    struct row_list list = {.report = report,
                            .layout =
                                after->samples != NULL ? &sampled_changes_layout : &changes_layout,
                            .moments = {before, after}};
    struct heap_change *changes = NULL;
    size_t count = 0;
    heap_snapshot_fold(before, report->axes);
    heap_snapshot_fold(after, report->axes);
    if (!heap_snapshot_compare(before, after, report->allocated, &changes, &count))
        return false;
    bool ok = row_list_init(&list, count);
    for (size_t i = 0; ok && i < count; i++)
        list.rows[list.count++] = (struct listed_row){
            changes[i].key,           changes[i].after,   changes[i].objects,
            changes[i].bytes,         changes[i].samples, changes[i].objects_estimate,
            changes[i].bytes_estimate};
    free(changes);
    if (ok)
        row_list_print(&list);
    row_list_reset(&list);
    return ok;
}
