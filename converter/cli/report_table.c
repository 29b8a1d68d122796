/* SPDX-License-Identifier: Apache-2.0 */
/* Prints tables of columns. */
#include "converter/cli/report_table.h"

static bool column_is_in(const struct report_table *table, const struct report_column *column,
                         enum column_place of_all, enum column_place of_sample)
{
    return (column->places & (unsigned) (table->sampling != NULL ? of_sample : of_all)) != 0;
}

static bool has_range(const struct report_table *table, const struct report_column *column)
{
    return table->sampling != NULL &&
           (column->look == REPORT_RANGE || column->look == REPORT_SCALED_RANGE);
}

static bool is_scaled(const struct report_column *column)
{
    return column->look == REPORT_SCALED || column->look == REPORT_SCALED_RANGE;
}

void report_table_print_head(const struct report_table *table, FILE *out)
{
    for (size_t i = 0; i < table->count; i++) {
        const struct report_column *column = &table->columns[i];
        if (!column_is_in(table, column, REPORT_TEXT, REPORT_SAMPLED_TEXT))
            continue;
        if (has_range(table, column))
            amount_print_range_title(column->title, table->sampling, is_scaled(column), out);
        else
            fprintf(out, "%*s", column->width, column->title);
        fputc(' ', out);
    }
}

static void print_cell(const struct report_table *table, const struct report_column *column,
                       const struct amount *amount, FILE *out)
{
    if (has_range(table, column))
        amount_print_range(amount, is_scaled(column), out);
    else
        fprintf(out, "%*s", column->width,
                (is_scaled(column) ? amount_scaled : amount_digits)(amount).text);
    fputc(' ', out);
}

void report_table_print_row(const struct report_table *table, const void *row, FILE *out)
{
    for (size_t i = 0; i < table->count; i++) {
        const struct report_column *column = &table->columns[i];
        if (!column_is_in(table, column, REPORT_TEXT, REPORT_SAMPLED_TEXT))
            continue;
        if (column->look == REPORT_BLANK) {
            fprintf(out, "%*s ", column->width, "");
            continue;
        }
        const struct amount amount = column->value(row);
        print_cell(table, column, &amount, out);
    }
}

void report_table_put_row(const struct report_table *table, const void *row,
                          struct json_output *json)
{
    const char *group = NULL; /* that was begun */
    bool is_left_out = false; /* the group */
    for (size_t i = 0; i < table->count; i++) {
        const struct report_column *column = &table->columns[i];
        if (!column_is_in(table, column, REPORT_JSON, REPORT_SAMPLED_JSON))
            continue;
        const struct amount amount = column->value(row);
        if (column->group != group) {
            if (group != NULL && !is_left_out)
                json_end_object(json);
            group = column->group;
            is_left_out = group != NULL && amount.state == AMOUNT_NONE;
            if (group != NULL && !is_left_out)
                json_begin_object(json, group);
        }
        if (!is_left_out)
            (table->has_bounds_beside ? amount_put_members : amount_put_json)(&amount, column->key,
                                                                              json);
    }
    if (group != NULL && !is_left_out)
        json_end_object(json);
}

void report_table_put_page_heads(const struct report_table *table, const void *row,
                                 struct json_output *json)
{
    for (size_t i = 0; i < table->count; i++) {
        const struct report_column *column = &table->columns[i];
        if (!column_is_in(table, column, REPORT_PAGE, REPORT_SAMPLED_PAGE))
            continue;
        json_begin_array(json, NULL);
        json_text(json, NULL, column->key);
        json_text(json, NULL, column->heading);
        json_text(json, NULL, amount_unit_name(column->value(row).unit));
        json_end_array(json);
    }
}

void report_table_put_page_row(const struct report_table *table, const void *row, bool with_keys,
                               struct json_output *json)
{
    for (size_t i = 0; i < table->count; i++) {
        const struct report_column *column = &table->columns[i];
        if (!column_is_in(table, column, REPORT_PAGE, REPORT_SAMPLED_PAGE))
            continue;
        const struct amount amount = column->value(row);
        const char *key = with_keys ? column->key : NULL;
        if (amount.state == AMOUNT_NONE)
            json_null(json, key);
        else
            (amount.is_estimate ? amount_put_array : amount_put_json)(&amount, key, json);
    }
}

void report_table_put_csv_head(const struct report_table *table, FILE *out)
{
    const char *separator = "";
    for (size_t i = 0; i < table->count; i++) {
        const struct report_column *column = &table->columns[i];
        if (!column_is_in(table, column, REPORT_CSV, REPORT_SAMPLED_CSV))
            continue;
        fputs(separator, out);
        amount_put_csv_title(column->key, has_range(table, column), out);
        separator = ",";
    }
}

void report_table_put_csv_row(const struct report_table *table, const void *row, FILE *out)
{
    const char *separator = "";
    for (size_t i = 0; i < table->count; i++) {
        const struct report_column *column = &table->columns[i];
        if (!column_is_in(table, column, REPORT_CSV, REPORT_SAMPLED_CSV))
            continue;
        const struct amount amount = column->value(row);
        fputs(separator, out);
        amount_put_csv(&amount, out);
        separator = ",";
    }
}
