/* SPDX-License-Identifier: Apache-2.0 */
/* One list, three forms. */
#include "converter/heap_report/row_list.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "converter/heap_report/row_names.h"

bool row_list_init(struct row_list *list, size_t capacity)
{
    list->count = 0;
    list->rows = calloc(capacity + 1, sizeof *list->rows);
    return list->rows != NULL;
}

void row_list_reset(struct row_list *list)
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

static size_t shown_of(const struct row_list *list)
{
    uint64_t top = list->report->top;
    return top != 0 && top < list->count ? (size_t) top : list->count;
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
    if (shown < list->count)
        printf("  ... and %zu more %s (--top=0 shows all)\n", list->count - shown,
               row_names_plural(report));
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
    json_end_object(&json);
    json_finish(&json);
}

static void print_csv(const struct row_list *list, size_t shown)
{
    printf("%s", list->layout->csv_titles);
    row_titles_put_csv(list->report);
    printf("\r\n");
    for (size_t i = 0; i < shown; i++) {
        list->layout->put_csv(&list->rows[i]);
        row_names_put_csv(list->report, &list->rows[i].key);
        printf("\r\n");
    }
}

void row_list_print(struct row_list *list)
{
    qsort(list->rows, list->count, sizeof *list->rows, by_bytes);
    if (list->report->form == HEAP_AS_TEXT)
        print_text(list, shown_of(list));
    else if (list->report->form == HEAP_AS_JSON)
        print_json(list, shown_of(list));
    else
        print_csv(list, shown_of(list));
}
