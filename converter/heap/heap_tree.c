/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the entries of a dump.  The remainder of a node's size is <other>. */
#include "converter/heap/heap_tree.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "converter/base/error_report.h"
#include "converter/heap/heap_dump.h"
#include "format/core/grow.h"

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

/* Types are printed next to the children: they break down the same bytes in another way. */
static void print_type(struct tree_printer *printer, const struct heap_dump_entry *entry,
                       size_t depth)
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
            print_type(printer, entry, depth + entry->is_self);
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

bool heap_print_tree(const struct heap_report *report, struct heap_snapshot *snapshot)
{
    bool is_inverted = report->tree == HEAP_BOTTOM_UP;
    if (snapshot->dumped == NULL || is_inverted)
        heap_snapshot_fold(snapshot, HEAP_BY_SITE | (report->axes & HEAP_BY_CLASS));
    return is_inverted ? print_inverted(report, snapshot)
                       : print_sites(report, report->sites, snapshot);
}
