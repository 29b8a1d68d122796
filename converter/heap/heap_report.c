/* SPDX-License-Identifier: Apache-2.0 */
/* One list of rows, printed in three forms. */
#include "converter/heap/heap_report.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "converter/base/error_report.h"
#include "converter/base/quantity.h"
#include "converter/heap/heap_writer.h"
#include "format/core/grow.h"
#include "format/json/json_output.h"

/* A line of a table or of a difference. */
struct line {
    struct heap_key key;
    struct heap_amount amount;
    int64_t objects, bytes; /* the change */
};

static void class_name(const struct heap_report *report, const struct heap_key *key)
{
    print_shown(trace_class_of(report->sites->names, key->class_id)->name, stdout);
}

/* The innermost frames, with their callers behind them. */
static void site_name(const struct heap_report *report, const struct heap_key *key)
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

static void thread_name(const struct heap_report *report, const struct heap_key *key)
{
    const struct trace_thread *thread = trace_thread_of(report->sites->names, key->thread_id);
    printf("%" PRIu64 "%s", thread->number, thread->name.length > 0 ? " " : "");
    print_shown(thread->name, stdout);
}

static const struct column {
    enum heap_axis axis;
    const char *name;
    const char *plural;
    void (*print)(const struct heap_report *report, const struct heap_key *key);
} columns[] = {
    {HEAP_BY_CLASS, "class", "classes", class_name},
    {HEAP_BY_SITE, "site", "sites", site_name},
    {HEAP_BY_THREAD, "thread", "threads", thread_name},
};

#define COLUMNS (sizeof columns / sizeof columns[0])

static void print_keys(const struct heap_report *report, const struct heap_key *key,
                       const char *separator)
{
    bool is_first = true;
    for (size_t i = 0; i < COLUMNS; i++) {
        if ((report->axes & columns[i].axis) == 0)
            continue;
        printf("%s", is_first ? "" : separator);
        columns[i].print(report, key);
        is_first = false;
    }
}

static void print_titles(const struct heap_report *report, const char *separator)
{
    bool is_first = true;
    for (size_t i = 0; i < COLUMNS; i++) {
        if ((report->axes & columns[i].axis) == 0)
            continue;
        printf("%s%s", is_first ? "" : separator, columns[i].name);
        is_first = false;
    }
    putchar('\n');
}

static double share(uint64_t part, uint64_t whole)
{
    return whole > 0 ? 100.0 * (double) part / (double) whole : 0.0;
}

static bool has_ages(const struct heap_report *report)
{
    return !report->allocated && !report->is_import;
}

static struct quantity mean_age(const struct heap_amount *amount)
{
    return quantity_of_ns(
        amount->objects > 0 ? 1000.0 * (double) amount->ages_us / (double) amount->objects : 0);
}

/* Where they are exact, what lives is what was reachable. */
static void print_deaths(const struct heap_snapshot *snapshot)
{
    char deaths[DEATH_DATES_TEXT];
    death_dates_print(&snapshot->deaths, deaths, sizeof deaths);
    if (death_dates_are_exact(&snapshot->deaths))
        printf("%-9s %s\n", "deaths", deaths);
}

static void print_head(const struct heap_report *report, const struct heap_snapshot *snapshot)
{
    char moment[48];
    heap_moment_print(&snapshot->moment, moment, sizeof moment);
    const struct heap_amount *all = report->allocated ? &snapshot->allocated : &snapshot->live;
    printf("%-9s %s", "moment", moment);
    if (snapshot->moment.kind != HEAP_AT_TIME)
        printf(", %s", quantity_of_ns((double) snapshot->time_ns).text);
    printf(report->is_import ? ", dump %" PRIu64 "\n" : ", %" PRIu64 " collections before\n",
           snapshot->collections);
    print_deaths(snapshot);
    printf("%-9s %s objects, %s\n", report->allocated ? "allocated" : "live",
           quantity_of_count(all->objects).text, quantity_of_bytes((double) all->bytes).text);
    if (!snapshot->has_sizes)
        printf("(the trace does not tell the sizes of objects)\n");
}

static int by_bytes(const void *left, const void *right)
{
    const struct line *a = left;
    const struct line *b = right;
    uint64_t x = a->bytes < 0 ? 0 - (uint64_t) a->bytes : (uint64_t) a->bytes;
    uint64_t y = b->bytes < 0 ? 0 - (uint64_t) b->bytes : (uint64_t) b->bytes;
    if (x != y)
        return x > y ? -1 : 1;
    if (a->objects != b->objects)
        return a->objects > b->objects ? -1 : 1;
    return memcmp(&a->key, &b->key, sizeof a->key);
}

static size_t shown(const struct heap_report *report, size_t count)
{
    return report->top != 0 && report->top < count ? (size_t) report->top : count;
}

static void print_rest(const struct heap_report *report, size_t count)
{
    const char *what = "rows";
    for (size_t i = 0; i < COLUMNS; i++)
        if (report->axes == (unsigned) columns[i].axis)
            what = columns[i].plural;
    if (shown(report, count) < count)
        printf("  ... and %zu more %s (--top=0 shows all)\n", count - shown(report, count), what);
}

static void table_as_text(const struct heap_report *report, const struct heap_snapshot *snapshot,
                          const struct line *lines, size_t count)
{
    const struct heap_amount *all = report->allocated ? &snapshot->allocated : &snapshot->live;
    print_head(report, snapshot);
    printf("\n%12s %14s %6s %9s  ", "objects", "bytes", "%", has_ages(report) ? "mean age" : "");
    print_titles(report, ", ");
    for (size_t i = 0; i < shown(report, count); i++) {
        const struct heap_amount *amount = &lines[i].amount;
        printf("%12" PRIu64 " %14" PRIu64 " %6.1f %9s  ", amount->objects, amount->bytes,
               share(amount->bytes, all->bytes), has_ages(report) ? mean_age(amount).text : "");
        print_keys(report, &lines[i].key, ", ");
        putchar('\n');
    }
    print_rest(report, count);
}

static void json_moment(struct json_output *json, const char *key,
                        const struct heap_snapshot *snapshot)
{
    char moment[48];
    heap_moment_print(&snapshot->moment, moment, sizeof moment);
    json_begin_object(json, key);
    json_text(json, "at", moment);
    json_number(json, "time_ns", snapshot->time_ns);
    json_number(json, "collections", snapshot->collections);
    death_dates_put_json(&snapshot->deaths, json);
    json_number(json, "live_objects", snapshot->live.objects);
    json_number(json, "live_bytes", snapshot->live.bytes);
    json_number(json, "allocated_objects", snapshot->allocated.objects);
    json_number(json, "allocated_bytes", snapshot->allocated.bytes);
    json_end_object(json);
}

static void json_key(struct json_output *json, const struct heap_report *report,
                     const struct heap_key *key)
{
    char text[HEAP_SITE_TEXT];
    if ((report->axes & HEAP_BY_CLASS) != 0)
        json_bytes(json, "class", trace_class_of(report->sites->names, key->class_id)->name);
    if ((report->axes & HEAP_BY_THREAD) != 0)
        json_number(json, "thread", trace_thread_of(report->sites->names, key->thread_id)->number);
    if ((report->axes & HEAP_BY_SITE) == 0)
        return;
    json_begin_array(json, "site");
    for (uint32_t at = key->site; at != 0; at = report->sites->items[at].parent) {
        heap_site_print(report->sites, at, text, sizeof text);
        json_text(json, NULL, text);
    }
    json_end_array(json);
}

static void begin_json(struct json_output *json, const struct heap_report *report)
{
    json_init(json, stdout);
    json_begin_object(json, NULL);
    json_text(json, "trace", report->path);
    json_text(json, "what", report->allocated ? "allocated" : "live");
}

static void table_as_json(const struct heap_report *report, const struct heap_snapshot *snapshot,
                          const struct line *lines, size_t count)
{
    struct json_output json;
    begin_json(&json, report);
    json_moment(&json, "moment", snapshot);
    json_begin_array(&json, "rows");
    for (size_t i = 0; i < shown(report, count); i++) {
        const struct heap_amount *amount = &lines[i].amount;
        json_begin_object(&json, NULL);
        json_number(&json, "objects", amount->objects);
        json_number(&json, "bytes", amount->bytes);
        if (has_ages(report) && amount->objects > 0)
            json_number(&json, "mean_age_ns", amount->ages_us / amount->objects * 1000);
        json_key(&json, report, &lines[i].key);
        json_end_object(&json);
    }
    json_end_array(&json);
    json_end_object(&json);
    json_finish(&json);
}

/* A part of a name in quotes; those in it are doubled. */
static void csv_part(const char *text, size_t length)
{
    while (length > 0) {
        const char *quote = memchr(text, '"', length);
        size_t plain = quote != NULL ? (size_t) (quote - text) : length;
        print_shown((struct step_bytes){(const uint8_t *) text, plain}, stdout);
        if (quote != NULL)
            printf("\"\"");
        plain += quote != NULL;
        text += plain;
        length -= plain;
    }
}

static void csv_text(const char *text, size_t length)
{
    putchar('"');
    csv_part(text, length);
    putchar('"');
}

static void csv_site(const struct heap_report *report, uint32_t site)
{
    char text[HEAP_SITE_TEXT];
    printf(",\"");
    for (const char *separator = ""; site != 0; site = report->sites->items[site].parent) {
        size_t length = heap_site_print(report->sites, site, text, sizeof text);
        printf("%s", separator);
        csv_part(text, length);
        separator = ";";
    }
    putchar('"');
}

static void csv_key(const struct heap_report *report, const struct heap_key *key)
{
    if ((report->axes & HEAP_BY_CLASS) != 0) {
        struct step_bytes name = trace_class_of(report->sites->names, key->class_id)->name;
        putchar(',');
        csv_text((const char *) name.data, name.length);
    }
    if ((report->axes & HEAP_BY_SITE) != 0)
        csv_site(report, key->site);
    if ((report->axes & HEAP_BY_THREAD) != 0)
        printf(",%" PRIu64, trace_thread_of(report->sites->names, key->thread_id)->number);
    printf("\r\n");
}

static void csv_titles(const struct heap_report *report, const char *numbers)
{
    printf("%s", numbers);
    for (size_t i = 0; i < COLUMNS; i++)
        if ((report->axes & columns[i].axis) != 0)
            printf(",%s", columns[i].name);
    printf("\r\n");
}

static void table_as_csv(const struct heap_report *report, const struct line *lines, size_t count)
{
    csv_titles(report, "objects,bytes");
    for (size_t i = 0; i < shown(report, count); i++) {
        printf("%" PRIu64 ",%" PRIu64, lines[i].amount.objects, lines[i].amount.bytes);
        csv_key(report, &lines[i].key);
    }
}

bool heap_print_table(const struct heap_report *report, struct heap_snapshot *snapshot)
{
    struct line *lines = malloc((snapshot->count + 1) * sizeof *lines);
    size_t count = 0;
    if (lines == NULL)
        return false;
    memset(lines, 0, (snapshot->count + 1) * sizeof *lines);
    heap_snapshot_fold(snapshot, report->axes);
    for (size_t i = 0; i < snapshot->count; i++) {
        const struct heap_row *row = &snapshot->rows[i];
        const struct heap_amount *amount = report->allocated ? &row->allocated : &row->live;
        if (amount->objects != 0 || amount->bytes != 0)
            lines[count++] = (struct line){row->key, *amount, (int64_t) amount->objects,
                                           (int64_t) amount->bytes};
    }
    qsort(lines, count, sizeof *lines, by_bytes);
    if (report->form == HEAP_AS_TEXT)
        table_as_text(report, snapshot, lines, count);
    else if (report->form == HEAP_AS_JSON)
        table_as_json(report, snapshot, lines, count);
    else
        table_as_csv(report, lines, count);
    free(lines);
    return true;
}

static void changes_as_text(const struct heap_report *report, const struct heap_snapshot *before,
                            const struct heap_snapshot *after, const struct line *lines,
                            size_t count)
{
    print_head(report, before);
    print_head(report, after);
    printf("\n%13s %15s %14s  ", "objects", "bytes", "then");
    print_titles(report, ", ");
    for (size_t i = 0; i < shown(report, count); i++) {
        printf("%+13" PRId64 " %+15" PRId64 " %14" PRIu64 "  ", lines[i].objects, lines[i].bytes,
               lines[i].amount.bytes);
        print_keys(report, &lines[i].key, ", ");
        putchar('\n');
    }
    print_rest(report, count);
}

static void json_signed(struct json_output *json, const char *key, int64_t value)
{
    json_real(json, key, (double) value);
}

static void changes_as_json(const struct heap_report *report, const struct heap_snapshot *before,
                            const struct heap_snapshot *after, const struct line *lines,
                            size_t count)
{
    struct json_output json;
    begin_json(&json, report);
    json_moment(&json, "before", before);
    json_moment(&json, "after", after);
    json_begin_array(&json, "rows");
    for (size_t i = 0; i < shown(report, count); i++) {
        json_begin_object(&json, NULL);
        json_signed(&json, "objects", lines[i].objects);
        json_signed(&json, "bytes", lines[i].bytes);
        json_number(&json, "after_objects", lines[i].amount.objects);
        json_number(&json, "after_bytes", lines[i].amount.bytes);
        json_key(&json, report, &lines[i].key);
        json_end_object(&json);
    }
    json_end_array(&json);
    json_end_object(&json);
    json_finish(&json);
}

static void changes_as_csv(const struct heap_report *report, const struct line *lines, size_t count)
{
    csv_titles(report, "objects,bytes,after_objects,after_bytes");
    for (size_t i = 0; i < shown(report, count); i++) {
        printf("%" PRId64 ",%" PRId64 ",%" PRIu64 ",%" PRIu64, lines[i].objects, lines[i].bytes,
               lines[i].amount.objects, lines[i].amount.bytes);
        csv_key(report, &lines[i].key);
    }
}

bool heap_print_changes(const struct heap_report *report, struct heap_snapshot *before,
                        struct heap_snapshot *after)
{
    struct heap_change *changes = NULL;
    size_t count = 0;
    heap_snapshot_fold(before, report->axes);
    heap_snapshot_fold(after, report->axes);
    if (!heap_snapshot_compare(before, after, report->allocated, &changes, &count))
        return false;
    struct line *lines = calloc(count + 1, sizeof *lines);
    for (size_t i = 0; lines != NULL && i < count; i++)
        lines[i] =
            (struct line){changes[i].key, changes[i].after, changes[i].objects, changes[i].bytes};
    free(changes);
    if (lines == NULL)
        return false;
    qsort(lines, count, sizeof *lines, by_bytes);
    if (report->form == HEAP_AS_TEXT)
        changes_as_text(report, before, after, lines, count);
    else if (report->form == HEAP_AS_JSON)
        changes_as_json(report, before, after, lines, count);
    else
        changes_as_csv(report, lines, count);
    free(lines);
    return true;
}

/* A node of the tree whose children are being printed. */
struct open_node {
    size_t depth;
    uint64_t objects, bytes; /* that no child has accounted for yet */
    size_t children;
    uint64_t type_objects, type_bytes; /* that no type has accounted for yet */
    size_t types;
};

struct tree_printer {
    const struct heap_report *report;
    const struct heap_sites *sites;
    uint64_t total;
    struct open_node *open;
    size_t count, capacity;
};

static void tree_line(const struct tree_printer *printer, size_t depth, uint64_t objects,
                      uint64_t bytes)
{
    printf("%12" PRIu64 " %14" PRIu64 " %6.1f  ", objects, bytes, share(bytes, printer->total));
    if (depth > 200)
        printf("%*s(%zu) ", 200, "", depth);
    else
        printf("%*s", (int) depth, "");
}

/* Closes nodes at `depth` and deeper: what is left of them is <other>. */
static void close_nodes(struct tree_printer *printer, size_t depth)
{
    while (printer->count > 0 && printer->open[printer->count - 1].depth >= depth) {
        const struct open_node *node = &printer->open[--printer->count];
        if (node->children > 0 && (node->objects > 0 || node->bytes > 0)) {
            tree_line(printer, node->depth + 1, node->objects, node->bytes);
            printf("<other>\n");
        }
    }
}

/* After the types of a node: what is left of it is <other>, too. */
static void close_types(struct tree_printer *printer)
{
    if (printer->count == 0)
        return;
    struct open_node *node = &printer->open[printer->count - 1];
    if (node->types > 0 && (node->type_objects > 0 || node->type_bytes > 0)) {
        tree_line(printer, node->depth + 1, node->type_objects, node->type_bytes);
        printf("type <other>\n");
    }
    node->types = 0;
}

static bool open_node(struct tree_printer *printer, size_t depth,
                      const struct heap_dump_entry *entry)
{
    close_types(printer);
    close_nodes(printer, depth);
    if (printer->count > 0) {
        struct open_node *parent = &printer->open[printer->count - 1];
        parent->objects -= entry->objects;
        parent->bytes -= entry->bytes;
        parent->children++;
    }
    if (printer->count == printer->capacity) {
        struct open_node *open =
            step_grown(printer->open, &printer->capacity, printer->capacity + 1, sizeof *open);
        if (open == NULL)
            return false;
        printer->open = open;
    }
    printer->open[printer->count++] = (struct open_node){.depth = depth,
                                                         .objects = entry->objects,
                                                         .bytes = entry->bytes,
                                                         .type_objects = entry->objects,
                                                         .type_bytes = entry->bytes};
    return true;
}

/* Types stand beside the children: they break the same bytes down in another way. */
static bool print_entry(struct tree_printer *printer, const struct heap_dump_entry *entry,
                        size_t depth)
{
    char text[HEAP_SITE_TEXT];
    if (entry->has_class) {
        struct open_node *node = &printer->open[printer->count - 1];
        node->type_objects -=
            entry->objects < node->type_objects ? entry->objects : node->type_objects;
        node->type_bytes -= entry->bytes < node->type_bytes ? entry->bytes : node->type_bytes;
        node->types++;
        tree_line(printer, depth + 1, entry->objects, entry->bytes);
        printf("type ");
        print_shown(trace_class_of(printer->sites->names, entry->class_id)->name, stdout);
        putchar('\n');
        return true;
    }
    if (!open_node(printer, depth, entry))
        return false;
    tree_line(printer, depth, entry->objects, entry->bytes);
    if (entry->is_self || entry->site == 0)
        snprintf(text, sizeof text, "%s", entry->is_self ? "<self>" : "(all)");
    else
        heap_site_print(printer->sites, entry->site, text, sizeof text);
    print_shown_text(text, stdout);
    putchar('\n');
    return true;
}

static bool print_dump(struct tree_printer *printer, const struct heap_dump *dump)
{
    bool ok = true;
    uint32_t site = 0;
    size_t depth = 0;
    for (size_t i = 0; ok && i < dump->count; i++) {
        const struct heap_dump_entry *entry = &dump->entries[i];
        if (entry->site != site) {
            site = entry->site;
            depth = heap_sites_depth(printer->sites, site);
        }
        ok = print_entry(printer, entry, depth + entry->is_self);
    }
    close_types(printer);
    close_nodes(printer, 0);
    free(printer->open);
    return ok;
}

bool heap_print_tree(const struct heap_report *report, struct heap_snapshot *snapshot)
{
    struct heap_sites inverted = {.names = NULL};
    struct heap_snapshot turned = {.rows = NULL};
    struct heap_dump dump = {.entries = NULL};
    const struct heap_amount *all = report->allocated ? &snapshot->allocated : &snapshot->live;
    struct tree_printer printer = {.report = report, .sites = report->sites, .total = all->bytes};
    const struct heap_dump_options options = {
        .allocated = report->allocated,
        .with_classes = (report->axes & HEAP_BY_CLASS) != 0,
        .least_bytes = report->least.has_least ? heap_export_least_bytes(&report->least, all->bytes)
                                               : all->bytes / 100};
    bool ok = true;
    if (snapshot->dumped == NULL || report->tree == HEAP_BOTTOM_UP)
        heap_snapshot_fold(snapshot, HEAP_BY_SITE | (report->axes & HEAP_BY_CLASS));
    if (report->tree == HEAP_BOTTOM_UP) {
        ok = heap_sites_invert(report->sites, snapshot, &inverted, &turned);
        printer.sites = &inverted;
        snapshot = &turned;
    }
    ok = ok && heap_dump_make(printer.sites, snapshot, &options, &dump);
    if (ok) {
        print_head(report, snapshot);
        printf("\n%12s %14s %6s  site\n", "objects", "bytes", "%");
        ok = print_dump(&printer, &dump);
    }
    heap_dump_reset(&dump);
    heap_snapshot_reset(&turned);
    if (inverted.items != NULL)
        heap_sites_reset(&inverted);
    return ok;
}

void heap_ages_add(struct heap_ages *ages, uint64_t bytes, uint64_t age_us)
{
    struct heap_amount *bucket = &ages->buckets[age_us == 0 ? 0 : 64 - __builtin_clzll(age_us)];
    bucket->objects++;
    bucket->bytes += bytes;
    bucket->ages_us += age_us;
}

bool heap_print_ages(const struct heap_report *report, const struct heap_snapshot *snapshot,
                     const struct heap_ages *ages)
{
    print_head(report, snapshot);
    printf("\n%12s %14s %6s  age\n", "objects", "bytes", "%");
    for (unsigned i = 0; i < HEAP_AGES; i++) {
        const struct heap_amount *bucket = &ages->buckets[i];
        if (bucket->objects == 0)
            continue;
        double from_us = i == 0 ? 0 : (double) (UINT64_C(1) << (i - 1));
        printf("%12" PRIu64 " %14" PRIu64 " %6.1f  %s to %s\n", bucket->objects, bucket->bytes,
               share(bucket->bytes, snapshot->live.bytes), quantity_of_ns(1000 * from_us).text,
               quantity_of_ns(i == 0 ? 1000 : 2000 * from_us).text);
    }
    return true;
}
