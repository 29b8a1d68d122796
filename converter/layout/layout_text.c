/* SPDX-License-Identifier: Apache-2.0 */
/* Prints totals as tables for people. */
#include <inttypes.h>

#include "converter/base/error_report.h"
#include "converter/base/quantity.h"
#include "converter/base/table_text.h"

#include "converter/layout/layout_totals.h"

static void print_head(const struct layout_totals *totals, FILE *out)
{
    const struct object_layout *traced = &totals->layouts[0];
    fprintf(out, "trace      %s\n", totals->path);
    fprintf(out, "objects    %s", quantity_of_count(totals->objects).text);
    fprintf(out, ", of which %s existed when tracing began\n",
            quantity_of_count(totals->existing).text);
    fprintf(out, "traced     header=%" PRIu32 ",reference=%" PRIu32 ",alignment=%" PRIu32 "\n\n",
            traced->header, traced->reference, traced->alignment);
}

static void print_layouts(const struct layout_totals *totals, FILE *out)
{
    fprintf(out, "%4s %18s %18s %9s  %s\n", "", "bytes", "error", "of traced", "layout");
    for (size_t i = 0; i < totals->layout_count; i++) {
        uint64_t bytes = totals->all.bytes[i], error = totals->all.errors[i];
        double share = totals->all.bytes[0] > 0
                           ? 100.0 * (double) bytes / (double) totals->all.bytes[0]
                           : 100.0;
        char number[8], errors[48] = "exact";
        snprintf(number, sizeof number, "[%zu]", i);
        if (error > 0)
            snprintf(errors, sizeof errors, "+-%s", quantity_of_count(error).text);
        fprintf(out, "%4s %18s %18s %7.1f %%  %s\n", number, quantity_of_count(bytes).text, errors,
                share, totals->layouts[i].name);
    }
    const struct value_counts *values = &totals->values;
    if (values->flat + values->large + values->impossible > 0)
        fprintf(
            out,
            "Value classes: %zu flattened, %zu only into other value classes (more than 8\n"
            "bytes); %zu named that cannot be (subclasses, or inherited fields). Their objects\n"
            "count as if all stayed on the heap; flattened they may take nothing: the error.\n",
            values->flat, values->large, values->impossible);
    if (totals->uncertain > 0)
        fprintf(out,
                "The errors are of %zu class%s, whose figures are marked with ~ "
                "(docs/layout.md).\n",
                totals->uncertain, totals->uncertain == 1 ? "" : "es");
}

static void print_row(const struct layout_totals *totals, const struct layout_row *row, FILE *out)
{
    fprintf(out, "%12" PRIu64, row->objects);
    for (size_t i = 0; i < totals->layout_count; i++) {
        char text[32];
        snprintf(text, sizeof text, "%s%" PRIu64, row->errors[i] > 0 ? "~" : "", row->bytes[i]);
        fprintf(out, " %14s", text);
    }
    fputs("  ", out);
    print_shown(row->name, out);
    fputc('\n', out);
}

void layout_print_text(const struct layout_totals *totals, uint64_t top, FILE *out)
{
    print_head(totals, out);
    print_layouts(totals, out);
    fprintf(out, "\n%12s", "objects");
    for (size_t i = 0; i < totals->layout_count; i++) {
        char text[32];
        snprintf(text, sizeof text, "bytes [%zu]", i);
        fprintf(out, " %14s", text);
    }
    fputs("  class\n", out);
    size_t shown = table_shown(top, totals->row_count);
    for (size_t i = 0; i < shown; i++)
        print_row(totals, &totals->rows[i], out);
    table_print_rest(shown, totals->row_count, "classes");
}
