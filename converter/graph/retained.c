/* SPDX-License-Identifier: Apache-2.0 */
/* Sums sizes over the dominator tree from its leaves upwards, then traverses it downwards. */
#include "converter/graph/retained.h"

#include <stdlib.h>

#include "converter/cli/table_text.h"
#include "converter/containers/id_table.h"
#include "converter/containers/no_memory.h"
#include "converter/graph/dominators.h"
#include "format/core/grow.h"

struct finding {
    const struct object_graph *graph;
    struct retained *out;
    struct dominators tree;
    uint64_t *kept;            /* by vertex: retained bytes, including its own */
    uint32_t *child, *sibling; /* by vertex of the tree; 0: none */
    struct id_table keys;      /* uint32_t: 1 + row of a class or site */
    size_t capacity;
    uint64_t top;
};

static const struct graph_object *object_of(const struct finding *finding, uint32_t vertex)
{
    return &finding->graph->objects[finding->tree.node_of[vertex]];
}

/* Adds each vertex to its dominator, from the highest vertex to the lowest.  A dominator has a
 * lower number, so a subtree is complete before it is added.  The lists of children become
 * ascending, as each child is put before the higher ones. */
static bool retained_sum_up(struct finding *finding)
{
    uint32_t count = finding->tree.count;
    finding->kept = calloc(count, sizeof *finding->kept);
    finding->child = calloc(count, sizeof *finding->child);
    finding->sibling = calloc(count, sizeof *finding->sibling);
    if (finding->kept == NULL || finding->child == NULL || finding->sibling == NULL)
        return false;
    for (uint32_t v = count - 1; v > 0; v--) {
        uint32_t above = finding->tree.idom[v];
        uint64_t size = object_of(finding, v)->size;
        finding->out->objects++;
        finding->out->bytes += size;
        finding->kept[v] += size;
        finding->kept[above] += finding->kept[v];
        finding->sibling[v] = finding->child[above];
        finding->child[above] = v;
    }
    return true;
}

static struct retained_row *retained_add_row(struct finding *finding)
{
    struct retained *out = finding->out;
    if (!STEP_MAKE_ROOM(out->rows, finding->capacity, out->count + 1))
        return NULL;
    struct retained_row *row = &out->rows[out->count++];
    *row = (struct retained_row){0};
    return row;
}

/* ---- classes and sites ---- */

static struct retained_row *retained_row_of(struct finding *finding, uint32_t vertex)
{
    const struct graph_object *object = object_of(finding, vertex);
    bool by_class = finding->out->by == RETAINED_BY_CLASS;
    uint32_t *known = id_table_get(&finding->keys, by_class ? object->class_id : object->site);
    if (known == NULL)
        return NULL;
    if (*known == 0) {
        struct retained_row *row = retained_add_row(finding);
        if (row == NULL)
            return NULL;
        row->class_id = by_class ? object->class_id : 0;
        row->site = by_class ? 0 : object->site;
        *known = (uint32_t) finding->out->count;
    }
    return &finding->out->rows[*known - 1];
}

/*
 * Sums the retained sizes of classes or sites.  Subtrees of two objects of one class may contain
 * each other; adding both would count the inner one twice.  So an object counts only if none of its
 * class is open on the path from the root, which `open` counts.
 *
 * The traversal needs no stack: `idom` leads back up, and `sibling` to what comes next.
 */
static bool retained_go_through(struct finding *finding)
{
    uint32_t at = finding->child[0];
    while (at != 0) {
        struct retained_row *row = retained_row_of(finding, at);
        if (row == NULL)
            return false;
        row->objects++;
        row->bytes += object_of(finding, at)->size;
        if (row->open++ == 0)
            row->retained_bytes += finding->kept[at];
        if (finding->child[at] != 0) {
            at = finding->child[at];
            continue;
        }
        for (;; at = finding->tree.idom[at]) {
            if (at == 0)
                return true;
            retained_row_of(finding, at)->open--;
            if (finding->sibling[at] != 0)
                break;
        }
        at = finding->sibling[at];
    }
    return true;
}

/* ---- objects ---- */

static int most_first(const void *a, const void *b)
{
    const struct retained_row *first = a, *second = b;
    if (first->retained_bytes != second->retained_bytes)
        return first->retained_bytes < second->retained_bytes ? 1 : -1;
    if (first->object != second->object)
        return first->object < second->object ? -1 : 1;
    if (first->class_id != second->class_id)
        return first->class_id < second->class_id ? -1 : 1;
    return (first->site > second->site) - (first->site < second->site);
}

/* Keeps the largest rows.  Ties are broken by object, class and site, so that the cut is the same
 * in each run. */
static void keep_top(struct finding *finding)
{
    struct retained *out = finding->out;
    size_t shown = table_shown(finding->top, out->count);
    if (out->count > 0)
        qsort(out->rows, out->count, sizeof *out->rows, most_first);
    out->left += out->count - shown;
    out->count = shown;
}

/* There may be a row for each of many millions of objects, of which a few are shown.  Whenever
 * twice as many rows as wanted have come together (at least 4096, so that sorting stays cheap), all
 * but the largest are dropped. */
static bool list_objects(struct finding *finding)
{
    struct retained *out = finding->out;
    for (uint32_t v = 1; v < finding->tree.count; v++) {
        struct retained_row *row = retained_add_row(finding);
        if (row == NULL)
            return false;
        const struct graph_object *object = object_of(finding, v);
        *row =
            (struct retained_row){.object = finding->graph->nodes[finding->tree.node_of[v]].object,
                                  .class_id = object->class_id,
                                  .site = object->site,
                                  .objects = 1,
                                  .bytes = object->size,
                                  .retained_bytes = finding->kept[v]};
        if (finding->top > 0 && out->count / 2 > finding->top && out->count > 4096)
            keep_top(finding);
    }
    return true;
}

/* ---- all objects ---- */

/* Counts the live objects that are not in the tree, by their shallow sizes: cycles that nothing
 * outside refers to, and what hangs from them.  A collection has not found them yet, or their
 * holders are not in the trace. */
static bool count_unreached(struct finding *finding)
{
    const struct object_graph *graph = finding->graph;
    struct retained *out = finding->out;
    uint8_t *reached = calloc(graph->node_count, 1);
    if (reached == NULL)
        return false;
    for (uint32_t v = 1; v < finding->tree.count; v++)
        reached[finding->tree.node_of[v]] = 1;
    for (uint32_t i = GRAPH_FIRST_NODE; i < graph->node_count; i++) {
        bool counts = graph->nodes[i].object != 0 && reached[i] == 0;
        out->unreached_objects += counts;
        out->unreached_bytes += counts ? graph->objects[i].size : 0;
    }
    free(reached);
    return true;
}

/* Each live object was either reached or not.  Another sum means that the graph has edges to
 * removed nodes or counts them twice, and then no retained size can be trusted. */
static enum step_status check_sums(const struct finding *finding, struct step_error *error)
{
    const struct retained *out = finding->out;
    if (out->objects + out->unreached_objects == finding->graph->living)
        return STEP_STATUS_OK;
    return step_error_set(error, STEP_STATUS_CORRUPT, NULL, STEP_NO_OFFSET,
                          "the graph of references is wrong: %llu objects reached and %llu not "
                          "reached, but %llu live",
                          (unsigned long long) out->objects,
                          (unsigned long long) out->unreached_objects,
                          (unsigned long long) finding->graph->living);
}

enum step_status retained_find(const struct graph_moment *graph, enum retained_by by, uint64_t top,
                               struct retained *out, struct step_error *error)
{
    struct finding finding = {.graph = &graph->replay.graph, .out = out, .top = top};
    *out = (struct retained){.by = by};
    uint32_t *roots = graph_moment_root_nodes(graph);
    id_table_init(&finding.keys, sizeof(uint32_t));
    bool ok = roots != NULL &&
              dominators_find(finding.graph, roots, graph->keeper_count, graph->known_count,
                              &finding.tree) &&
              retained_sum_up(&finding) &&
              (by == RETAINED_BY_OBJECT ? list_objects(&finding) : retained_go_through(&finding)) &&
              count_unreached(&finding);
    enum step_status status = ok ? check_sums(&finding, error) : no_memory(error);
    if (status == STEP_STATUS_OK)
        keep_top(&finding);
    dominators_reset(&finding.tree);
    id_table_reset(&finding.keys);
    free(roots);
    free(finding.kept);
    free(finding.child);
    free(finding.sibling);
    return status;
}

void retained_reset(struct retained *retained)
{
    free(retained->rows);
    *retained = (struct retained){0};
}
