/* SPDX-License-Identifier: Apache-2.0 */
/* One column an axis, with a way to print it in each form. */
#include "converter/heap_report/row_names.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "converter/base/csv_output.h"
#include "converter/base/error_report.h"

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

/* The innermost frames, with their callers behind them. */
static void site_as_text(const struct heap_report *report, const struct heap_key *key)
{
    char text[HEAP_SITE_TEXT];
    uint64_t depth = 0;
    uint32_t site = key->site;
    do {
        if (report->depth != 0 && depth == report->depth) {
            printf(" <- ...");
            return;
        }
        heap_site_print(report->sites, site, text, sizeof text);
        printf("%s", depth++ > 0 ? " <- " : "");
        print_shown_text(text, stdout);
        site = report->sites->items[site].parent;
    } while (site != 0);
}

static void site_as_json(const struct heap_report *report, const struct heap_key *key,
                         struct json_output *json)
{
    char text[HEAP_SITE_TEXT];
    json_begin_array(json, "site");
    for (uint32_t at = key->site; at != 0; at = report->sites->items[at].parent) {
        heap_site_print(report->sites, at, text, sizeof text);
        json_text(json, NULL, text);
    }
    json_end_array(json);
}

static void site_as_csv(const struct heap_report *report, const struct heap_key *key)
{
    char text[HEAP_SITE_TEXT];
    printf(",\"");
    for (uint32_t at = key->site; at != 0; at = report->sites->items[at].parent) {
        size_t length = heap_site_print(report->sites, at, text, sizeof text);
        printf("%s", at != key->site ? ";" : "");
        csv_put_shown((struct step_bytes){(const uint8_t *) text, length}, stdout);
    }
    putchar('"');
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

void row_titles_put_text(const struct heap_report *report)
{
    const char *separator = "";
    for (const struct column *column = columns; column < COLUMNS_END; column++) {
        if (!is_wanted(report, column))
            continue;
        printf("%s%s", separator, column->name);
        separator = ", ";
    }
}

void row_names_put_text(const struct heap_report *report, const struct heap_key *key)
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

const char *row_names_plural(const struct heap_report *report)
{
    for (const struct column *column = columns; column < COLUMNS_END; column++)
        if (report->axes == (unsigned) column->axis)
            return column->plural;
    return "rows";
}

void row_names_put_json(const struct heap_report *report, const struct heap_key *key,
                        struct json_output *json)
{
    for (const struct column *column = columns; column < COLUMNS_END; column++)
        if (is_wanted(report, column) && column->axis != HEAP_BY_SITE)
            column->as_json(report, key, json);
    if ((report->axes & HEAP_BY_SITE) != 0) /* an array, and so the last */
        site_as_json(report, key, json);
}

void row_titles_put_csv(const struct heap_report *report)
{
    for (const struct column *column = columns; column < COLUMNS_END; column++)
        if (is_wanted(report, column))
            printf(",%s", column->name);
}

void row_names_put_csv(const struct heap_report *report, const struct heap_key *key)
{
    for (const struct column *column = columns; column < COLUMNS_END; column++)
        if (is_wanted(report, column))
            column->as_csv(report, key);
}
