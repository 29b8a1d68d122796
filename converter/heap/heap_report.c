/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prints moments as text and as JSON, ages, and trees of calls.
 *
 * Trees are printed from the entries of a dump, in their order (heap_dump.h), in one pass.  A dump
 * leaves small entries out, and what they had is `<other>`: the size of a node less that of its
 * printed children.  That is known only when the last child has passed.  So the nodes from the root
 * to the present one are kept open on a stack, each with what no child has covered so far, and a
 * node of the same depth or a lesser one closes them.
 */
#include "converter/heap/heap_report.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "converter/cli/error_report.h"
#include "converter/cli/report_table.h"
#include "converter/files/sampled_trace.h"
#include "converter/heap/heap_dump.h"
#include "converter/heap/heap_tracker.h"
#include "converter/numbers/amount.h"
#include "converter/numbers/quantity.h"
#include "format/core/grow.h"

/* Needs the objects themselves, in contrast to mean ages, which come from sums.  So the tracker
 * must be at the moment that is asked for; for the peak a second pass ends there (event_limit).
 * Bucket k has ages from 2^(k-1) to below 2^k, so the number of bits of an age is its bucket. */
void heap_ages_find(const struct heap_tracker *tracker, uint64_t now_ns, struct heap_ages *ages)
{
    struct object_cursor cursor = {0};
    struct live_object object;
    *ages = (struct heap_ages){0};
    while (object_table_next(&tracker->live, &cursor, &object)) {
        uint64_t age_us = time_age(now_ns, tracker->unit) - time_age(object.value, tracker->unit);
        if (tracker->selects && object.class_id == HEAP_HIDDEN_CELL)
            continue;
        struct heap_amount *bucket = &ages->buckets[age_us == 0 ? 0 : 64 - __builtin_clzll(age_us)];
        heap_amount_add(bucket, &(struct heap_amount){1, object.size, age_us});
    }
}

static struct quantity age_text(double age, enum time_unit unit)
{
    return quantity_of_time(time_of_age(age, unit), unit);
}

void heap_print_ages(const struct heap_report *report, const struct heap_snapshot *snapshot,
                     const struct heap_ages *ages)
{
    heap_report_put_head(report, snapshot);
    printf("\n%12s %14s %6s  age\n", "objects", "bytes", "%");
    for (unsigned i = 0; i < HEAP_AGES; i++) {
        const struct heap_amount *bucket = &ages->buckets[i];
        if (bucket->objects == 0)
            continue;
        double from_us = i == 0 ? 0 : (double) (UINT64_C(1) << (i - 1));
        printf("%12" PRIu64 " %14" PRIu64 " %6.1f  %s to %s\n", bucket->objects, bucket->bytes,
               heap_report_share(bucket->bytes, snapshot->live.bytes),
               age_text(from_us, snapshot->unit).text,
               age_text(i == 0 ? 1 : 2 * from_us, snapshot->unit).text);
    }
}

#define MOMENT_TEXT 48u

double heap_report_share(uint64_t part, uint64_t whole)
{
    return whole > 0 ? 100.0 * (double) part / (double) whole : 0.0;
}

/* At the end nothing may refer to a part of the objects, and no collection has freed them, unless
 * the deaths were computed from references. */
static const char *garbage_of_end(const struct heap_report *report,
                                  const struct heap_snapshot *snapshot)
{
    if (!report->is_of_jvm || report->allocated || snapshot->moment.kind != HEAP_AT_END ||
        death_dates_are_exact(&snapshot->deaths))
        return "";
    return report->is_collected ? ", as a collection at the end left them"
                                : ", including garbage not collected yet";
}

/* With exact deaths, the live objects are those that were reachable. */
static void heap_report_put_deaths(const struct heap_snapshot *snapshot)
{
    char deaths[DEATH_DATES_TEXT];
    death_dates_print(&snapshot->deaths, deaths, sizeof deaths);
    if (death_dates_are_exact(&snapshot->deaths))
        printf("%-9s %s\n", "deaths", deaths);
}

/* Returns what the samples say, or NULL if the trace has all objects. */
static const struct sample_sums *heap_report_sums_of(const struct heap_snapshot *snapshot,
                                                     bool allocated)
{
    return snapshot->samples == NULL ? NULL
           : allocated               ? &snapshot->all_samples.allocated
                                     : &snapshot->all_samples.live;
}

static void put_total(const struct heap_report *report, const struct heap_snapshot *snapshot)
{
    const struct heap_amount *all = heap_report_total(report, snapshot);
    const struct sample_sums *sums = heap_report_sums_of(snapshot, report->allocated);
    const struct amount objects = amount_of_objects(all->objects, sums),
                        bytes = amount_of_bytes(all->bytes, sums);
    char text[AMOUNT_PAIR_TEXT];
    if (sums != NULL) {
        printf("%-9s ", "sampled");
        estimate_print_source(sums->samples, snapshot->sampling);
        putchar('\n');
    }
    amount_pair_text(&objects, &bytes, text);
    printf("%-9s %s%s\n", report->allocated ? "allocated" : "live", text,
           sums != NULL ? "" : garbage_of_end(report, snapshot));
}

void heap_report_put_head(const struct heap_report *report, const struct heap_snapshot *snapshot)
{
    char moment[MOMENT_TEXT];
    heap_moment_print(&snapshot->moment, snapshot->unit, moment, sizeof moment);
    printf("%-9s %s", "moment", moment);
    if (snapshot->moment.kind != HEAP_AT_TIME)
        printf(", %s", quantity_of_time((double) snapshot->time_ns, snapshot->unit).text);
    printf(report->is_import ? ", dump %" PRIu64 : ", %" PRIu64 " collection%s before",
           snapshot->collections, plural(snapshot->collections));
    puts(snapshot->samples != NULL ? " (that freed samples)" : "");
    heap_report_put_deaths(snapshot);
    put_total(report, snapshot);
    if (snapshot->samples != NULL)
        return;
    if (report->allocated && snapshot->existing.objects > 0)
        printf("%-9s %s object%s, %s: before recording began, not listed\n", "existing",
               quantity_of_count(snapshot->existing.objects).text,
               plural(snapshot->existing.objects),
               quantity_of_bytes((double) snapshot->existing.bytes).text);
    if (!snapshot->has_sizes)
        printf("(the trace has no object sizes)\n");
}

void heap_report_begin_json(const struct heap_report *report, struct json_output *json)
{
    json_open(json, stdout);
    json_text(json, "trace", report->path);
    json_text(json, "what", report->allocated ? "allocated" : "live");
}

/* ---- the numbers of a moment in JSON ---- */

static const struct heap_snapshot *snapshot_of(const void *snapshot)
{
    return snapshot;
}

static struct amount moment_live_samples(const void *snapshot)
{
    return amount_exact(snapshot_of(snapshot)->all_samples.live.samples, AMOUNT_OBJECTS);
}

static struct amount moment_live_objects(const void *snapshot)
{
    return amount_of_objects(snapshot_of(snapshot)->live.objects,
                             heap_report_sums_of(snapshot, false));
}

static struct amount moment_live_bytes(const void *snapshot)
{
    return amount_of_bytes(snapshot_of(snapshot)->live.bytes, heap_report_sums_of(snapshot, false));
}

static struct amount moment_allocated_samples(const void *snapshot)
{
    return amount_exact(snapshot_of(snapshot)->all_samples.allocated.samples, AMOUNT_OBJECTS);
}

static struct amount moment_allocated_objects(const void *snapshot)
{
    return amount_of_objects(snapshot_of(snapshot)->allocated.objects,
                             heap_report_sums_of(snapshot, true));
}

static struct amount moment_allocated_bytes(const void *snapshot)
{
    return amount_of_bytes(snapshot_of(snapshot)->allocated.bytes,
                           heap_report_sums_of(snapshot, true));
}

static struct amount moment_existing_objects(const void *snapshot)
{
    return amount_exact(snapshot_of(snapshot)->existing.objects, AMOUNT_OBJECTS);
}

static struct amount moment_existing_bytes(const void *snapshot)
{
    return amount_exact(snapshot_of(snapshot)->existing.bytes, AMOUNT_BYTES);
}

#define IN_JSON(name, places)                                                                      \
    {                                                                                              \
#name, NULL, 0, REPORT_DIGITS, places, .value = moment_##name                              \
    }

static const struct report_column moment_columns[] = {
    IN_JSON(live_samples, REPORT_SAMPLED_JSON),    IN_JSON(live_objects, REPORT_BOTH_JSONS),
    IN_JSON(live_bytes, REPORT_BOTH_JSONS),        IN_JSON(allocated_samples, REPORT_SAMPLED_JSON),
    IN_JSON(allocated_objects, REPORT_BOTH_JSONS), IN_JSON(allocated_bytes, REPORT_BOTH_JSONS),
    IN_JSON(existing_objects, REPORT_JSON),        IN_JSON(existing_bytes, REPORT_JSON),
};

void heap_report_put_moment(const struct heap_report *report, const struct heap_snapshot *snapshot,
                            const char *key, struct json_output *json)
{
    char moment[MOMENT_TEXT];
    heap_moment_print(&snapshot->moment, snapshot->unit, moment, sizeof moment);
    json_begin_object(json, key);
    json_text(json, "at", moment);
    json_number(json, "time_ns", snapshot->time_ns);
    json_number(json, "collections", snapshot->collections);
    death_dates_put_json(&snapshot->deaths, snapshot->unit, json);
    if (snapshot->samples != NULL)
        sampled_trace_put_json(json, report->path, sampling_interval(snapshot->sampling));
    const struct report_table table = {.columns = moment_columns,
                                       .count = sizeof moment_columns / sizeof moment_columns[0],
                                       .sampling = snapshot->sampling,
                                       .has_bounds_beside = true};
    report_table_put_row(&table, snapshot, json);
    json_end_object(json);
}

/* A node whose children are being printed. */
struct open_node {
    size_t depth;
    uint64_t objects, bytes; /* not yet covered by children */
    size_t children;
    uint64_t type_objects, type_bytes; /* not yet covered by types */
    size_t types;
};

struct tree_printer {
    const struct heap_sites *sites;
    uint64_t total;
    struct open_node *open;
    size_t count, capacity;
};

/* A call stack may have thousands of frames.  Beyond 200 the depth is printed as a number, or a
 * line would be as long as the stack is deep, and the output would grow with the square of it. */
static void tree_line(const struct tree_printer *printer, size_t depth, uint64_t objects,
                      uint64_t bytes)
{
    printf("%12" PRIu64 " %14" PRIu64 " %6.1f  ", objects, bytes,
           heap_report_share(bytes, printer->total));
    if (depth > 200)
        printf("%*s(%zu) ", 200, "", depth);
    else
        printf("%*s", (int) depth, "");
}

/* Closes nodes at `depth` and deeper, printing their remainders as <other>. */
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

/* Prints the remainder after the types of a node as <other>. */
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

/* The types of a node come before its children, so the first child ends them. */
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
    if (!STEP_MAKE_ROOM(printer->open, printer->capacity, printer->count + 1))
        return false;
    printer->open[printer->count++] = (struct open_node){.depth = depth,
                                                         .objects = entry->objects,
                                                         .bytes = entry->bytes,
                                                         .type_objects = entry->objects,
                                                         .type_bytes = entry->bytes};
    return true;
}

/* Types are printed next to the children: they break down the same bytes in another way. */
static void heap_report_print_type(struct tree_printer *printer,
                                   const struct heap_dump_entry *entry, size_t depth)
{
    struct open_node *node = &printer->open[printer->count - 1];
    node->type_objects -= entry->objects < node->type_objects ? entry->objects : node->type_objects;
    node->type_bytes -= entry->bytes < node->type_bytes ? entry->bytes : node->type_bytes;
    node->types++;
    tree_line(printer, depth + 1, entry->objects, entry->bytes);
    printf("type ");
    print_shown(trace_class_of(printer->sites->names, entry->class_id)->name, stdout);
    putchar('\n');
}

static bool print_node(struct tree_printer *printer, const struct heap_dump_entry *entry,
                       size_t depth)
{
    char text[HEAP_SITE_TEXT];
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

/* A site is one level below its caller, and its `<self>` one level below the site, as a child. */
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
        if (entry->has_class)
            heap_report_print_type(printer, entry, depth + entry->is_self);
        else
            ok = print_node(printer, entry, depth + entry->is_self);
    }
    close_types(printer);
    close_nodes(printer, 0);
    free(printer->open);
    return ok;
}

/* Prints the tree of a snapshot with the given sites. */
static bool print_sites(const struct heap_report *report, const struct heap_sites *sites,
                        const struct heap_snapshot *snapshot)
{
    uint64_t total = heap_report_total(report, snapshot)->bytes;
    struct tree_printer printer = {.sites = sites, .total = total};
    struct heap_dump dump = {.entries = NULL};
    const struct heap_dump_options options = {
        .allocated = report->allocated,
        .with_classes = (report->axes & HEAP_BY_CLASS) != 0,
        .least_bytes =
            report->least.has_least ? heap_export_least_bytes(&report->least, total) : total / 100};
    bool ok = heap_dump_make(sites, snapshot, &options, &dump);
    if (ok) {
        heap_report_put_head(report, snapshot);
        printf("\n%12s %14s %6s  site\n", "objects", "bytes", "%");
        ok = print_dump(&printer, &dump);
    }
    heap_dump_reset(&dump);
    return ok;
}

static bool print_inverted(const struct heap_report *report, const struct heap_snapshot *snapshot)
{
    struct heap_sites inverted = {.names = NULL};
    struct heap_snapshot turned = {.rows = NULL};
    bool ok = heap_sites_invert(report->sites, snapshot, &inverted, &turned) &&
              print_sites(report, &inverted, &turned);
    heap_snapshot_reset(&turned);
    if (inverted.items != NULL)
        heap_sites_reset(&inverted);
    return ok;
}

/* Rows are summed over what the tree does not show, which makes them fewer.  The entries of an
 * imported dump are printed as they are; but bottom-up they must be made anew from its rows, as a
 * dump from the top does not have the sums of callees. */
bool heap_print_tree(const struct heap_report *report, struct heap_snapshot *snapshot)
{
    bool is_inverted = report->tree == HEAP_BOTTOM_UP;
    if (snapshot->dumped == NULL || is_inverted)
        heap_snapshot_fold(snapshot, HEAP_BY_SITE | (report->axes & HEAP_BY_CLASS));
    return is_inverted ? print_inverted(report, snapshot)
                       : print_sites(report, report->sites, snapshot);
}
