/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows of a heap as a list in the report's form: the largest first, as many as it asks for.  What
 * the numbers of a row are, is its layout's business.
 */
#ifndef CONVERTER_HEAP_REPORT_ROW_LIST_H
#define CONVERTER_HEAP_REPORT_ROW_LIST_H

#include "converter/heap_report/heap_report.h"

#define ROW_LIST_MOMENTS 2u

struct listed_row {
    struct heap_key key;
    struct heap_amount amount; /* then */
    int64_t objects, bytes;    /* of a difference the change, else the same as `amount` */
};

struct row_list {
    const struct heap_report *report;
    const struct row_layout *layout;
    const struct heap_snapshot *moments[ROW_LIST_MOMENTS]; /* as many as the layout names */
    struct listed_row *rows;                               /* the list's own */
    size_t count;
};

/* The numbers that stand before a row's names. */
struct row_layout {
    const char *moments[ROW_LIST_MOMENTS]; /* their keys in JSON; NULL: there is none */
    const char *csv_titles;
    void (*put_titles)(const struct row_list *list); /* of the text */
    void (*put_text)(const struct row_list *list, const struct listed_row *row);
    void (*put_json)(const struct row_list *list, const struct listed_row *row,
                     struct json_output *json);
    void (*put_csv)(const struct listed_row *row);
};

/* Room for so many rows; false: out of memory.  The list is to be reset in any case. */
bool row_list_init(struct row_list *list, size_t capacity);
/* Sorts and prints. */
void row_list_print(struct row_list *list);
void row_list_reset(struct row_list *list);

#endif
