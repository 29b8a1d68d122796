/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A breadth-first search from the known roots, then from the others.  Each object's path is its
 * holder's path plus one step.
 *
 * Breadth first makes each path the shortest one: a node is reached first over the fewest
 * references.  The search stores a step for each node, not a path.  Steps that are equal, and come
 * after the same step, are one: all entries of a table have the same path, and it is printed once
 * with their sum.  So memory is 12 bytes a node, plus the distinct steps.
 */
#include "converter/graph/paths.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "converter/containers/id_table.h"
#include "converter/graph/graph_source.h"
#include "format/core/grow.h"
#include "format/core/hash.h"

enum { LEAST_SLOTS = 256 };

/* How a node was reached. */
struct coming {
    uint32_t step; /* 1 + the step that leads to it; 0: not reached */
    uint32_t length;
};

struct searching {
    const struct graph_moment *graph;
    const struct keeper_choice *choice;
    struct keeper_paths *out;
    struct coming *comings; /* by node */
    uint32_t *queue;        /* nodes in the order in which they were reached */
    size_t queue_count;
    struct id_table classes; /* uint8_t: 1 requested, 2 not */
};

/* ---- requested objects ---- */

static bool paths_class_is_wanted(struct searching *searching, uint32_t class_id)
{
    uint8_t *known = id_table_get(&searching->classes, class_id);
    if (known != NULL && *known != 0)
        return *known == 1;
    struct keeper_name name;
    keeper_name_class(&searching->graph->source, class_id, &name);
    struct step_bytes bytes = {(const uint8_t *) name.text, strlen(name.text)};
    bool wanted = selected_globs_take(searching->choice->classes, trace_class_name_matches, &bytes);
    if (known != NULL)
        *known = wanted ? 1 : 2;
    return wanted;
}

static bool paths_is_wanted(struct searching *searching, uint32_t node)
{
    const struct object_graph *graph = &searching->graph->replay.graph;
    if (searching->choice->object != 0)
        return graph->nodes[node].object == searching->choice->object;
    if (searching->choice->objects != NULL)
        return id_set_has(searching->choice->objects, graph->nodes[node].object);
    return paths_class_is_wanted(searching, graph->objects[node].class_id);
}

/* ---- steps ---- */

static uint32_t paths_hash_of(const struct keeper_step *step)
{
    uint64_t hash = step_hash_join(step->parent, (uint64_t) step->class_id << 32 | step->key);
    return (uint32_t) step_hash_join(hash, (uint64_t) step->kind << 1 | step->repeats);
}

static bool paths_is_same(const struct keeper_step *a, const struct keeper_step *b)
{
    return a->parent == b->parent && a->class_id == b->class_id && a->key == b->key &&
           a->kind == b->kind && a->repeats == b->repeats;
}

/* Returns 1 + the step's index, adding it if necessary; 0 if out of memory. */
static uint32_t step_number(struct keeper_paths *paths, const struct keeper_step *step)
{
    uint32_t hash = paths_hash_of(step), number;
    STEP_INDEX_EACH (&paths->index, hash, number)
        if (paths_is_same(&paths->steps[number], step))
            return number + 1;
    if (!STEP_MAKE_ROOM(paths->steps, paths->step_capacity, paths->step_count + 1))
        return 0;
    if (paths->step_count == UINT32_MAX - 1 ||
        !step_index_add(&paths->index, hash, (uint32_t) paths->step_count))
        return 0;
    paths->steps[paths->step_count++] = *step;
    return (uint32_t) paths->step_count;
}

/* Returns the step after `number`. A step equal to the one before, as `next` of a linked list, does
 * not become another one: the one before is replaced by a step with the same parent that is marked
 * as repeated.  Otherwise a list of a million entries would give a million paths, each a step
 * longer than the one before. */
static uint32_t next_step(struct keeper_paths *paths, uint32_t number, struct keeper_step *step)
{
    const struct keeper_step *before = &paths->steps[number - 1];
    bool again = before->kind == step->kind && before->kind != KEEPER_ROOT &&
                 before->class_id == step->class_id && before->key == step->key;
    if (again && before->repeats)
        return number;
    step->repeats = again;
    step->parent = again ? before->parent : number - 1;
    return step_number(paths, step);
}

/* ---- the search ---- */

static bool come_to(struct searching *searching, uint32_t node, uint32_t step, uint32_t length)
{
    searching->comings[node] = (struct coming){step, length};
    searching->queue[searching->queue_count++] = node;
    return step != 0;
}

/* Starts at the roots numbered from `from` to below `to`. */
static bool paths_start(struct searching *searching, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++) {
        const struct graph_start *root = &searching->graph->roots[i];
        const struct keeper_step step = {
            .parent = UINT32_MAX, .class_id = root->kind, .key = root->field, .kind = KEEPER_ROOT};
        if (searching->comings[root->node].step == 0 &&
            !come_to(searching, root->node, step_number(searching->out, &step), 1))
            return false;
    }
    return true;
}

/* Reaches what a node refers to.  The step names the holder's class and the field.  All elements of
 * an array share one step: paths through them differ in the index alone. */
static bool paths_go_on(struct searching *searching, uint32_t node)
{
    size_t count;
    const struct object_graph *graph = &searching->graph->replay.graph;
    const struct edge *edges = edge_list_slots(&graph->nodes[node].edges, &count);
    const struct coming coming = searching->comings[node];
    for (size_t k = 0; k < count; k++) {
        if (!object_graph_keeps(graph, &edges[k]) || searching->comings[edges[k].target].step != 0)
            continue;
        bool is_element = edge_key_is_index(edges[k].key);
        struct keeper_step step = {.class_id = graph->objects[node].class_id,
                                   .key = is_element ? 0 : edges[k].key,
                                   .kind = is_element ? KEEPER_ELEMENT : KEEPER_FIELD};
        if (!come_to(searching, edges[k].target, next_step(searching->out, coming.step, &step),
                     coming.length + 1))
            return false;
    }
    return true;
}

static bool search_from(struct searching *searching, size_t from, size_t to)
{
    size_t at = searching->queue_count;
    if (!paths_start(searching, from, to))
        return false;
    for (; at < searching->queue_count; at++)
        if (!paths_go_on(searching, searching->queue[at]))
            return false;
    return true;
}

/* A known root wins over a frame, however short the latter's path is: what is taken for a frame may
 * be garbage that no collection has found.  Hence two searches, of which the second only enters
 * what the first left. */
static bool paths_search(struct searching *searching)
{
    const struct graph_moment *moment = searching->graph;
    const struct object_graph *graph = &moment->replay.graph;
    searching->comings = calloc(graph->node_count, sizeof *searching->comings);
    searching->queue = malloc(graph->node_count * sizeof *searching->queue);
    return searching->comings != NULL && searching->queue != NULL &&
           search_from(searching, 0, moment->known_count) &&
           search_from(searching, moment->known_count, moment->root_count);
}

/* ---- ends of paths ---- */

/* Adds a requested object to the end of its path.  The first object becomes the example that is
 * printed with it.  An object without a step is one that no root reaches. */
static bool paths_add_object(struct searching *searching, uint32_t node)
{
    const struct object_graph *graph = &searching->graph->replay.graph;
    struct keeper_paths *out = searching->out;
    const struct coming *coming = &searching->comings[node];
    out->objects++;
    out->bytes += graph->objects[node].size;
    out->unreached += coming->step == 0;
    if (coming->step == 0)
        return true;
    const struct keeper_step end = {.parent = coming->step - 1,
                                    .class_id = graph->objects[node].class_id,
                                    .kind = KEEPER_TARGET};
    uint32_t number = step_number(out, &end);
    if (number == 0)
        return false;
    struct keeper_step *step = &out->steps[number - 1];
    if (step->objects++ == 0) {
        step->example = graph->nodes[node].object;
        step->length = coming->length;
        out->target_count++;
    }
    step->bytes += graph->objects[node].size;
    return true;
}

static int most_first(const void *a, const void *b, void *user)
{
    const struct keeper_step *steps = user;
    const struct keeper_step *first = &steps[*(const uint32_t *) a];
    const struct keeper_step *second = &steps[*(const uint32_t *) b];
    if (first->bytes != second->bytes)
        return first->bytes < second->bytes ? 1 : -1;
    return (first->example > second->example) - (first->example < second->example);
}

static bool sort_targets(struct keeper_paths *out)
{
    size_t count = 0;
    out->targets = malloc((out->target_count + 1) * sizeof *out->targets);
    if (out->targets == NULL)
        return false;
    for (size_t i = 0; i < out->step_count; i++)
        if (out->steps[i].kind == KEEPER_TARGET)
            out->targets[count++] = (uint32_t) i;
    qsort_r(out->targets, count, sizeof *out->targets, most_first, out->steps);
    return true;
}

bool keeper_paths_find(const struct graph_moment *graph, const struct keeper_choice *choice,
                       struct keeper_paths *out)
{
    const struct object_graph *objects = &graph->replay.graph;
    struct searching searching = {.graph = graph, .choice = choice, .out = out};
    *out = (struct keeper_paths){0};
    id_table_init(&searching.classes, sizeof(uint8_t));
    bool ok = paths_search(&searching);
    for (uint32_t i = GRAPH_FIRST_NODE; ok && i < objects->node_count; i++)
        if (objects->nodes[i].object != 0 && paths_is_wanted(&searching, i))
            ok = paths_add_object(&searching, i);
    ok = ok && sort_targets(out);
    id_table_reset(&searching.classes);
    free(searching.comings);
    free(searching.queue);
    return ok;
}

void keeper_paths_reset(struct keeper_paths *paths)
{
    free(paths->steps);
    free(paths->targets);
    step_index_reset(&paths->index);
    *paths = (struct keeper_paths){0};
}

/* ---- names ---- */

static void name_field(const struct graph_moment *graph, const struct keeper_step *step,
                       struct keeper_name *name)
{
    static const char *const others[] = {
        [1] = "class",     [4] = "class loader", [5] = "signers",       [6] = "protection domain",
        [7] = "interface", [8] = "static field", [9] = "constant pool", [10] = "superclass"};
    struct keeper_name class, field;
    uint32_t number = edge_key_number(step->key);
    keeper_name_class(&graph->source, step->class_id, &class);
    if (edge_key_is_other(step->key)) {
        bool named = number < sizeof others / sizeof others[0] && others[number] != NULL;
        snprintf(name->text, sizeof name->text, "%.900s: its %s", class.text,
                 named ? others[number] : "own");
        return;
    }
    keeper_name_field(&graph->source, number, &field);
    const char *dot = strrchr(field.text, '.');
    snprintf(name->text, sizeof name->text, "%.500s.%.500s", class.text,
             dot != NULL ? dot + 1 : field.text);
}

void keeper_step_name(const struct graph_moment *graph, const struct keeper_step *step,
                      struct keeper_name *name)
{
    struct keeper_name of;
    keeper_name_class(&graph->source, step->class_id, name);
    if (step->kind == KEEPER_ELEMENT) {
        of = *name;
        snprintf(name->text, sizeof name->text, "%.1000s []", of.text);
    } else if (step->kind == KEEPER_FIELD) {
        name_field(graph, step, name);
    } else if (step->kind == KEEPER_ROOT && step->class_id == GRAPH_ROOT_STATIC) {
        keeper_name_field(&graph->source, step->key, &of);
        snprintf(name->text, sizeof name->text, "static field %.1000s", of.text);
    } else if (step->kind == KEEPER_ROOT) {
        snprintf(name->text, sizeof name->text, "%s", graph_root_name(step->class_id));
    }
    size_t length = strlen(name->text);
    if (step->repeats && length + 1 < sizeof name->text)
        memcpy(name->text + length, "+", 2);
}

uint32_t *keeper_way(const struct keeper_paths *paths, uint32_t target, size_t *count)
{
    *count = 0;
    for (uint32_t at = target; at != UINT32_MAX; at = paths->steps[at].parent)
        ++*count;
    uint32_t *way = malloc(*count * sizeof *way);
    size_t i = *count;
    for (uint32_t at = target; way != NULL && at != UINT32_MAX; at = paths->steps[at].parent)
        way[--i] = at;
    return way;
}
