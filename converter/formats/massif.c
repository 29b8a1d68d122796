/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes Massif's format (docs/formats/valgrind.md): the size of the heap over time, and at the
 * peak and at the end what it consisted of, by class and stack from the innermost frame out.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "converter/cli/utf8_text.h"
#include "converter/containers/no_memory.h"
#include "converter/heap/heap_writer.h"
#include "converter/trace/level_curve.h"
#include "format/core/grow.h"

#define NS_PER_MS UINT64_C(1000000)
#define LEAST_SHARE 1000 /* of the heap: smaller branches are joined */

/* The tree of a snapshot.  Its nodes are sites: below the root classes, below these the places from
 * the innermost out. */
struct tree {
    struct heap_sites nodes;
    uint64_t *bytes; /* by node */
    size_t capacity;
    uint32_t *order; /* nodes by parent, the largest first */
    size_t *first;   /* by node: its first child in `order`; the next node's is behind its
                        last */
};

struct massif_file {
    struct heap_writer base;
    struct heap_snapshot peak;
    uint64_t snapshot_count;
};

enum { CLASS_NODE = UINT32_MAX }; /* in place of a line */

/* ---- the tree ---- */

static uint32_t add_node(struct tree *tree, const struct heap_site *site, uint64_t bytes)
{
    uint32_t node = heap_sites_put(&tree->nodes, site);
    if (node == 0)
        return 0;
    if (!STEP_MAKE_ZEROED_ROOM(tree->bytes, tree->capacity, tree->nodes.count))
        return 0;
    tree->bytes[node] += bytes;
    return node;
}

static bool massif_add_row(struct tree *tree, const struct heap_sites *sites,
                           const struct heap_row *row)
{
    struct heap_site next = {.method_id = row->key.class_id, .line = CLASS_NODE};
    uint32_t at = add_node(tree, &next, row->live.bytes);
    for (uint32_t site = row->key.site; at != 0 && site != 0; site = sites->items[site].parent) {
        next = sites->items[site];
        next.parent = at;
        at = add_node(tree, &next, row->live.bytes);
    }
    return at != 0;
}

static int compare_nodes(const void *left, const void *right, void *user)
{
    const struct tree *tree = user;
    uint32_t a = *(const uint32_t *) left, b = *(const uint32_t *) right;
    uint32_t above_a = tree->nodes.items[a].parent, above_b = tree->nodes.items[b].parent;
    if (above_a != above_b)
        return above_a < above_b ? -1 : 1;
    if (tree->bytes[a] != tree->bytes[b])
        return tree->bytes[a] > tree->bytes[b] ? -1 : 1;
    return (a > b) - (a < b);
}

static bool sort_nodes(struct tree *tree)
{
    size_t count = tree->nodes.count;
    tree->order = calloc(count, sizeof *tree->order);
    tree->first = calloc(count + 1, sizeof *tree->first);
    if (tree->order == NULL || tree->first == NULL)
        return false;
    for (uint32_t i = 1; i < count; i++)
        tree->order[i - 1] = i;
    qsort_r(tree->order, count - 1, sizeof *tree->order, compare_nodes, tree);
    size_t at = 0;
    for (size_t node = 0; node <= count; node++) {
        while (at < count - 1 && tree->nodes.items[tree->order[at]].parent < node)
            at++;
        tree->first[node] = at;
    }
    return true;
}

static void tree_reset(struct tree *tree)
{
    heap_sites_reset(&tree->nodes);
    free(tree->bytes);
    free(tree->order);
    free(tree->first);
}

/* ---- the file ---- */

static void massif_put_text(const struct massif_file *file, const struct tree *tree, uint32_t node)
{
    FILE *out = file->base.stream.file;
    const struct heap_site *site = &tree->nodes.items[node];
    char text[HEAP_SITE_TEXT];
    struct step_bytes shown = {(const uint8_t *) text, 0};
    if (site->line == CLASS_NODE)
        shown = trace_class_of(file->base.sites->names, site->method_id)->name;
    else
        shown.length = heap_site_print(&tree->nodes, node, text, sizeof text);
    utf8_print_in_line(shown, 0, out);
}

/* A node on the path to the one being written: its children that are shown, and the others. */
struct branch {
    size_t next, end;
    size_t hidden;
    uint64_t hidden_bytes;
};

/* Writes a node that `followers` lines of nodes follow. */
static void put_node(const struct massif_file *file, const struct tree *tree, uint32_t node,
                     size_t depth, uint64_t bytes, size_t followers)
{
    FILE *out = file->base.stream.file;
    fprintf(out, "%*sn%zu: %" PRIu64 " ", (int) depth, "", followers, bytes);
    if (node == 0)
        fputs("(live objects) by class, and by stack from the innermost frame", out);
    else
        massif_put_text(file, tree, node);
    fputc('\n', out);
}

/* Writes a node, and enters it in the path. */
static void massif_enter(const struct massif_file *file, const struct tree *tree, uint32_t node,
                         size_t depth, uint64_t total, struct branch *branch)
{
    *branch = (struct branch){.next = tree->first[node]};
    for (size_t i = tree->first[node]; i < tree->first[node + 1]; i++) {
        uint64_t bytes = tree->bytes[tree->order[i]];
        bool is_shown = bytes >= total / LEAST_SHARE;
        branch->end = is_shown ? i + 1 : branch->end;
        branch->hidden += !is_shown;
        branch->hidden_bytes += is_shown ? 0 : bytes;
    }
    branch->end = branch->end > branch->next ? branch->end : branch->next;
    put_node(file, tree, node, depth, node == 0 ? total : tree->bytes[node],
             branch->end - branch->next + (branch->hidden > 0));
}

/* Writes the tree in depth: of children, which are sorted, those that are shown come first. */
static bool massif_put_tree(const struct massif_file *file, const struct tree *tree, uint64_t total)
{
    FILE *out = file->base.stream.file;
    size_t depth = 1, capacity = 0;
    struct branch *path = NULL;
    if (!STEP_MAKE_ROOM(path, capacity, 1))
        return false;
    massif_enter(file, tree, 0, 0, total, &path[0]);
    while (depth > 0) {
        struct branch *at = &path[depth - 1];
        if (at->next == at->end) {
            if (at->hidden > 0)
                fprintf(out, "%*sn0: %" PRIu64 " in %zu places, all below 0.1%% of the heap\n",
                        (int) depth, "", at->hidden_bytes, at->hidden);
            depth--;
            continue;
        }
        uint32_t child = tree->order[at->next++];
        if (!STEP_MAKE_ROOM(path, capacity, depth + 1))
            break;
        massif_enter(file, tree, child, depth, total, &path[depth]);
        depth++;
    }
    free(path);
    return depth == 0;
}

static void put_point(struct massif_file *file, uint64_t time_ns, uint64_t bytes, const char *tree)
{
    fprintf(file->base.stream.file,
            "#-----------\nsnapshot=%" PRIu64 "\n#-----------\ntime=%" PRIu64
            "\nmem_heap_B=%" PRIu64 "\nmem_heap_extra_B=0\nmem_stacks_B=0\nheap_tree=%s\n",
            file->snapshot_count++, time_ns / NS_PER_MS, bytes, tree);
}

static bool put_detailed(struct massif_file *file, const struct heap_snapshot *snapshot,
                         const char *name)
{
    struct tree tree = {.bytes = NULL};
    uint64_t total = 0;
    bool ok = heap_sites_init(&tree.nodes, file->base.sites->names);
    for (size_t i = 0; ok && i < snapshot->count; i++) {
        total += snapshot->rows[i].live.bytes;
        ok = snapshot->rows[i].live.bytes == 0 ||
             massif_add_row(&tree, file->base.sites, &snapshot->rows[i]);
    }
    put_point(file, snapshot->time_ns, total, name);
    ok = ok && sort_nodes(&tree) && massif_put_tree(file, &tree, total);
    tree_reset(&tree);
    return ok;
}

/* The curve until the peak, the peak, the curve after it, and the end. */
static bool put_all(struct massif_file *file, const struct heap_snapshot *end)
{
    const struct level_curve *curve = file->base.curve;
    bool has_peak = false, ok = true;
    fprintf(file->base.stream.file, "desc: live objects of a Java program\ncmd: ");
    utf8_print_in_line(trace_text_bytes(trace_text_or(file->base.title, "java")), 0,
                       file->base.stream.file);
    fprintf(file->base.stream.file, "\ntime_unit: ms\n");
    put_point(file, 0, 0, "empty");
    for (size_t i = 0; ok && i < curve->count; i++) {
        uint64_t time_ns = (i + 1) * curve->step_ns;
        if (!has_peak && time_ns >= file->peak.time_ns) {
            has_peak = true;
            ok = put_detailed(file, &file->peak, "peak");
        }
        if (time_ns < end->time_ns)
            put_point(file, time_ns, curve->steps[i].last_bytes, "empty");
    }
    return ok && put_detailed(file, end, "detailed");
}

static enum step_status massif_put(struct heap_writer *writer, struct heap_snapshot *snapshot,
                                   struct step_error *error)
{
    struct massif_file *file = (struct massif_file *) writer;
    if (file->peak.rows == NULL) {
        file->peak = *snapshot;
        snapshot->rows = NULL;
        snapshot->dumped = NULL;
        return STEP_STATUS_OK;
    }
    return put_all(file, snapshot) ? STEP_STATUS_OK : no_memory(error);
}

static void massif_reset(struct heap_writer *writer)
{
    struct massif_file *file = (struct massif_file *) writer;
    heap_snapshot_reset(&file->peak);
}

static const struct heap_writer_operations massif_writer = {
    .put = massif_put,
    .reset = massif_reset,
    .size_bytes = sizeof(struct massif_file),
    .takes_peak_and_end = true,
    .draws = true,
};

const struct trace_format format_massif = {
    .name = "massif",
    .ending = ".massif",
    .help = "the heap over time for ms_print",
    .packs_by_ending = true,
    .needs = FORMAT_NEEDS_HEAP,
    .sink = &heap_sink_operations,
    .heap_writer = &massif_writer,
};
