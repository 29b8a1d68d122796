/* SPDX-License-Identifier: Apache-2.0 */
/* Prints which allocations the JIT compiler removed, as text and as JSON. */
#include "converter/base/error_report.h"
#include "converter/base/quantity.h"
#include "converter/base/table_text.h"
#include "converter/sites/escape.h"
#include "converter/sites/site_report.h"

static void put_amount(const char *name, const struct site_amount *amount, FILE *out)
{
    fprintf(out, "%-10s %s object%s, %s", name, quantity_of_count(amount->objects).text,
            plural(amount->objects), quantity_of_bytes((double) amount->bytes).text);
}

static void put_head(const struct site_report *report, const struct escape_rows *rows, FILE *out)
{
    const struct jit_log *log = report->jit;
    fprintf(out, "trace      %s\n", report->path);
    put_amount("allocated", &rows->made, out);
    if (report->not_source != NULL)
        fprintf(out, ", at least: %s", report->not_source);
    fprintf(out, "\njit log    %s: %s compilations by C2, %s of them removed allocations%s\n",
            log->path, quantity_of_count(log->compilations).text,
            quantity_of_count(log->removing).text, log->is_complete ? "" : "; its end is missing");
    put_amount("removed", &rows->removed, out);
    fputs(log->is_complete ? " at most" : " at most, by what is left of the log", out);
    if (rows->removed.objects > 0 && rows->not_estimated.objects == 0)
        fprintf(out, "; about %s, %s",
                quantity_of_count((uint64_t) (rows->estimate_objects + 0.5)).text,
                quantity_of_bytes(rows->estimate_bytes).text);
    else if (rows->removed.objects > 0)
        fprintf(out, "; no estimate for %s of these objects",
                quantity_of_count(rows->not_estimated.objects).text);
    fputs(
        "\nThe log says which code does not allocate, not how often it ran. Of the sites below\n"
        "between none and `at most` objects were removed; the log names no others. `about` takes\n"
        "each call and each round of a loop outside C2's code for one allocation.\n",
        out);
    if (rows->without_index.objects > 0)
        fprintf(out, "%s object%s from native methods or without a call stack.\n",
                quantity_of_count(rows->without_index.objects).text,
                plural(rows->without_index.objects));
    if (rows->unmatched > 0)
        fprintf(out, "%s place%s of the log where the trace has no allocation.\n",
                quantity_of_count(rows->unmatched).text, plural(rows->unmatched));
}

static struct step_bytes class_name(const struct site_report *report, uint32_t class_id)
{
    return trace_class_of(report->sites->names, class_id)->name;
}

static void put_roots(const struct site_report *report, const struct jit_place *place, FILE *out)
{
    fprintf(out, "%51s", "in code of");
    for (size_t i = 0; i < JIT_ROOTS && place->roots[i] != 0; i++) {
        fputs(i == 0 ? " " : ", ", out);
        print_shown(report->jit->texts.entries[place->roots[i]].text, out);
    }
    fputs(place->more_roots ? ", ...\n" : "\n", out);
}

static void put_row(const struct site_report *report, const struct escape_row *row, FILE *out)
{
    const struct trace_names *names = report->sites->names;
    const struct trace_method *method = trace_method_of(names, row->method_id);
    const struct jit_place *place = row->place;
    char counts[64] = "-", about[32] = "?", site[FRAME_TEXT];
    if (place != NULL)
        snprintf(counts, sizeof counts, "%u of %u", place->removed + place->partly,
                 row->method->compiled);
    if (row->estimate >= 0)
        snprintf(about, sizeof about, "%s",
                 quantity_of_count((uint64_t) (row->estimate + 0.5)).text);
    size_t length =
        frame_text(class_name(report, method->class_id), method->name,
                   trace_place(names, row->method_id, row->line, row->bytecode), site, sizeof site);
    fprintf(out, "%12s %12s %12s %12s %10s ", quantity_of_bytes((double) row->made.bytes).text,
            quantity_of_count(row->made.objects).text, quantity_of_count(row->removed.objects).text,
            about, counts);
    fprintf(out, "%9u  ", place != NULL ? place->discarded : 0);
    print_shown(class_name(report, row->class_id), out);
    fputs("  ", out);
    print_shown((struct step_bytes){(const uint8_t *) site, length}, out);
    fprintf(out, row->line != 0 && row->bytecode != 0 ? "@%u\n" : "\n", row->bytecode - 1);
    if (place != NULL)
        put_roots(report, place, out);
}

static size_t removed_rows(const struct escape_rows *rows)
{
    size_t count = 0;
    while (count < rows->count && rows->items[count].removed.objects > 0)
        count++;
    return count;
}

void escape_print_text(const struct site_report *report, FILE *out)
{
    struct escape_rows rows;
    if (!escape_join(&rows, report->lives, report->sites->names, report->jit)) {
        report_no_memory();
        return;
    }
    size_t count = removed_rows(&rows), shown = table_shown(report->top, count);
    put_head(report, &rows, out);
    if (count > 0)
        fprintf(out, "\n%12s %12s %12s %12s %10s %9s  %s\n", "bytes", "objects", "at most", "about",
                "compiled", "discarded", "site");
    for (size_t i = 0; i < shown; i++)
        put_row(report, &rows.items[i], out);
    table_print_rest(shown, count, "sites");
    escape_reset(&rows);
}

static void json_row(const struct site_report *report, const struct escape_row *row,
                     struct json_output *json)
{
    const struct trace_names *names = report->sites->names;
    const struct trace_method *method = trace_method_of(names, row->method_id);
    json_begin_object(json, NULL);
    json_bytes(json, "class", class_name(report, row->class_id));
    json_bytes(json, "method_class", class_name(report, method->class_id));
    json_bytes(json, "method", method->name);
    json_bytes(json, "descriptor", method->descriptor);
    if (row->bytecode != 0)
        json_number(json, "bytecode", row->bytecode - 1);
    else
        json_null(json, "bytecode");
    json_number(json, "line", row->line);
    json_number(json, "objects", row->made.objects);
    json_number(json, "bytes", row->made.bytes);
    json_number(json, "removed_at_most", row->removed.objects);
    if (row->estimate >= 0)
        json_real(json, "removed_about", row->estimate);
    else
        json_null(json, "removed_about");
    json_number(json, "compilations", row->method != NULL ? row->method->compiled : 0);
    json_number(json, "removed", row->place != NULL ? row->place->removed : 0);
    json_number(json, "removed_partly", row->place != NULL ? row->place->partly : 0);
    json_number(json, "discarded", row->place != NULL ? row->place->discarded : 0);
    json_begin_array(json, "in_code_of");
    for (size_t i = 0; row->place != NULL && i < JIT_ROOTS && row->place->roots[i] != 0; i++)
        json_bytes(json, NULL, report->jit->texts.entries[row->place->roots[i]].text);
    json_end_array(json);
    json_end_object(json);
}

void escape_print_json(const struct site_report *report, FILE *out)
{
    struct json_output json;
    struct escape_rows rows;
    if (!escape_join(&rows, report->lives, report->sites->names, report->jit)) {
        report_no_memory();
        return;
    }
    size_t shown = table_shown(report->top, rows.count);
    json_open(&json, out);
    json_text(&json, "trace", report->path);
    json_bool(&json, "is_lower_bound", report->not_source != NULL);
    json_number(&json, "objects", rows.made.objects);
    json_number(&json, "bytes", rows.made.bytes);
    json_number(&json, "removed_at_most", rows.removed.objects);
    json_number(&json, "removed_bytes_at_most", rows.removed.bytes);
    json_real(&json, "removed_about", rows.estimate_objects);
    json_real(&json, "removed_bytes_about", rows.estimate_bytes);
    json_number(&json, "not_estimated", rows.not_estimated.objects);
    json_bool(&json, "log_is_complete", report->jit->is_complete);
    json_number(&json, "compilations", report->jit->compilations);
    json_number(&json, "unmatched_places", rows.unmatched);
    json_number(&json, "site_count", rows.count);
    json_begin_array(&json, "sites");
    for (size_t i = 0; i < shown; i++)
        json_row(report, &rows.items[i], &json);
    json_end_array(&json);
    json_close(&json);
    escape_reset(&rows);
}
