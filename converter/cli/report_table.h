/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A table of a report: its columns once, for its text, its JSON, its CSV and a page, of exact and
 * of sampled traces.  To add a column, add a row to the table's array of columns.
 */
#ifndef CONVERTER_CLI_REPORT_TABLE_H
#define CONVERTER_CLI_REPORT_TABLE_H

#include <stddef.h>
#include <stdio.h>

#include "converter/numbers/amount.h"
#include "format/json/json_output.h"

/* Where a column stands, by the trace: of all objects, or of a sample of them. */
enum column_place {
    REPORT_TEXT = 1,
    REPORT_JSON = 2,
    REPORT_CSV = 4,
    REPORT_SAMPLED_TEXT = 8,
    REPORT_SAMPLED_JSON = 16,
    REPORT_SAMPLED_CSV = 32,
    REPORT_PAGE = 64, /* of `report` */
    REPORT_SAMPLED_PAGE = 128,
    REPORT_BOTH_CSVS = REPORT_CSV | REPORT_SAMPLED_CSV,
    REPORT_OF_SAMPLES = REPORT_SAMPLED_TEXT | REPORT_SAMPLED_JSON | REPORT_SAMPLED_CSV,
    REPORT_BOTH_TEXTS = REPORT_TEXT | REPORT_SAMPLED_TEXT,
    REPORT_BOTH_JSONS = REPORT_JSON | REPORT_SAMPLED_JSON,
    REPORT_EVERYWHERE = REPORT_BOTH_TEXTS | REPORT_BOTH_JSONS | REPORT_BOTH_CSVS
};

struct metric; /* converter/statistics/metrics.h */

enum column_look {
    REPORT_DIGITS,
    REPORT_SCALED, /* with a unit: "1.50 ms" */
    REPORT_RANGE,  /* of estimates: with their interval, in a column of its own width */
    REPORT_SCALED_RANGE,
    REPORT_BLANK /* nothing, in the place of a column that other tables have */
};

struct report_column {
    const char *key;   /* its member in JSON */
    const char *title; /* in text */
    int width;         /* in characters */
    enum column_look look;
    unsigned places; /* bits of enum column_place */
    struct amount (*value)(const void *row);
    const char *group; /* successive columns of a group are members of this object in JSON, which is
                          left out where the first of them is none; NULL: of the row itself */
    const char *heading;         /* on a page */
    const struct metric *metric; /* the same number in rules and comparisons; NULL: none */
};

struct report_table {
    const struct report_column *columns;
    size_t count;
    const struct sampling *sampling; /* of the trace; NULL: it has all objects */
    bool
        has_bounds_beside; /* JSON has NAME, NAME_low and NAME_high of an estimate, not an object */
};

/* Print the titles, and the numbers of a row, with a space after each.  The caller prints another
 * space and the name, and ends the line. */
void report_table_print_head(const struct report_table *table, FILE *out);
void report_table_print_row(const struct report_table *table, const void *row, FILE *out);
/* Puts the members of a row into the object that was begun. */
void report_table_put_row(const struct report_table *table, const void *row,
                          struct json_output *json);
/* Puts the arrays [key, heading, unit] of the columns of a page; `row` is one of its rows. */
void report_table_put_page_heads(const struct report_table *table, const void *row,
                                 struct json_output *json);
/* Puts the numbers of a row into the array that was begun, or as members of the object that was
 * begun (`with_keys`): an estimate as [value, low, high], and null where there is none. */
void report_table_put_page_row(const struct report_table *table, const void *row, bool with_keys,
                               struct json_output *json);
/* Print the titles, and the numbers of a row, with commas between them. */
void report_table_put_csv_head(const struct report_table *table, FILE *out);
void report_table_put_csv_row(const struct report_table *table, const void *row, FILE *out);

#endif
