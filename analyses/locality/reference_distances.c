/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Replays references, and looks up where the two objects of each were allocated.
 *
 * The graph of the trace is replayed as for retained sizes (graph_replay.h), which reports each
 * edge that it sets.  So copies of ranges and clones count like stores, as they make references,
 * too.  A birth is stored by node: nodes of dead objects are used again, and so memory follows what
 * lives.
 */
#include "analyses/locality/reference_distances.h"

#include <stdlib.h>

#include "converter/containers/no_memory.h"
#include "converter/files/sampled_trace.h"
#include "format/core/grow.h"
#include "format/core/hash.h"

#define BYTES_MOST (UINT64_C(1) << 62)

/* An object's place among those of its thread, in bytes and in objects.  Two objects are neighbours
 * if their numbers differ by 1, whatever their sizes. */
struct birth {
    uint64_t position;  /* bytes that the thread allocated before */
    uint64_t number;    /* objects that the thread allocated before */
    uint32_t thread_id; /* 0: not known */
};

struct thread_births {
    uint64_t objects, bytes;
};

static struct graph_replay *replay_of(struct reference_distances *distances)
{
    return &distances->opened.graph.replay;
}

/* ---- births ---- */

static struct birth *birth_of(struct reference_distances *distances, uint32_t node)
{
    return STEP_MAKE_ROOM(distances->births, distances->birth_capacity, (size_t) node + 1)
               ? &distances->births[node]
               : NULL;
}

/* Returns false if out of memory. */
/* The event comes after the graph has the node.  An object that existed before the trace has no
 * place: its thread allocated it before anything was counted. */
static bool distances_put_birth(struct reference_distances *distances,
                                const struct graph_event *event)
{
    uint32_t node = object_graph_find(&replay_of(distances)->graph, event->object);
    bool is_existing = event->kind == GRAPH_EXISTING;
    struct birth *birth = birth_of(distances, node);
    struct thread_births *thread = id_table_get(&distances->threads, event->thread_id);
    if (birth == NULL || thread == NULL)
        return false;
    *birth = (struct birth){.position = thread->bytes,
                            .number = thread->objects,
                            .thread_id = is_existing ? 0 : event->thread_id};
    distances->objects++;
    distances->existing += is_existing;
    if (!is_existing) {
        thread->objects++;
        thread->bytes += event->amount;
        distances->bytes += event->amount;
    }
    return true;
}

/* ---- rows ---- */

/* Returns NULL if out of memory. */
static struct reference_row *distances_row_of(struct reference_distances *distances,
                                              const struct reference_row *key)
{
    uint32_t hash = (uint32_t) step_hash_join(
        step_hash_join((uint64_t) key->array_class << 32, key->field), key->target_class);
    uint32_t number;
    STEP_INDEX_EACH (&distances->index, hash, number) {
        struct reference_row *row = &distances->rows[number];
        if (row->field == key->field && row->array_class == key->array_class &&
            row->target_class == key->target_class)
            return row;
    }
    if (!STEP_MAKE_ROOM(distances->rows, distances->capacity, distances->count + 1))
        return NULL;
    if (!step_index_add(&distances->index, hash, (uint32_t) distances->count))
        return NULL;
    distances->rows[distances->count] = *key;
    return &distances->rows[distances->count++];
}

static void clear_rows(struct reference_distances *distances)
{
    for (size_t i = 0; i < distances->count; i++)
        lifetimes_reset(&distances->rows[i].distance);
    distances->count = 0;
    step_index_clear(&distances->index);
}

/* ---- references ---- */

static uint64_t distances_difference(uint64_t a, uint64_t b)
{
    return a > b ? a - b : b - a;
}

static uint64_t distances_size_of(const struct object_graph *graph, uint32_t node)
{
    return graph->objects[node].size;
}

/* Returns false if out of memory. */
static bool count_reference(struct reference_distances *distances, struct reference_row *row,
                            uint32_t holder, uint32_t target)
{
    const struct object_graph *graph = &replay_of(distances)->graph;
    const struct birth *from = &distances->births[holder], *to = &distances->births[target];
    row->references++;
    if (from->thread_id == 0 || to->thread_id == 0) {
        row->unknown++;
        return true;
    }
    if (from->thread_id != to->thread_id) {
        row->between++;
        return true;
    }
    if (distances_difference(from->number, to->number) == 1) {
        row->neighbours++;
        row->neighbour_bytes += distances_size_of(graph, holder) + distances_size_of(graph, target);
    }
    return lifetimes_add(&row->distance, distances_difference(from->position, to->position));
}

/* Moves within an array make no reference; nor do snapshots of a trace with stores, whose
 * references were counted when they were made.  A trace without stores has only its snapshots: then
 * the last one counts, and each new one clears the rows. */
static bool makes_references(const struct reference_distances *distances)
{
    const struct graph_event *event = distances->event;
    bool is_edge = event->kind == GRAPH_HAS_FIELD || event->kind == GRAPH_HAS_ELEMENT;
    if (distances->is_snapshot || is_edge)
        return distances->is_snapshot && is_edge;
    return event->kind != GRAPH_RANGE || event->source != event->object;
}

/* Only changes count: a store of what the field has already makes no reference.  Static fields have
 * no holder with a place. */
static void put_reference(void *user, uint32_t holder, uint32_t key, uint32_t before,
                          uint32_t target)
{
    struct reference_distances *distances = user;
    const struct object_graph *graph = &replay_of(distances)->graph;
    const struct graph_object *objects = graph->objects;
    bool is_alive = target != 0 && graph->nodes[target].object != 0;
    if (!is_alive || target == before || holder == GRAPH_STATICS || !makes_references(distances))
        return;
    struct reference_row wanted = {.target_class = objects[target].class_id};
    if (edge_key_is_index(key))
        wanted.array_class = objects[holder].class_id;
    else
        wanted.field = edge_key_number(key);
    struct reference_row *row = distances_row_of(distances, &wanted);
    if (row == NULL || !count_reference(distances, row, holder, target))
        distances->no_memory = true;
}

/* ---- events ---- */

static bool distances_put_event(struct reference_distances *distances,
                                const struct graph_event *event)
{
    struct graph_replay *replay = replay_of(distances);
    distances->event = event;
    if (event->kind == GRAPH_FREE || event->kind == GRAPH_DEATH) {
        graph_replay_free(replay, event->object);
        return true;
    }
    if (event->kind == GRAPH_SNAPSHOT && distances->is_snapshot)
        clear_rows(distances);
    if (!graph_replay_put(replay, event) || distances->no_memory)
        return false;
    bool is_birth = event->kind == GRAPH_ALLOC || event->kind == GRAPH_EXISTING;
    return !is_birth || event->object == 0 || distances_put_birth(distances, event);
}

static enum step_status distances_put_events(struct reference_distances *distances,
                                             struct step_error *error)
{
    struct graph_source *source = &distances->opened.graph.source;
    const struct graph_event *event;
    enum step_status status = graph_source_start(source, GRAPH_REPLAY_KINDS, graph_replay_knows,
                                                 replay_of(distances), error);
    while (status == STEP_STATUS_OK &&
           (status = graph_source_next(source, &event, error)) == STEP_STATUS_OK) {
        if (event->kind == GRAPH_ALLOC && event->amount > BYTES_MOST - distances->bytes)
            return step_error_set(error, STEP_STATUS_CORRUPT, distances->path, STEP_NO_OFFSET,
                                  "the sizes of the objects add up to more than 2^62");
        if (!distances_put_event(distances, event))
            return no_memory(error);
    }
    return status == STEP_STATUS_END ? STEP_STATUS_OK : status;
}

/* ---- results ---- */

static int distances_compare_rows(const void *left, const void *right)
{
    const struct reference_row *a = left, *b = right;
    const uint64_t keys_a[] = {b->references, a->field, a->array_class, a->target_class};
    const uint64_t keys_b[] = {a->references, b->field, b->array_class, b->target_class};
    for (size_t i = 0; i < sizeof keys_a / sizeof keys_a[0]; i++)
        if (keys_a[i] != keys_b[i])
            return keys_a[i] < keys_b[i] ? -1 : 1;
    return 0;
}

static void distances_add_up(struct reference_distances *distances)
{
    for (size_t i = 0; i < distances->count; i++) {
        const struct reference_row *row = &distances->rows[i];
        distances->all.references += row->references;
        distances->all.between += row->between;
        distances->all.unknown += row->unknown;
        distances->all.neighbours += row->neighbours;
    }
    if (distances->count > 0)
        qsort(distances->rows, distances->count, sizeof *distances->rows, distances_compare_rows);
}

/* ---- life cycle ---- */

static enum step_status open_graph(struct reference_distances *distances, struct step_error *error)
{
    struct opened_graph *opened = &distances->opened;
    struct graph_moment *graph = &opened->graph;
    enum step_status status = stepfile_open(distances->path, NEEDS_ALL_OBJECTS, &opened->reader,
                                            &opened->seekable, error);
    if (status == STEP_STATUS_OK)
        status = graph_source_init(&graph->source, opened->reader, error);
    if (status != STEP_STATUS_OK)
        return status;
    distances->is_snapshot = !graph_source_has_stores(&graph->source);
    if (distances->is_snapshot && graph->source.inventory.counts[GRAPH_SNAPSHOT] == 0)
        return step_error_set(error, STEP_STATUS_NOT_FOUND, distances->path, STEP_NO_OFFSET,
                              "the trace has no stores of references (the agent's option "
                              "events=reference), and no snapshot (snapshot=)");
    if (!graph_replay_init(&graph->replay, &graph->source, false, true))
        return no_memory(error);
    graph->replay.stored = put_reference;
    graph->replay.stored_user = distances;
    return STEP_STATUS_OK;
}

enum step_status reference_distances_read(struct reference_distances *distances, const char *path,
                                          struct step_error *error)
{
    *distances = (struct reference_distances){.path = path};
    id_table_init(&distances->threads, sizeof(struct thread_births));
    enum step_status status = open_graph(distances, error);
    if (status == STEP_STATUS_OK)
        status = distances_put_events(distances, error);
    if (status == STEP_STATUS_OK) {
        opened_graph_report_unknown(path, &distances->opened, 0);
        distances_add_up(distances);
    }
    return status;
}

enum step_status reference_distances_close(struct reference_distances *distances,
                                           enum step_status status, const struct step_error *error)
{
    clear_rows(distances);
    free(distances->rows);
    free(distances->births);
    step_index_reset(&distances->index);
    id_table_reset(&distances->threads);
    return opened_graph_close(&distances->opened, distances->path, status, error);
}
