/* SPDX-License-Identifier: Apache-2.0 */
/* Prints totals: as tables for people, as CSV with a row for each class and layout, and as JSON. */
#include <inttypes.h>

#include "analyses/layout/layout_totals.h"
#include "converter/cli/csv_output.h"
#include "converter/cli/error_report.h"
#include "converter/cli/table_text.h"
#include "converter/numbers/quantity.h"
#include "format/json/json_output.h"

static void layout_report_print_head(const struct layout_totals *totals)
{
    const struct object_layout *traced = &totals->layouts[0];
    printf("trace      %s\n", totals->path);
    printf("objects    %s", quantity_of_count(totals->objects).text);
    printf(", of which %s existed when tracing began\n", quantity_of_count(totals->existing).text);
    printf("traced     header=%" PRIu32 ",reference=%" PRIu32 ",alignment=%" PRIu32 "\n\n",
           traced->header, traced->reference, traced->alignment);
}

static void print_layouts(const struct layout_totals *totals)
{
    printf("%4s %18s %18s %9s  %s\n", "", "bytes", "error", "of traced", "layout");
    for (size_t i = 0; i < totals->layout_count; i++) {
        uint64_t bytes = totals->all.bytes[i], error = totals->all.errors[i];
        double share = totals->all.bytes[0] > 0
                           ? 100.0 * (double) bytes / (double) totals->all.bytes[0]
                           : 100.0;
        char number[8], errors[48] = "exact";
        snprintf(number, sizeof number, "[%zu]", i);
        if (error > 0)
            snprintf(errors, sizeof errors, "+-%s", quantity_of_count(error).text);
        printf("%4s %18s %18s %7.1f %%  %s\n", number, quantity_of_count(bytes).text, errors, share,
               totals->layouts[i].name);
    }
    const struct value_counts *values = &totals->values;
    if (values->flat + values->large + values->impossible > 0)
        printf("Value classes: %zu flattened, %zu only into other value classes (more than 8\n"
               "bytes); %zu named that cannot be (subclasses, or inherited fields). Their objects\n"
               "count as if all stayed on the heap; flattened they may take nothing: the error.\n",
               values->flat, values->large, values->impossible);
    if (totals->uncertain > 0)
        printf("The errors are of %zu class%s, whose figures are marked with ~ "
               "(docs/layout.md).\n",
               totals->uncertain, totals->uncertain == 1 ? "" : "es");
}

static void layout_report_print_row(const struct layout_totals *totals,
                                    const struct layout_row *row)
{
    printf("%12" PRIu64, row->objects);
    for (size_t i = 0; i < totals->layout_count; i++) {
        char text[32];
        snprintf(text, sizeof text, "%s%" PRIu64, row->errors[i] > 0 ? "~" : "", row->bytes[i]);
        printf(" %14s", text);
    }
    fputs("  ", stdout);
    print_shown(row->name, stdout);
    putchar('\n');
}

void layout_print_text(const struct layout_totals *totals, uint64_t top)
{
    layout_report_print_head(totals);
    print_layouts(totals);
    printf("\n%12s", "objects");
    for (size_t i = 0; i < totals->layout_count; i++) {
        char text[32];
        snprintf(text, sizeof text, "bytes [%zu]", i);
        printf(" %14s", text);
    }
    fputs("  class\n", stdout);
    size_t shown = table_shown(top, totals->row_count);
    for (size_t i = 0; i < shown; i++)
        layout_report_print_row(totals, &totals->rows[i]);
    table_print_rest(shown, totals->row_count, "classes");
}

void layout_print_csv(const struct layout_totals *totals)
{
    fputs("class,layout,header,reference,alignment,objects,bytes,error\n", stdout);
    for (size_t row = 0; row < totals->row_count; row++) {
        for (size_t i = 0; i < totals->layout_count; i++) {
            const struct object_layout *layout = &totals->layouts[i];
            csv_put_shown_text(totals->rows[row].name, stdout);
            putchar(',');
            csv_put_shown_text(step_text(layout->name), stdout);
            printf(",%" PRIu32 ",%" PRIu32 ",%" PRIu32 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 "\n",
                   layout->header, layout->reference, layout->alignment, totals->rows[row].objects,
                   totals->rows[row].bytes[i], totals->rows[row].errors[i]);
        }
    }
}

static void put_layouts(const struct layout_totals *totals, struct json_output *json)
{
    json_begin_array(json, "layouts");
    for (size_t i = 0; i < totals->layout_count; i++) {
        const struct object_layout *layout = &totals->layouts[i];
        json_begin_object(json, NULL);
        json_text(json, "name", layout->name);
        json_number(json, "header", layout->header);
        json_number(json, "reference", layout->reference);
        json_number(json, "alignment", layout->alignment);
        json_bool(json, "values", layout->values);
        json_bool(json, "old_fields", layout->old_fields);
        json_number(json, "bytes", totals->all.bytes[i]);
        json_number(json, "error", totals->all.errors[i]);
        json_end_object(json);
    }
    json_end_array(json);
}

void layout_print_json(const struct layout_totals *totals)
{
    struct json_output json;
    json_open(&json, stdout);
    json_text(&json, "trace", totals->path);
    json_number(&json, "objects", totals->objects);
    json_number(&json, "existing", totals->existing);
    json_bool(&json, "is_exact", totals->uncertain == 0);
    put_layouts(totals, &json);
    json_begin_object(&json, "value_classes");
    json_number(&json, "flattened", totals->values.flat);
    json_number(&json, "large", totals->values.large);
    json_number(&json, "impossible", totals->values.impossible);
    json_end_object(&json);
    json_begin_array(&json, "classes");
    for (size_t i = 0; i < totals->row_count; i++) {
        const struct layout_row *row = &totals->rows[i];
        json_begin_object(&json, NULL);
        json_bytes(&json, "class", row->name);
        json_number(&json, "objects", row->objects);
        json_numbers(&json, "bytes", row->bytes, totals->layout_count, sizeof(uint64_t));
        json_numbers(&json, "error", row->errors, totals->layout_count, sizeof(uint64_t));
        json_end_object(&json);
    }
    json_end_array(&json);
    json_close(&json);
}
