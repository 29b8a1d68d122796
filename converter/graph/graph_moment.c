/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the end of the replay, with a separate pass unless it is a time, then replays up to it.
 *
 * The peak and the end of a collection are known only when later events were seen, and a graph
 * cannot be turned back.  The first pass reads few kinds of events, so it costs much less than the
 * second.
 */
#include "converter/graph/graph_moment.h"

#include <stdlib.h>
#include <string.h>

#include "converter/containers/no_memory.h"
#include "converter/containers/peak.h"
#include "converter/numbers/quantity.h"
#include "converter/trace/collection_clock.h"
#include "format/core/grow.h"

/* The end of the replay: a time, and a maximum number of allocations and frees.  A tick may have
 * many of these, so the time alone would miss a peak within a tick. */
struct stop {
    uint64_t time;
    uint64_t lives; /* UINT64_MAX: unlimited */
};

static bool is_alloc(const struct graph_event *event)
{
    return event->kind == GRAPH_ALLOC || event->kind == GRAPH_EXISTING;
}

static bool graph_moment_is_free(const struct graph_event *event)
{
    return event->kind == GRAPH_FREE || event->kind == GRAPH_DEATH;
}

/* ---- end of the replay ---- */

/* Adds a free or a death. */
static bool graph_moment_put_free(struct collection_clock *clock, const struct graph_event *event)
{
    return collection_clock_put(clock, event->amount, event->kind == GRAPH_DEATH, 0);
}

/* Collections end as collection_clock has it: when the first event after their frees comes.  With
 * computed deaths (GRAPH_DEATH) an object leaves before its collection; `amount` has the time of
 * the latter. */
static enum step_status find_collection(struct graph_moment *graph, struct stop *stop,
                                        struct step_error *error)
{
    struct collection_clock clock = {0};
    struct collection over = {0};
    const struct graph_event *event;
    uint64_t number = graph->moment.value;
    enum step_status status = graph_source_start(
        &graph->source, GRAPH_EVENT_BIT(GRAPH_FREE) | GRAPH_EVENT_BIT(GRAPH_DEATH), NULL, NULL,
        error);
    while (status == STEP_STATUS_OK && over.number < number &&
           (status = graph_source_next(&graph->source, &event, error)) == STEP_STATUS_OK) {
        while (over.number < number && collection_clock_ends(&clock, event->time, &over))
            continue;
        if (!graph_moment_put_free(&clock, event))
            status = no_memory(error);
    }
    if (status == STEP_STATUS_END) {
        status = STEP_STATUS_OK;
        while (over.number < number && collection_clock_finish(&clock, &over))
            continue;
    }
    stop->time = over.time;
    if (status == STEP_STATUS_OK && (number == 0 || over.number != number))
        status = step_error_set(error, STEP_STATUS_NOT_FOUND,
                                step_reader_borrow_name(graph->source.java.reader), STEP_NO_OFFSET,
                                "the trace has no such moment: it has %llu collection%s",
                                (unsigned long long) clock.ended, plural(clock.ended));
    collection_clock_reset(&clock);
    return status;
}

static enum step_status find_time(struct graph_moment *graph, struct stop *stop,
                                  struct step_error *error)
{
    struct step_reader *reader = graph->source.java.reader;
    uint64_t last = graph->source.inventory.last_tick;
    stop->time = graph->moment.value / graph->source.java.resolution_ns;
    if (stop->time <= last)
        return STEP_STATUS_OK;
    return step_error_set(
        error, STEP_STATUS_NOT_FOUND, step_reader_borrow_name(reader), STEP_NO_OFFSET,
        "the trace has no such moment: it ends at %s",
        quantity_of_time((double) last * (double) graph->source.java.resolution_ns,
                         graph->source.java.unit)
            .text);
}

/* An allocation of an object that is alive already replaces it: its old size is subtracted first.
 * The graph is used as the table of live sizes and reset afterwards, as it has no edges in this
 * pass. */
static enum step_status find_peak(struct graph_moment *graph, struct stop *stop,
                                  struct step_error *error)
{
    const uint32_t kinds = GRAPH_EVENT_BIT(GRAPH_ALLOC) | GRAPH_EVENT_BIT(GRAPH_EXISTING) |
                           GRAPH_EVENT_BIT(GRAPH_FREE) | GRAPH_EVENT_BIT(GRAPH_DEATH);
    struct graph_replay *replay = &graph->replay;
    const struct graph_event *event;
    struct peak peak = {0, 0}, now = {0, 0};
    uint64_t lives = 0;
    enum step_status status =
        graph_source_start(&graph->source, kinds, graph_replay_knows, replay, error);
    stop->lives = 0;
    while (status == STEP_STATUS_OK &&
           (status = graph_source_next(&graph->source, &event, error)) == STEP_STATUS_OK) {
        uint32_t node = object_graph_find(&replay->graph, event->object);
        lives++;
        if (node != 0) {
            now.bytes -= replay->graph.objects[node].size;
            now.objects--;
        }
        if (graph_moment_is_free(event)) {
            graph_replay_free(replay, event->object);
            continue;
        }
        if (event->object != 0) {
            now.bytes += event->amount;
            now.objects++;
        }
        if (!graph_replay_put(replay, event))
            status = no_memory(error);
        if (peak_passed(&peak, now.bytes, now.objects)) {
            stop->lives = lives;
            stop->time = event->time;
        }
    }
    return status == STEP_STATUS_END ? STEP_STATUS_OK : status;
}

/* Without stores, references are known only up to a snapshot. */
static enum step_status find_snapshot(struct graph_moment *graph, struct stop *stop,
                                      struct step_error *error)
{
    const struct graph_event *event;
    uint64_t found = UINT64_MAX;
    bool is_later = false;
    enum step_status status =
        graph_source_start(&graph->source, GRAPH_EVENT_BIT(GRAPH_SNAPSHOT_END), NULL, NULL, error);
    while (status == STEP_STATUS_OK &&
           (status = graph_source_next(&graph->source, &event, error)) == STEP_STATUS_OK)
        if (event->time <= stop->time)
            found = event->time;
        else
            is_later = true;
    if (status != STEP_STATUS_END)
        return status;
    if (found == UINT64_MAX)
        return step_error_set(error, STEP_STATUS_NOT_FOUND,
                              step_reader_borrow_name(graph->source.java.reader), STEP_NO_OFFSET,
                              is_later
                                  ? "the trace has no references by that moment, but a snapshot of "
                                    "them later: --at=end takes the last one"
                                  : "the trace has no references by that moment; record --report "
                                    "or -O snapshot=end records them at the end, -e "
                                    "class+alloc+free+thread+reference at any moment");
    *stop = (struct stop){found, UINT64_MAX};
    return STEP_STATUS_OK;
}

static enum step_status find_stop(struct graph_moment *graph, struct stop *stop,
                                  struct step_error *error)
{
    *stop = (struct stop){UINT64_MAX, UINT64_MAX};
    enum step_status status = STEP_STATUS_OK;
    if (graph->moment.kind == HEAP_AT_TIME)
        status = find_time(graph, stop, error);
    else if (graph->moment.kind == HEAP_AT_COLLECTION)
        status = find_collection(graph, stop, error);
    else if (graph->moment.kind == HEAP_AT_PEAK)
        status = find_peak(graph, stop, error);
    if (status == STEP_STATUS_OK && !graph->has_stores)
        status = find_snapshot(graph, stop, error);
    return status;
}

/* ---- replay ---- */

static void pass_time(struct collection_clock *clock, uint64_t time)
{
    struct collection over;
    while (collection_clock_ends(clock, time, &over))
        continue;
}

static enum step_status replay_to(struct graph_moment *graph, const struct stop *stop,
                                  struct step_error *error)
{
    struct graph_replay *replay = &graph->replay;
    const struct graph_event *event;
    uint64_t lives = 0, time = 0;
    bool was_snapshot = false;
    struct collection_clock clock = {0};
    enum step_status status =
        graph_source_start(&graph->source, GRAPH_REPLAY_KINDS, graph_replay_knows, replay, error);
    while (status == STEP_STATUS_OK &&
           (status = graph_source_next(&graph->source, &event, error)) == STEP_STATUS_OK) {
        bool counts = is_alloc(event) || graph_moment_is_free(event);
        if (event->time > stop->time || (counts && lives == stop->lives))
            break;
        pass_time(&clock, event->time);
        lives += counts;
        time = event->time;
        was_snapshot = event->kind == GRAPH_SNAPSHOT_END;
        if (graph_moment_is_free(event)) {
            graph_replay_free(replay, event->object);
            if (!graph_moment_put_free(&clock, event))
                status = no_memory(error);
        } else if (!graph_replay_put(replay, event)) {
            status = no_memory(error);
        }
    }
    if (stop->lives == UINT64_MAX)
        pass_time(&clock, stop->time < UINT64_MAX ? stop->time + 1 : stop->time);
    graph->collections = collection_clock_begun(&clock);
    collection_clock_reset(&clock);
    graph->time_ns = graph_source_ns(&graph->source, time);
    graph->is_snapshot = was_snapshot && replay->snapshot != 0;
    return status == STEP_STATUS_END ? STEP_STATUS_OK : status;
}

/* ---- roots ---- */

static bool add_root(struct graph_moment *graph, uint32_t node, uint32_t kind, uint32_t field)
{
    if (!STEP_MAKE_ROOM(graph->roots, graph->root_capacity, graph->root_count + 1))
        return false;
    graph->roots[graph->root_count++] = (struct graph_start){node, kind, field};
    return true;
}

static bool add_statics(struct graph_moment *graph)
{
    size_t count;
    const struct object_graph *objects = &graph->replay.graph;
    const struct edge *edges = edge_list_slots(&objects->nodes[GRAPH_STATICS].edges, &count);
    for (size_t i = 0; i < count; i++)
        if (objects->nodes[edges[i].target].object != 0 &&
            !add_root(graph, edges[i].target, GRAPH_ROOT_STATIC, edge_key_number(edges[i].key)))
            return false;
    return true;
}

/* Local variables and monitors of a snapshot are roots only if no event followed it: the next
 * instruction may change them.  The other kinds last, as nothing in a trace says that they end.  An
 * object of them that was freed since is not found, and is no root. */
static bool add_snapshot_roots(struct graph_moment *graph)
{
    const struct graph_replay *replay = &graph->replay;
    for (size_t i = 0; i < replay->root_count; i++) {
        const struct graph_root *root = &replay->roots[i];
        bool lasts = root->kind != GRAPH_ROOT_STACK_LOCAL && root->kind != GRAPH_ROOT_JNI_LOCAL &&
                     root->kind != GRAPH_ROOT_MONITOR;
        uint32_t node = object_graph_find(&replay->graph, root->object);
        if (node != 0 && (lasts || graph->is_snapshot) && !add_root(graph, node, root->kind, 0))
            return false;
    }
    return true;
}

/* Returns whether the program has ended, so that no frame holds anything, and the roots of the JVM
 * are known.  A snapshot has roots of its own. */
static bool frames_are_gone(const struct graph_moment *graph)
{
    const char *end = step_reader_property(graph->source.java.reader, "end");
    return graph->moment.kind == HEAP_AT_END && !graph->is_snapshot &&
           graph->replay.snapshot != 0 && end != NULL && strcmp(end, "vm-death") == 0;
}

/*
 * Adds objects without a known holder as roots; after a snapshot, only those that it reached.
 * `is_known` says which nodes are roots already.
 *
 * A trace has no frames, so what only frames hold looks like garbage.  An object that lives and has
 * no strong holder is taken for one that a frame holds.  The error is on the safe side: garbage is
 * shown as retained by a frame rather than live objects as garbage.  Cycles that nothing else
 * refers to have holders, and stay unreached.
 */
static bool add_unknown_roots(struct graph_moment *graph, uint32_t kind, bool *is_known)
{
    const struct object_graph *objects = &graph->replay.graph;
    for (size_t i = 0; i < graph->known_count; i++)
        is_known[graph->roots[i].node] = true;
    for (uint32_t i = GRAPH_FIRST_NODE; i < objects->node_count; i++) {
        const struct graph_node *node = &objects->nodes[i];
        if (node->object == 0 || node->strong != 0 || is_known[i] ||
            (graph->is_snapshot && (node->edges.marks & GRAPH_REACHED) == 0))
            continue;
        if (!add_root(graph, i, kind, 0))
            return false;
    }
    return true;
}

/* Known roots come first in the array: the searches of dominators.c and paths.c prefer them
 * (known_count). */
static bool add_frames(struct graph_moment *graph)
{
    bool are_gone = frames_are_gone(graph);
    bool *is_known = calloc(graph->replay.graph.node_count + 1, sizeof *is_known);
    graph->known_count = graph->root_count;
    bool added =
        is_known != NULL &&
        add_unknown_roots(graph, are_gone ? GRAPH_ROOT_UNCOLLECTED : GRAPH_ROOT_FRAME, is_known);
    free(is_known);
    graph->keeper_count = are_gone ? graph->known_count : graph->root_count;
    return added;
}

/* ---- life cycle ---- */

/* The graph is emptied between the passes: find_peak() has filled it. */
enum step_status graph_moment_find(struct graph_moment *graph, struct step_reader *reader,
                                   const struct heap_moment *moment, struct step_error *error)
{
    struct stop stop;
    *graph = (struct graph_moment){.moment = *moment};
    enum step_status status = graph_source_init(&graph->source, reader, error);
    if (status != STEP_STATUS_OK)
        return status;
    graph->has_stores = graph_source_has_stores(&graph->source);
    if (!graph_replay_init(&graph->replay, &graph->source, false, true))
        return no_memory(error);
    status = find_stop(graph, &stop, error);
    if (status != STEP_STATUS_OK)
        return status;
    graph_replay_reset(&graph->replay);
    if (!graph_replay_init(&graph->replay, &graph->source, false, true))
        return no_memory(error);
    status = replay_to(graph, &stop, error);
    if (status == STEP_STATUS_OK &&
        (!add_statics(graph) || !add_snapshot_roots(graph) || !add_frames(graph)))
        status = no_memory(error);
    return status;
}

void graph_moment_reset(struct graph_moment *graph)
{
    graph_replay_reset(&graph->replay);
    graph_source_reset(&graph->source);
    free(graph->roots);
    *graph = (struct graph_moment){0};
}

uint32_t *graph_moment_root_nodes(const struct graph_moment *graph)
{
    uint32_t *nodes = malloc((graph->root_count + 1) * sizeof *nodes);
    for (size_t i = 0; nodes != NULL && i < graph->root_count; i++)
        nodes[i] = graph->roots[i].node;
    return nodes;
}

const char *graph_root_name(uint32_t kind)
{
    static const char *const names[] = {"JNI global", "system class", "monitor", "local variable",
                                        "JNI local",  "thread",       "JVM"};
    if (kind >= GRAPH_ROOT_JNI_GLOBAL && kind <= GRAPH_ROOT_OTHER)
        return names[kind - GRAPH_ROOT_JNI_GLOBAL];
    return kind == GRAPH_ROOT_STATIC        ? "static field"
           : kind == GRAPH_ROOT_FRAME       ? "frame"
           : kind == GRAPH_ROOT_UNCOLLECTED ? "no known holder: not collected yet"
                                            : "root";
}
