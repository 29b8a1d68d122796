/* SPDX-License-Identifier: Apache-2.0 */
/* Prints tables of one moment, and of the difference between two, as text, JSON and CSV. */

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
#include "converter/heap/heap_samples.h"
#include "converter/trace/class_twins.h"

/* A row is a change; of one moment it is the change since there was nothing. */
struct row_list {
    const struct heap_report *report;
    const struct heap_snapshot *first, *last; /* `last` NULL: one moment */
    bool is_sampled;
    struct class_twins twins;
    struct heap_change *rows; /* owned by the list */
    size_t count;
};

/* ---- names ---- */

static const struct {
    enum heap_axis axis;
    const char *name, *plural;
} axes[] = {{HEAP_BY_CLASS, "class", "classes"},
            {HEAP_BY_SITE, "site", "sites"},
            {HEAP_BY_THREAD, "thread", "threads"}};

static bool has_axis(const struct heap_report *report, enum heap_axis axis)
{
    return (report->axes & (unsigned) axis) != 0;
}

static struct step_bytes class_of(const struct heap_report *report, const struct heap_key *key)
{
    return trace_class_of(report->sites->names, key->class_id)->name;
}

static struct stack_text site_of(const struct heap_report *report, const struct heap_key *key)
{
    return heap_site_stack(report->sites, key->site, report->depth);
}

static const struct trace_thread *thread_of(const struct heap_report *report,
                                            const struct heap_key *key)
{
    return trace_thread_of(report->sites->names, key->thread_id);
}

/* Prints "class, site", as text or CSV. */
static void put_name_titles(const struct heap_report *report, const char *before,
                            const char *between)
{
    for (size_t i = 0; i < sizeof axes / sizeof axes[0]; i++)
        if (has_axis(report, axes[i].axis)) {
            printf("%s%s", before, axes[i].name);
            before = between;
        }
}

/* Prints a row's names, with as many frames as the report requests. */
static void put_names_text(const struct row_list *list, const struct heap_key *key)
{
    const struct heap_report *report = list->report;
    const char *separator = "";
    if (has_axis(report, HEAP_BY_CLASS)) {
        print_shown(class_twins_name(&list->twins, key->class_id), stdout);
        separator = ", ";
    }
    if (has_axis(report, HEAP_BY_SITE)) {
        printf("%s", separator);
        stack_print(site_of(report, key), stdout);
        separator = ", ";
    }
    if (has_axis(report, HEAP_BY_THREAD)) {
        const struct trace_thread *thread = thread_of(report, key);
        printf("%s%" PRIu64 "%s", separator, thread->number, thread->name.length > 0 ? " " : "");
        print_shown(thread->name, stdout);
    }
}

/* Returns the noun for rows: "classes", or "rows" if there are several axes. */
static const char *rows_plural(const struct heap_report *report)
{
    for (size_t i = 0; i < sizeof axes / sizeof axes[0]; i++)
        if (report->axes == (unsigned) axes[i].axis)
            return axes[i].plural;
    return "rows";
}

/* Puts members of the current JSON object, with all frames of a site. */
static void put_names_json(const struct heap_report *report, const struct heap_key *key,
                           struct json_output *json)
{
    if (has_axis(report, HEAP_BY_CLASS)) {
        json_bytes(json, "class", class_of(report, key));
        json_number(json, "loader", trace_class_of(report->sites->names, key->class_id)->loader);
    }
    if (has_axis(report, HEAP_BY_THREAD))
        json_number(json, "thread", thread_of(report, key)->number);
    if (has_axis(report, HEAP_BY_SITE)) /* an array, therefore last */
        stack_put_json(site_of(report, key), json, "site");
}

/* Puts the last CSV fields, each preceded by a comma, with all frames of a site. */
static void put_names_csv(const struct row_list *list, const struct heap_key *key)
{
    const struct heap_report *report = list->report;
    if (has_axis(report, HEAP_BY_CLASS)) {
        putchar(',');
        csv_put_shown_text(class_twins_name(&list->twins, key->class_id), stdout);
    }
    if (has_axis(report, HEAP_BY_SITE)) {
        putchar(',');
        stack_put_csv(site_of(report, key), stdout);
    }
    if (has_axis(report, HEAP_BY_THREAD))
        printf(",%" PRIu64, thread_of(report, key)->number);
}

/* ---- numbers: of one moment or of a difference, each of all objects or of samples ---- */

static bool is_change(const struct row_list *list)
{
    return list->last != NULL;
}

static bool has_ages(const struct row_list *list)
{
    return !list->report->allocated && !list->report->is_import;
}

static struct quantity mean_age(const struct heap_amount *amount, enum time_unit unit)
{
    double age = amount->objects > 0 ? (double) amount->ages_us / (double) amount->objects : 0;
    return quantity_of_time(time_of_age(age, unit), unit);
}

/* Values near zero may be noise. */
static bool is_noise(const struct heap_change *row)
{
    return estimate_contains(row->bytes_estimate, 0);
}

static void put_titles_text(const struct row_list *list)
{
    if (list->is_sampled)
        printf("%8s" ESTIMATE_TITLES ESTIMATE_TITLES, "samples", "objects",
               estimate_range_title(list->first->sampling), "bytes",
               estimate_range_title(list->first->sampling));
    else
        printf(is_change(list) ? "%13s %15s" : "%12s %14s", "objects", "bytes");
    if (is_change(list))
        printf(" %14s  ", "then");
    else
        printf(" %6s %9s  ", "%", has_ages(list) ? "mean age" : "");
}

static void put_numbers_text(const struct row_list *list, const struct heap_change *row)
{
    const struct heap_amount *amount = &row->after;
    if (list->is_sampled) {
        void (*print)(struct estimate) = is_change(list) ? estimate_print_change : estimate_print;
        printf("%8" PRIu64, row->samples);
        print(row->objects_estimate);
        print(row->bytes_estimate);
    } else if (is_change(list)) {
        printf("%+13" PRId64 " %+15" PRId64, row->objects, row->bytes);
    } else {
        printf("%12" PRIu64 " %14" PRIu64, amount->objects, amount->bytes);
    }
    if (is_change(list))
        printf(" %14" PRIu64 " %c", amount->bytes, list->is_sampled && is_noise(row) ? '~' : ' ');
    else
        printf(
            " %6.1f %9s  ",
            heap_report_share(amount->bytes, heap_report_total(list->report, list->first)->bytes),
            has_ages(list) ? mean_age(amount, list->first->unit).text : "");
}

static void put_numbers_json(const struct row_list *list, const struct heap_change *row,
                             struct json_output *json)
{
    const struct heap_amount *amount = &row->after;
    if (list->is_sampled) {
        void (*put)(struct json_output *, const char *, struct estimate) =
            is_change(list) ? estimate_put_change : estimate_put_members;
        json_number(json, "samples", row->samples);
        put(json, "objects", row->objects_estimate);
        put(json, "bytes", row->bytes_estimate);
    } else if (is_change(list)) {
        json_real(json, "objects", (double) row->objects);
        json_real(json, "bytes", (double) row->bytes);
    } else {
        json_number(json, "objects", amount->objects);
        json_number(json, "bytes", amount->bytes);
    }
    if (is_change(list)) {
        if (list->is_sampled)
            json_bool(json, "noise", is_noise(row));
        json_number(json, "after_objects", amount->objects);
        json_number(json, "after_bytes", amount->bytes);
    } else if (has_ages(list) && amount->objects > 0) {
        json_number(json, "mean_age_ns",
                    amount->ages_us / amount->objects *
                        (list->first->unit == TIME_STEPS ? 1 : 1000));
    }
}

static void put_numbers_csv(const struct row_list *list, const struct heap_change *row)
{
    if (list->is_sampled) {
        void (*put)(struct estimate) = is_change(list) ? estimate_put_change_csv : estimate_put_csv;
        printf("%" PRIu64 ",", row->samples);
        put(row->objects_estimate);
        putchar(',');
        put(row->bytes_estimate);
    } else if (is_change(list)) {
        printf("%" PRId64 ",%" PRId64, row->objects, row->bytes);
    } else {
        printf("%" PRIu64 ",%" PRIu64, row->after.objects, row->after.bytes);
    }
    if (is_change(list))
        printf(",%" PRIu64 ",%" PRIu64, row->after.objects, row->after.bytes);
}

/* ---- rows ---- */

static uint64_t magnitude(int64_t value)
{
    return value < 0 ? 0 - (uint64_t) value : (uint64_t) value;
}

static int by_bytes(const void *left, const void *right)
{
    const struct heap_change *a = left;
    const struct heap_change *b = right;
    uint64_t x = magnitude(a->bytes), y = magnitude(b->bytes);
    if (x != y)
        return x > y ? -1 : 1;
    if (a->objects != b->objects)
        return a->objects > b->objects ? -1 : 1;
    return memcmp(&a->key, &b->key, sizeof a->key);
}

static void print_text(const struct row_list *list, size_t shown)
{
    heap_report_put_head(list->report, list->first);
    if (is_change(list))
        heap_report_put_head(list->report, list->last);
    putchar('\n');
    put_titles_text(list);
    put_name_titles(list->report, "", ", ");
    putchar('\n');
    for (size_t i = 0; i < shown; i++) {
        put_numbers_text(list, &list->rows[i]);
        put_names_text(list, &list->rows[i].key);
        putchar('\n');
    }
    table_print_rest(shown, list->count, rows_plural(list->report));
}

static void print_json(const struct row_list *list, size_t shown)
{
    struct json_output json;
    heap_report_begin_json(list->report, &json);
    heap_report_put_moment(list->report, list->first, is_change(list) ? "before" : "moment", &json);
    if (is_change(list))
        heap_report_put_moment(list->report, list->last, "after", &json);
    json_begin_array(&json, "rows");
    for (size_t i = 0; i < shown; i++) {
        json_begin_object(&json, NULL);
        put_numbers_json(list, &list->rows[i], &json);
        put_names_json(list->report, &list->rows[i].key, &json);
        json_end_object(&json);
    }
    json_end_array(&json);
    json_close(&json);
}

static void print_csv(const struct row_list *list, size_t shown)
{
    printf("%s%s",
           list->is_sampled ? "samples,objects,objects_low,objects_high,bytes,bytes_low,bytes_high"
                            : "objects,bytes",
           is_change(list) ? ",after_objects,after_bytes" : "");
    put_name_titles(list->report, ",", ",");
    printf("\n");
    for (size_t i = 0; i < shown; i++) {
        put_numbers_csv(list, &list->rows[i]);
        put_names_csv(list, &list->rows[i].key);
        printf("\n");
    }
}

/* Sorts the rows, prints and frees them. */
static void print_rows(struct row_list *list)
{
    size_t shown = table_shown(list->report->top, list->count);
    qsort(list->rows, list->count, sizeof *list->rows, by_bytes);
    class_twins_find(&list->twins, list->report->sites->names);
    if (list->report->form == HEAP_AS_TEXT)
        print_text(list, shown);
    else if (list->report->form == HEAP_AS_JSON)
        print_json(list, shown);
    else
        print_csv(list, shown);
    class_twins_reset(&list->twins);
    free(list->rows);
}

static struct heap_change change_of(const struct heap_row *row, bool allocated)
{
    const struct heap_amount *amount = allocated ? &row->allocated : &row->live;
    struct heap_change out = {.key = row->key,
                              .after = *amount,
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

/* The rows of a sampled trace have what their classes say of sizes. */
static void fold(const struct heap_report *report, struct heap_snapshot *snapshot)
{
    heap_snapshot_fold(snapshot, report->axes);
    for (size_t i = 0; snapshot->samples != NULL && i < snapshot->count; i++) {
        struct heap_samples *samples = snapshot->rows[i].samples;
        uint32_t class_id = snapshot->rows[i].key.class_id;
        struct step_bytes name = (report->axes & HEAP_BY_CLASS) == 0
                                     ? (struct step_bytes){.length = 0}
                                     : trace_class_of(report->sites->names, class_id)->name;
        samples->allocated = sample_sums_of_class(samples->allocated, name);
        samples->live = sample_sums_of_class(samples->live, name);
        samples->kept = sample_sums_of_class(samples->kept, name);
        heap_samples_age(&snapshot->rows[i]);
    }
}

bool heap_print_table(const struct heap_report *report, struct heap_snapshot *snapshot)
{
    struct row_list list = {.report = report,
                            .first = snapshot,
                            .is_sampled = snapshot->samples != NULL,
                            .rows = malloc((snapshot->count + 1) * sizeof *list.rows)};
    if (list.rows == NULL)
        return false;
    fold(report, snapshot);
    for (size_t i = 0; i < snapshot->count; i++) {
        list.rows[list.count] = change_of(&snapshot->rows[i], report->allocated);
        list.count += list.rows[list.count].objects != 0 || list.rows[list.count].bytes != 0;
    }
    print_rows(&list);
    return true;
}

bool heap_print_changes(const struct heap_report *report, struct heap_snapshot *before,
                        struct heap_snapshot *after)
{
    struct row_list list = {
        .report = report, .first = before, .last = after, .is_sampled = after->samples != NULL};
    fold(report, before);
    fold(report, after);
    if (!heap_snapshot_compare(before, after, report->allocated, &list.rows, &list.count))
        return false;
    print_rows(&list);
    return true;
}
