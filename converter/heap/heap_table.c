/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prints tables of one moment, and of the difference between two, as text, JSON and CSV.
 *
 * Both are tables of changes: one moment is the change from an empty heap, so sorting, naming and
 * printing exist once.  What differs is the list of columns (report_table.h).  Text shows as many
 * frames of a site as were asked for; JSON and CSV have all of them, as a program that reads them
 * can cut but not add.
 */

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "converter/cli/csv_output.h"
#include "converter/cli/error_report.h"
#include "converter/cli/report_table.h"
#include "converter/cli/table_text.h"
#include "converter/heap/heap_report.h"
#include "converter/heap/heap_samples.h"
#include "converter/numbers/amount.h"
#include "converter/numbers/sample_totals.h"
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

static struct step_bytes heap_table_class_of(const struct heap_report *report,
                                             const struct heap_key *key)
{
    return trace_class_of(report->sites->names, key->class_id)->name;
}

static struct stack_text heap_table_site_of(const struct heap_report *report,
                                            const struct heap_key *key)
{
    return heap_site_stack(report->sites, key->site, report->depth);
}

static const struct trace_thread *heap_table_thread_of(const struct heap_report *report,
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
        stack_print(heap_table_site_of(report, key), stdout);
        separator = ", ";
    }
    if (has_axis(report, HEAP_BY_THREAD)) {
        const struct trace_thread *thread = heap_table_thread_of(report, key);
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
        json_bytes(json, "class", heap_table_class_of(report, key));
        json_number(json, "loader", trace_class_of(report->sites->names, key->class_id)->loader);
    }
    if (has_axis(report, HEAP_BY_THREAD))
        json_number(json, "thread", heap_table_thread_of(report, key)->number);
    if (has_axis(report, HEAP_BY_SITE)) /* an array, therefore last */
        stack_put_json(heap_table_site_of(report, key), json, "site");
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
        stack_put_csv(heap_table_site_of(report, key), stdout);
    }
    if (has_axis(report, HEAP_BY_THREAD))
        printf(",%" PRIu64, heap_table_thread_of(report, key)->number);
}

/* ---- columns ---- */

/* A row, as columns see it. */
struct heap_line {
    const struct row_list *list;
    const struct heap_change *row;
};

static bool is_change(const struct row_list *list)
{
    return list->last != NULL;
}

/* Of allocations, `ages_us` is how long the dead have lived, which is no age; an imported dump does
 * not have them. */
static bool has_ages(const struct row_list *list)
{
    return !list->report->allocated && !list->report->is_import;
}

static const struct heap_change *row_of(const void *line)
{
    return ((const struct heap_line *) line)->row;
}

static struct amount heap_sample_count(const void *line)
{
    return amount_exact(row_of(line)->samples, AMOUNT_OBJECTS);
}

static struct amount heap_objects(const void *line)
{
    return row_of(line)->of_objects;
}

static struct amount heap_bytes(const void *line)
{
    return row_of(line)->of_bytes;
}

/* The share of the total of the moment, and not of the rows that are shown: it stays the same with
 * another --top. */
static struct amount heap_share(const void *user)
{
    const struct heap_line *line = user;
    const struct heap_amount *total = heap_report_total(line->list->report, line->list->first);
    return amount_real(heap_report_share(line->row->after.bytes, total->bytes), AMOUNT_PERCENT);
}

static struct amount heap_age(const void *user)
{
    const struct heap_line *line = user;
    const struct heap_amount *amount = &line->row->after;
    enum time_unit unit = line->list->first->unit;
    double age = amount->objects > 0 ? (double) amount->ages_us / (double) amount->objects : 0;
    return amount_real(time_of_age(age, unit), amount_unit_of_times(unit));
}

/* Whole microseconds, as sums have no more (time_age()), in the unit that all times in JSON have. A
 * row without live objects has no mean: none is not 0. */
static struct amount heap_age_ns(const void *user)
{
    const struct heap_line *line = user;
    const struct heap_amount *amount = &line->row->after;
    enum time_unit unit = line->list->first->unit;
    if (amount->objects == 0)
        return amount_none(amount_unit_of_times(unit));
    return amount_exact(amount->ages_us / amount->objects * (unit == TIME_STEPS ? 1 : 1000),
                        amount_unit_of_times(unit));
}

static struct amount heap_noise(const void *line)
{
    return amount_flag(amount_is_noise(&row_of(line)->of_bytes));
}

static struct amount heap_after_objects(const void *line)
{
    return amount_exact(row_of(line)->after.objects, AMOUNT_OBJECTS);
}

static struct amount heap_after_bytes(const void *line)
{
    return amount_exact(row_of(line)->after.bytes, AMOUNT_BYTES);
}

#define SAMPLES                                                                                    \
    {                                                                                              \
        "samples", "samples", 8, REPORT_DIGITS, REPORT_OF_SAMPLES, .value = heap_sample_count      \
    }
#define AMOUNTS                                                                                    \
    SAMPLES, {"objects", "objects", 12, REPORT_RANGE, REPORT_EVERYWHERE, .value = heap_objects},   \
        {"bytes", "bytes", 14, REPORT_RANGE, REPORT_EVERYWHERE, .value = heap_bytes},              \
    {                                                                                              \
        NULL, "%", 6, REPORT_SCALED, REPORT_BOTH_TEXTS, .value = heap_share                        \
    }

static const struct report_column columns_with_ages[] = {
    AMOUNTS,
    {NULL, "mean age", 9, REPORT_SCALED, REPORT_BOTH_TEXTS, .value = heap_age},
    {"mean_age_ns", NULL, 0, REPORT_DIGITS, REPORT_BOTH_JSONS, .value = heap_age_ns},
};

static const struct report_column columns_without_ages[] = {
    AMOUNTS, {NULL, "", 9, REPORT_BLANK, REPORT_BOTH_TEXTS, .value = NULL}};

static const struct report_column columns_of_changes[] = {
    SAMPLES,
    {"objects", "objects", 13, REPORT_RANGE, REPORT_EVERYWHERE, .value = heap_objects},
    {"bytes", "bytes", 15, REPORT_RANGE, REPORT_EVERYWHERE, .value = heap_bytes},
    {"noise", NULL, 0, REPORT_DIGITS, REPORT_SAMPLED_JSON, .value = heap_noise},
    {"after_objects", NULL, 0, REPORT_DIGITS, REPORT_BOTH_JSONS | REPORT_BOTH_CSVS,
     .value = heap_after_objects},
    {"after_bytes", "then", 14, REPORT_DIGITS, REPORT_EVERYWHERE, .value = heap_after_bytes},
};

#define SET_COLUMNS(table, of) ((table).columns = (of), (table).count = sizeof(of) / sizeof(of)[0])

static struct report_table table_of(const struct row_list *list)
{
    struct report_table table = {.sampling = list->first->sampling, .has_bounds_beside = true};
    if (is_change(list))
        SET_COLUMNS(table, columns_of_changes);
    else if (has_ages(list))
        SET_COLUMNS(table, columns_with_ages);
    else
        SET_COLUMNS(table, columns_without_ages);
    return table;
}

/* ---- rows ---- */

/* Subtracting from 0 as unsigned also works for the least value, which has no positive one. */
static uint64_t magnitude(int64_t value)
{
    return value < 0 ? 0 - (uint64_t) value : (uint64_t) value;
}

/* The largest change first, whether it grew or shrank.  The key decides in the end, so the order is
 * total, and a report is the same each time although qsort() is not stable.  A key has no padding,
 * which memcmp() would compare as well. */
static int heap_table_by_bytes(const void *left, const void *right)
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

/* A change that may be none stands behind a tilde. */
static void heap_table_print_text(const struct row_list *list, const struct report_table *table,
                                  size_t shown)
{
    heap_report_put_head(list->report, list->first);
    if (is_change(list))
        heap_report_put_head(list->report, list->last);
    putchar('\n');
    report_table_print_head(table, stdout);
    put_name_titles(list->report, " ", ", ");
    putchar('\n');
    for (size_t i = 0; i < shown; i++) {
        const struct heap_change *row = &list->rows[i];
        bool is_unsure = is_change(list) && list->is_sampled && amount_is_noise(&row->of_bytes);
        report_table_print_row(table, &(struct heap_line){list, row}, stdout);
        putchar(is_unsure ? '~' : ' ');
        put_names_text(list, &row->key);
        putchar('\n');
    }
    table_print_rest(shown, list->count, rows_plural(list->report));
}

static void heap_table_print_json(const struct row_list *list, const struct report_table *table,
                                  size_t shown)
{
    struct json_output json;
    heap_report_begin_json(list->report, &json);
    heap_report_put_moment(list->report, list->first, is_change(list) ? "before" : "moment", &json);
    if (is_change(list))
        heap_report_put_moment(list->report, list->last, "after", &json);
    json_begin_array(&json, "rows");
    for (size_t i = 0; i < shown; i++) {
        json_begin_object(&json, NULL);
        report_table_put_row(table, &(struct heap_line){list, &list->rows[i]}, &json);
        put_names_json(list->report, &list->rows[i].key, &json);
        json_end_object(&json);
    }
    json_end_array(&json);
    json_close(&json);
}

static void print_csv(const struct row_list *list, const struct report_table *table, size_t shown)
{
    report_table_put_csv_head(table, stdout);
    put_name_titles(list->report, ",", ",");
    printf("\n");
    for (size_t i = 0; i < shown; i++) {
        report_table_put_csv_row(table, &(struct heap_line){list, &list->rows[i]}, stdout);
        put_names_csv(list, &list->rows[i].key);
        printf("\n");
    }
}

/* Sorts the rows, prints and frees them.  Classes of one name and several loaders are found first,
 * over all classes of the trace: a name then looks the same in every report. */
static void print_rows(struct row_list *list)
{
    const struct report_table table = table_of(list);
    size_t shown = table_shown(list->report->top, list->count);
    qsort(list->rows, list->count, sizeof *list->rows, heap_table_by_bytes);
    class_twins_find(&list->twins, list->report->sites->names);
    if (list->report->form == HEAP_AS_TEXT)
        heap_table_print_text(list, &table, shown);
    else if (list->report->form == HEAP_AS_JSON)
        heap_table_print_json(list, &table, shown);
    else
        print_csv(list, &table, shown);
    class_twins_reset(&list->twins);
    free(list->rows);
}

static struct heap_change change_of(const struct heap_row *row, bool allocated)
{
    const struct heap_amount *amount = allocated ? &row->allocated : &row->live;
    const struct sample_sums *sums = row->samples == NULL ? NULL
                                     : allocated          ? &row->samples->allocated
                                                          : &row->samples->live;
    return (struct heap_change){.key = row->key,
                                .after = *amount,
                                .objects = (int64_t) amount->objects,
                                .bytes = (int64_t) amount->bytes,
                                .of_objects = amount_of_objects(amount->objects, sums),
                                .of_bytes = amount_of_bytes(amount->bytes, sums),
                                .samples = sums != NULL ? sums->samples : 0};
}

/* The rows of a sampled trace have what their classes say of sizes.  That is asked after folding,
 * when the class of a row is final; ages follow last, as they are scaled to the folded amounts. */
static void heap_table_fold(const struct heap_report *report, struct heap_snapshot *snapshot)
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
        if (snapshot->is_whole && report->axes == HEAP_BY_CLASS)
            sample_sums_make_whole(&samples->allocated);
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
    heap_table_fold(report, snapshot);
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
    heap_table_fold(report, before);
    heap_table_fold(report, after);
    if (!heap_snapshot_compare(before, after, report->allocated, &list.rows, &list.count))
        return false;
    print_rows(&list);
    return true;
}
