/* SPDX-License-Identifier: Apache-2.0 */
/* Touches, and what they come to when a collection has been. */
#include "converter/deaths/death_tracker.h"

#include <stdlib.h>

#include "converter/base/no_memory.h"
#include "format/core/grow.h"

/* How many calls further out an exit's entry is looked for. */
enum { UNWOUND_MOST = 4096 };

/* In place of a thread: the free stays as it is (java.ObjectFreeUnknown). */
#define STAYS UINT32_MAX

struct receiver {
    uint64_t method;
    uint64_t object;
};

struct receivers {
    struct receiver *items;
    size_t count, capacity;
};

/* ---- calls ---- */

static void touch_object(struct death_tracker *tracker, uint64_t object, uint64_t time)
{
    struct object_graph *graph = &tracker->replay.graph;
    if (object != 0)
        object_graph_touch(graph, object_graph_find(graph, object), time, TOUCH_USE);
}

static bool enter(struct death_tracker *tracker, const struct graph_event *event)
{
    struct receivers *calls = id_table_get(&tracker->threads, event->thread_id);
    touch_object(tracker, event->object, event->time);
    if (calls == NULL)
        return false;
    if (calls->count == calls->capacity) {
        struct receiver *grown =
            step_grown(calls->items, &calls->capacity, calls->count + 1, sizeof *grown);
        if (grown == NULL)
            return false;
        calls->items = grown;
    }
    calls->items[calls->count++] = (struct receiver){event->number, event->object};
    return true;
}

/* The receiver was in the frame until now; so were those of calls whose exits are missing. */
static void leave(struct death_tracker *tracker, const struct graph_event *event)
{
    struct receivers *calls = id_table_find(&tracker->threads, event->thread_id);
    size_t at = calls != NULL ? calls->count : 0;
    size_t least = at > UNWOUND_MOST ? at - UNWOUND_MOST : 0;
    while (at > least && calls->items[at - 1].method != event->number)
        at--;
    if (at == least)
        return;
    while (calls->count >= at)
        touch_object(tracker, calls->items[--calls->count].object, event->time);
}

/* ---- a collection ---- */

static bool add_dying(struct death_tracker *tracker, const struct dying *dying)
{
    if (tracker->batch_count == tracker->batch_capacity) {
        struct dying *grown = step_grown(tracker->batch, &tracker->batch_capacity,
                                         tracker->batch_count + 1, sizeof *grown);
        if (grown == NULL)
            return false;
        tracker->batch = grown;
    }
    tracker->batch[tracker->batch_count++] = *dying;
    return true;
}

/* Frees of objects that the trace does not have keep their time. */
static enum step_status put_free(struct death_tracker *tracker, const struct graph_event *event,
                                 struct step_error *error)
{
    struct object_graph *graph = &tracker->replay.graph;
    uint32_t node = object_graph_find(graph, event->object);
    uint8_t *flags = node != 0 ? graph->nodes[node].edges.flags : NULL;
    tracker->batch_time = event->time;
    if (node != 0 && (flags[0] & GRAPH_DYING) == 0) {
        flags[0] |= GRAPH_DYING;
        const struct dying dying = {.node = node,
                                    .thread_id = event->number != 0 ? STAYS : event->thread_id};
        return add_dying(tracker, &dying) ? STEP_STATUS_OK : no_memory(error);
    }
    tracker->replay.unknown.frees++;
    if (event->number != 0)
        return STEP_STATUS_OK;
    tracker->counts[TOUCH_NONE]++;
    const struct dated_death death = {.time = event->time,
                                      .object = event->object,
                                      .collected = event->time,
                                      .thread_id = event->thread_id,
                                      .how = TOUCH_NONE};
    return death_runs_put(tracker->deaths, &death, error);
}

static bool push(struct death_tracker *tracker, uint32_t node)
{
    if (tracker->pending_count == tracker->pending_capacity) {
        uint32_t *grown = step_grown(tracker->pending, &tracker->pending_capacity,
                                     tracker->pending_count + 1, sizeof *grown);
        if (grown == NULL)
            return false;
        tracker->pending = grown;
    }
    tracker->pending[tracker->pending_count++] = node;
    return true;
}

/* Takes the references of what is dead off what they lead to: what is referred to still, is so by
 * something that lives. */
static void uncount_dead_holders(struct death_tracker *tracker, int by)
{
    struct graph_node *nodes = tracker->replay.graph.nodes;
    for (size_t i = 0; i < tracker->batch_count; i++) {
        size_t slots;
        const struct edge *edges = edge_list_slots(&nodes[tracker->batch[i].node].edges, &slots);
        for (size_t k = 0; k < slots; k++)
            if (edges[k].target != 0 && !edge_key_is_weak(edges[k].key))
                nodes[edges[k].target].strong += (uint32_t) by;
    }
}

/* What is known of each by itself. */
static void judge(struct death_tracker *tracker)
{
    struct object_graph *graph = &tracker->replay.graph;
    uncount_dead_holders(tracker, -1);
    for (size_t i = 0; i < tracker->batch_count; i++) {
        uint32_t node = tracker->batch[i].node;
        uint8_t *flags = graph->nodes[node].edges.flags;
        if (!tracker->has_references || graph->nodes[node].strong > 0)
            object_graph_touch(graph, node, tracker->batch_time, TOUCH_NONE);
        else if (flags[1] == TOUCH_CUT &&
                 ((flags[0] & GRAPH_EXISTED) != 0 && tracker->replay.snapshot == 0))
            flags[1] = TOUCH_USE; /* who else held it before, nobody told */
        else if (flags[1] == TOUCH_CUT && graph->nodes[node].weak > 0)
            flags[1] = TOUCH_USE; /* it could be had through a soft or weak reference */
        if (graph->touched[node] > tracker->batch_time)
            graph->touched[node] = tracker->batch_time;
        tracker->batch[i].touched = graph->touched[node];
        tracker->batch[i].how = flags[1];
    }
    uncount_dead_holders(tracker, 1);
}

/* At one time the less sure go first: what both hold is as unsure. */
static int later_first(const void *a, const void *b)
{
    const struct dying *first = a, *second = b;
    if (first->touched != second->touched)
        return first->touched < second->touched ? 1 : -1;
    return (first->how < second->how) - (first->how > second->how);
}

/* A holder's time goes to what it refers to.  This may be dead as well, or be found so by a later
 * collection. */
static void pass_to(struct object_graph *graph, uint32_t target, uint64_t time, uint8_t how)
{
    uint8_t *flags = graph->nodes[target].edges.flags;
    if (graph->touched[target] < time || (graph->touched[target] == time && flags[1] < how))
        object_graph_touch(graph, target, time, (enum touch_kind) how);
}

/* The node's time goes to all that it alone kept. */
static bool pass_on(struct death_tracker *tracker, uint32_t from)
{
    struct object_graph *graph = &tracker->replay.graph;
    uint64_t time = graph->touched[from];
    if (!push(tracker, from))
        return false;
    while (tracker->pending_count > 0) {
        size_t slots;
        uint32_t node = tracker->pending[--tracker->pending_count];
        uint8_t how = graph->nodes[node].edges.flags[1];
        const struct edge *edges = edge_list_slots(&graph->nodes[node].edges, &slots);
        for (size_t i = 0; i < slots; i++) {
            struct graph_node *target = &graph->nodes[edges[i].target];
            uint8_t *flags = target->edges.flags;
            if (edges[i].target == 0 || edge_key_is_weak(edges[i].key) ||
                (flags[0] & GRAPH_DONE) != 0)
                continue;
            pass_to(graph, edges[i].target, time, how);
            if ((flags[0] & GRAPH_DYING) == 0)
                continue;
            flags[0] |= GRAPH_DONE;
            if (!push(tracker, edges[i].target))
                return false;
        }
    }
    return true;
}

static void measure(struct death_tracker *tracker, uint32_t node)
{
    struct object_graph *graph = &tracker->replay.graph;
    if (!tracker->has_full_collections || graph->nodes[node].edges.flags[1] == TOUCH_NONE)
        return;
    if (!tracker->has_previous || graph->touched[node] >= tracker->previous_time) {
        tracker->errors.within++;
        return;
    }
    uint64_t by = tracker->previous_time - graph->touched[node];
    tracker->errors.earlier++;
    tracker->errors.ticks += by;
    if (by > tracker->errors.most)
        tracker->errors.most = by;
    /* The collection found it alive. */
    object_graph_touch(graph, node, tracker->previous_time, TOUCH_USE);
}

static enum step_status give(struct death_tracker *tracker, const struct dying *dying,
                             struct step_error *error)
{
    const struct object_graph *graph = &tracker->replay.graph;
    uint8_t how = graph->nodes[dying->node].edges.flags[1];
    const struct dated_death death = {.time = graph->touched[dying->node],
                                      .object = graph->nodes[dying->node].object,
                                      .collected = tracker->batch_time,
                                      .thread_id = dying->thread_id,
                                      .how = how};
    tracker->counts[how]++;
    return death_runs_put(tracker->deaths, &death, error);
}

static enum step_status end_collection(struct death_tracker *tracker, struct step_error *error)
{
    struct object_graph *graph = &tracker->replay.graph;
    enum step_status status = STEP_STATUS_OK;
    judge(tracker);
    qsort(tracker->batch, tracker->batch_count, sizeof *tracker->batch, later_first);
    for (size_t i = 0; i < tracker->batch_count; i++) {
        uint8_t *flags = graph->nodes[tracker->batch[i].node].edges.flags;
        bool is_done = (flags[0] & GRAPH_DONE) != 0;
        flags[0] |= GRAPH_DONE;
        if (!is_done && !pass_on(tracker, tracker->batch[i].node))
            return no_memory(error);
    }
    for (size_t i = 0; i < tracker->batch_count && status == STEP_STATUS_OK; i++) {
        measure(tracker, tracker->batch[i].node);
        if (tracker->batch[i].thread_id != STAYS)
            status = give(tracker, &tracker->batch[i], error);
    }
    for (size_t i = 0; i < tracker->batch_count; i++)
        object_graph_remove(graph, tracker->batch[i].node);
    tracker->batch_count = 0;
    tracker->previous_time = tracker->batch_time;
    tracker->has_previous = true;
    tracker->collections++;
    return status;
}

/* ---- from start to end ---- */

bool death_tracker_init(struct death_tracker *tracker, const struct graph_source *source,
                        struct death_runs *deaths)
{
    const uint64_t *counts = source->inventory.counts;
    *tracker = (struct death_tracker){.deaths = deaths};
    tracker->has_references =
        counts[GRAPH_FIELD] + counts[GRAPH_ELEMENT] + counts[GRAPH_RANGE] + counts[GRAPH_CLONE] > 0;
    const char *collect = step_reader_property(source->reader, "collect");
    tracker->has_full_collections = collect != NULL && *collect != '\0';
    id_table_init(&tracker->threads, sizeof(struct receivers));
    return graph_replay_init(&tracker->replay, source, true, false);
}

void death_tracker_reset(struct death_tracker *tracker)
{
    for (uint32_t id = 0; id_table_next(&tracker->threads, &id); id++)
        free(((struct receivers *) id_table_find(&tracker->threads, id))->items);
    id_table_reset(&tracker->threads);
    graph_replay_reset(&tracker->replay);
    free(tracker->batch);
    free(tracker->pending);
    *tracker = (struct death_tracker){0};
}

enum step_status death_tracker_put(struct death_tracker *tracker, const struct graph_event *event,
                                   struct step_error *error)
{
    bool is_free = event->kind == GRAPH_FREE;
    if (tracker->batch_count > 0 && (!is_free || event->time != tracker->batch_time)) {
        enum step_status status = end_collection(tracker, error);
        if (status != STEP_STATUS_OK)
            return status;
    }
    if (is_free)
        return put_free(tracker, event, error);
    bool ok = true;
    if (event->kind == GRAPH_ENTRY)
        ok = enter(tracker, event);
    else if (event->kind == GRAPH_EXIT)
        leave(tracker, event);
    else
        ok = graph_replay_put(&tracker->replay, event);
    return ok ? STEP_STATUS_OK : no_memory(error);
}

enum step_status death_tracker_finish(struct death_tracker *tracker, struct step_error *error)
{
    return tracker->batch_count > 0 ? end_collection(tracker, error) : STEP_STATUS_OK;
}
