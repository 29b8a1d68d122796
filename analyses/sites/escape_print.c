/* SPDX-License-Identifier: Apache-2.0 */
/* Prints which allocations the JIT compiler removed, as text and as JSON. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyses/sites/jit_log.h"
#include "analyses/sites/site_lives.h"
#include "analyses/sites/site_report.h"
#include "converter/cli/error_report.h"
#include "converter/cli/table_text.h"
#include "converter/numbers/quantity.h"
#include "converter/trace/names.h"

/* ---- the sites of a trace with the log of the JIT compiler of an untraced run ---- */

/* The allocations of a class at a bytecode index. */
struct escape_row {
    uint32_t class_id, method_id;
    uint32_t bytecode;               /* 1 + index; 0: none, as in a native method */
    uint32_t line;                   /* 0: unknown */
    struct site_amount made;         /* in the source's sense */
    struct site_amount removed;      /* of these, at most; at least none */
    double estimate;                 /* objects that were removed; below 0: there is none */
    const struct jit_place *place;   /* NULL: no compilation removed it at its index */
    const struct jit_method *method; /* NULL: the log does not name it */
};

struct escape_rows {
    struct escape_row *items; /* those with most bytes removed first */
    size_t count;
    struct site_amount made, removed, without_index;
    double estimate_objects, estimate_bytes; /* of the rows that have one */
    struct site_amount not_estimated;        /* removed at most, of rows that have none */
    uint64_t unmatched;                      /* places of the log at which the trace has no site */
};

/* Finds the method of a frame in the log. */
static uint32_t method_in_log(const struct jit_log *log, const struct trace_names *names,
                              uint32_t method_id)
{
    const struct trace_method *method = trace_method_of(names, method_id);
    const struct step_bytes class = trace_class_of(names, method->class_id)->name;
    char text[16384];
    int length =
        snprintf(text, sizeof text, "%.*s %.*s %.*s", (int) class.length, (const char *) class.data,
                 (int) method->name.length, (const char *) method->name.data,
                 (int) method->descriptor.length, (const char *) method->descriptor.data);
    if (length < 0 || (size_t) length >= sizeof text)
        return 0;
    return jit_log_method(log, (struct step_bytes){(const uint8_t *) text, (size_t) length});
}

/* The JVM makes other objects at a bytecode that it meets for the first time. */
static bool escape_print_is_class(const struct jit_log *log, uint32_t text, struct step_bytes name)
{
    if (text == 0)
        return true;
    const struct step_bytes known = log->texts.entries[text].text;
    return known.length == name.length && memcmp(known.data, name.data, name.length) == 0;
}

static struct jit_place *escape_print_place_of(const struct jit_log *log,
                                               const struct trace_names *names,
                                               const struct trace_frame *frame,
                                               struct step_bytes class)
{
    if (!frame->known || frame->bytecode == 0)
        return NULL;
    struct jit_place *place =
        jit_log_place(log, method_in_log(log, names, frame->method_id), frame->bytecode - 1);
    if (place == NULL || !escape_print_is_class(log, place->class, class))
        return NULL;
    place->matched = true;
    return place;
}

/* What a native method makes that the compiler knows is removed with the call that makes it: the
 * log names the caller. */
static bool is_removed_by_caller(const struct jit_log *log, const struct trace_names *names,
                                 const struct trace_frame *frame, struct step_bytes class)
{
    const struct trace_frame *caller = trace_frame_of(names, frame->parent);
    const struct jit_place *place =
        frame->parent != 0 ? escape_print_place_of(log, names, caller, class) : NULL;
    return place != NULL && (place->by_call || frame->bytecode == 0);
}

/* C2 also removes whole calls of valueOf() of a class of boxes, without an entry in the log. */
static bool is_box(const struct trace_names *names, const struct trace_frame *frame,
                   struct step_bytes class)
{
    static const char *const boxes[] = {"Boolean", "Byte",    "Character", "Double",
                                        "Float",   "Integer", "Long",      "Short"};
    static const char package[] = "java/lang/";
    size_t prefix = sizeof package - 1;
    const struct step_bytes name = trace_method_of(names, frame->method_id)->name;
    if (name.length != 7 || memcmp(name.data, "valueOf", 7) != 0 || class.length <= prefix ||
        memcmp(class.data, package, prefix) != 0)
        return false;
    for (size_t i = 0; i < sizeof boxes / sizeof boxes[0]; i++)
        if (strlen(boxes[i]) == class.length - prefix &&
            memcmp(class.data + prefix, boxes[i], class.length - prefix) == 0)
            return true;
    return false;
}

static int escape_print_by_place(const void *left, const void *right)
{
    const struct escape_row *a = left, *b = right;
    if (a->class_id != b->class_id)
        return a->class_id < b->class_id ? -1 : 1;
    if (a->method_id != b->method_id)
        return a->method_id < b->method_id ? -1 : 1;
    return a->bytecode < b->bytecode ? -1 : a->bytecode > b->bytecode;
}

static int escape_print_by_bytes(const void *left, const void *right)
{
    const struct escape_row *a = left, *b = right;
    if (a->removed.bytes != b->removed.bytes)
        return a->removed.bytes > b->removed.bytes ? -1 : 1;
    if (a->made.bytes != b->made.bytes)
        return a->made.bytes > b->made.bytes ? -1 : 1;
    return escape_print_by_place(left, right);
}

static void escape_print_add(struct site_amount *sum, const struct site_amount *part)
{
    sum->objects += part->objects;
    sum->bytes += part->bytes;
}

/* C2's code does not count calls: what the log counts was in other code.  That allocates, if only
 * for the calls that C2's code does not serve. */
static void estimate(struct escape_row *row)
{
    const struct jit_place *place = row->place;
    row->estimate = -1;
    if (row->removed.objects == 0)
        row->estimate = 0;
    else if (place != NULL && place->partly == 0 && place->removed >= row->method->compiled &&
             row->removed.objects == row->made.objects) {
        double outside = (double) row->method->calls + (double) row->method->loops;
        double made = (double) row->made.objects;
        row->estimate = outside < made ? made - outside : 0;
    }
}

static void escape_print_sum_up(struct escape_rows *rows)
{
    for (size_t i = 0; i < rows->count; i++) {
        struct escape_row *row = &rows->items[i];
        estimate(row);
        escape_print_add(&rows->made, &row->made);
        escape_print_add(&rows->removed, &row->removed);
        if (row->estimate < 0)
            escape_print_add(&rows->not_estimated, &row->removed);
        else if (row->estimate > 0) {
            rows->estimate_objects += row->estimate;
            rows->estimate_bytes +=
                row->estimate * ((double) row->made.bytes / (double) row->made.objects);
        }
    }
}

static void escape_print_put_site(struct escape_row *row, const struct site_life *life,
                                  const struct trace_names *names, const struct jit_log *log)
{
    const struct trace_frame *frame = trace_frame_of(names, life->key.stack_id);
    *row = (struct escape_row){.class_id = life->key.class_id, .made = life->born};
    if (life->key.stack_id == 0 || !frame->known)
        return;
    row->method_id = frame->method_id;
    row->bytecode = frame->bytecode;
    row->line = frame->line;
    uint32_t method = method_in_log(log, names, frame->method_id);
    row->method = method != 0 ? &log->methods[method] : NULL;
    const struct step_bytes class = trace_class_of(names, life->key.class_id)->name;
    row->place = escape_print_place_of(log, names, frame, class);
    if (row->place != NULL || is_removed_by_caller(log, names, frame, class) ||
        (row->method != NULL && is_box(names, frame, class)))
        row->removed = life->born;
}

/* Returns false if out of memory.  The caller frees `rows->items` in each case. */
static bool escape_join(struct escape_rows *rows, const struct site_lives *lives,
                        const struct trace_names *names, struct jit_log *log)
{
    *rows = (struct escape_rows){.items = calloc(lives->count + 1, sizeof *rows->items)};
    if (rows->items == NULL)
        return false;
    for (size_t i = 0; i < lives->count; i++) {
        escape_print_put_site(&rows->items[i], &lives->items[i], names, log);
        if (rows->items[i].bytecode == 0)
            escape_print_add(&rows->without_index, &rows->items[i].made);
    }
    if (lives->count > 0)
        qsort(rows->items, lives->count, sizeof *rows->items, escape_print_by_place);
    for (size_t i = 0; i < lives->count; i++)
        if (rows->count > 0 &&
            escape_print_by_place(&rows->items[rows->count - 1], &rows->items[i]) == 0) {
            escape_print_add(&rows->items[rows->count - 1].made, &rows->items[i].made);
            escape_print_add(&rows->items[rows->count - 1].removed, &rows->items[i].removed);
        } else {
            rows->items[rows->count++] = rows->items[i];
        }
    escape_print_sum_up(rows);
    if (rows->count > 0)
        qsort(rows->items, rows->count, sizeof *rows->items, escape_print_by_bytes);
    for (size_t i = 1; i <= log->place_count; i++)
        rows->unmatched += !log->places[i].matched;
    return true;
}

static void put_amount(const char *name, const struct site_amount *amount)
{
    printf("%-10s %s object%s, %s", name, quantity_of_count(amount->objects).text,
           plural(amount->objects), quantity_of_bytes((double) amount->bytes).text);
}

static void escape_print_put_head(const struct site_report *report, const struct escape_rows *rows)
{
    const struct jit_log *log = report->jit;
    printf("trace      %s\n", report->path);
    put_amount("allocated", &rows->made);
    if (report->not_source != NULL)
        printf(", at least: %s", report->not_source);
    printf("\njit log    %s: %s compilations by C2, %s of them removed allocations%s\n", log->path,
           quantity_of_count(log->compilations).text, quantity_of_count(log->removing).text,
           log->is_complete ? "" : "; its end is missing");
    put_amount("removed", &rows->removed);
    fputs(log->is_complete ? " at most" : " at most, by what is left of the log", stdout);
    if (rows->removed.objects > 0 && rows->not_estimated.objects == 0)
        printf("; about %s, %s", quantity_of_count((uint64_t) (rows->estimate_objects + 0.5)).text,
               quantity_of_bytes(rows->estimate_bytes).text);
    else if (rows->removed.objects > 0)
        printf("; no estimate for %s of these objects",
               quantity_of_count(rows->not_estimated.objects).text);
    puts("\nThe log says which code does not allocate, not how often it ran. Of the sites below\n"
         "between none and `at most` objects were removed; the log names no others. `about` takes\n"
         "each call and each round of a loop outside C2's code for one allocation.");
    if (rows->without_index.objects > 0)
        printf("%s object%s from native methods or without a call stack.\n",
               quantity_of_count(rows->without_index.objects).text,
               plural(rows->without_index.objects));
    if (rows->unmatched > 0)
        printf("%s place%s of the log where the trace has no allocation.\n",
               quantity_of_count(rows->unmatched).text, plural(rows->unmatched));
}

static struct step_bytes escape_print_class_name(const struct site_report *report,
                                                 uint32_t class_id)
{
    return trace_class_of(report->sites->names, class_id)->name;
}

static void escape_print_put_roots(const struct site_report *report, const struct jit_place *place)
{
    printf("%51s", "in code of");
    for (size_t i = 0; i < JIT_ROOTS && place->roots[i] != 0; i++) {
        fputs(i == 0 ? " " : ", ", stdout);
        print_shown(report->jit->texts.entries[place->roots[i]].text, stdout);
    }
    fputs(place->more_roots ? ", ...\n" : "\n", stdout);
}

static void escape_print_put_row(const struct site_report *report, const struct escape_row *row)
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
        frame_text(escape_print_class_name(report, method->class_id), method->name,
                   trace_place(names, row->method_id, row->line, row->bytecode), site, sizeof site);
    printf("%12s %12s %12s %12s %10s ", quantity_of_bytes((double) row->made.bytes).text,
           quantity_of_count(row->made.objects).text, quantity_of_count(row->removed.objects).text,
           about, counts);
    printf("%9u  ", place != NULL ? place->discarded : 0);
    print_shown(escape_print_class_name(report, row->class_id), stdout);
    fputs("  ", stdout);
    print_shown((struct step_bytes){(const uint8_t *) site, length}, stdout);
    printf(row->line != 0 && row->bytecode != 0 ? "@%u\n" : "\n", row->bytecode - 1);
    if (place != NULL)
        escape_print_put_roots(report, place);
}

static size_t removed_rows(const struct escape_rows *rows)
{
    size_t count = 0;
    while (count < rows->count && rows->items[count].removed.objects > 0)
        count++;
    return count;
}

void escape_print_text(const struct site_report *report)
{
    struct escape_rows rows;
    if (!escape_join(&rows, report->lives, report->sites->names, report->jit)) {
        report_no_memory();
        return;
    }
    size_t count = removed_rows(&rows), shown = table_shown(report->top, count);
    escape_print_put_head(report, &rows);
    if (count > 0)
        printf("\n%12s %12s %12s %12s %10s %9s  %s\n", "bytes", "objects", "at most", "about",
               "compiled", "discarded", "site");
    for (size_t i = 0; i < shown; i++)
        escape_print_put_row(report, &rows.items[i]);
    table_print_rest(shown, count, "sites");
    free(rows.items);
}

static void json_row(const struct site_report *report, const struct escape_row *row,
                     struct json_output *json)
{
    const struct trace_names *names = report->sites->names;
    const struct trace_method *method = trace_method_of(names, row->method_id);
    json_begin_object(json, NULL);
    json_bytes(json, "class", escape_print_class_name(report, row->class_id));
    json_bytes(json, "method_class", escape_print_class_name(report, method->class_id));
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

void escape_print_json(const struct site_report *report)
{
    struct json_output json;
    struct escape_rows rows;
    if (!escape_join(&rows, report->lives, report->sites->names, report->jit)) {
        report_no_memory();
        return;
    }
    size_t shown = table_shown(report->top, rows.count);
    json_open(&json, stdout);
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
    free(rows.items);
}
