/* SPDX-License-Identifier: Apache-2.0 */
/* When objects became unreachable: the steps of the Merlin algorithm (death_tracker.h), each beside
 * the function that does it. */
#include "converter/graph/death_tracker.h"

#include <stdlib.h>

#include "converter/containers/no_memory.h"
#include "format/core/grow.h"
#include "steptrace/live.h"

/* Maximum number of outer calls searched for the entry of an exit.  Without it, each exit of a call
 * from before the trace would search the whole stack in vain. */
enum { UNWOUND_MOST = 4096 };

/* Marks a free that is not replaced (java.ObjectFreeUnknown); stored as its thread. */
#define STAYS UINT32_MAX

struct receiver {
    uint64_t method;
    uint64_t object;
};

struct receivers {
    struct receiver *items;
    size_t count, capacity;
};

struct dying {
    uint64_t touched;
    uint32_t node;
    uint32_t thread_id;
    uint32_t how; /* enum touch_kind */
};

/* ---- step 1: touches ---- */

/* Step 1. The paper stamps what the roots refer to whenever the program could see a difference.  A
 * trace has no local variables, so what a record shows in use is stamped: the objects of a store
 * (graph_replay.c), the receiver of a call.  That is why a time may be a bound: the frame that used
 * the object may have held it for longer.  Events come in the order of time, so a later touch
 * simply replaces an earlier one. */
static void touch_object(struct death_tracker *tracker, uint64_t object, uint64_t time)
{
    struct object_graph *graph = &tracker->replay.graph;
    if (object != 0)
        object_graph_touch(graph, object_graph_find(graph, object), time, TOUCH_USE);
}

static bool death_tracker_enter(struct death_tracker *tracker, const struct graph_event *event)
{
    struct receivers *calls = id_table_get(&tracker->threads, event->thread_id);
    touch_object(tracker, event->object, event->time);
    if (calls == NULL)
        return false;
    if (!STEP_MAKE_ROOM(calls->items, calls->capacity, calls->count + 1))
        return false;
    calls->items[calls->count++] = (struct receiver){event->number, event->object};
    return true;
}

/* The frame held its receiver until now.  Calls whose exits are missing end here, too. */
static void death_tracker_leave(struct death_tracker *tracker, const struct graph_event *event)
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

/* ---- steps 2 to 7: a collection ---- */

static bool add_dying(struct death_tracker *tracker, const struct dying *dying)
{
    if (!STEP_MAKE_ROOM(tracker->batch, tracker->batch_capacity, tracker->batch_count + 1))
        return false;
    tracker->batch[tracker->batch_count++] = *dying;
    return true;
}

/* Step 2: the batch, which is the frees of one time, which a collection found.  It must be complete
 * before it is judged.  Of two dead objects that refer to each other, the one that came too late
 * would look like a living holder of the other.  Frees are the last events of a tick but for the
 * end of the JVM (java_rank()), so any other event ends the batch (death_tracker_put()).
 *
 * GRAPH_DYING keeps a second free of the object from counting, and tells death_tracker_pass_on()
 * what is of the batch.  Frees of objects that are missing from the trace keep their time. */
static enum step_status death_tracker_put_free(struct death_tracker *tracker,
                                               const struct graph_event *event,
                                               struct step_error *error)
{
    struct object_graph *graph = &tracker->replay.graph;
    uint32_t node = object_graph_find(graph, event->object);
    struct edge_list *list = node != 0 ? &graph->nodes[node].edges : NULL;
    tracker->batch_time = event->time;
    if (node != 0 && (list->marks & GRAPH_DYING) == 0) {
        list->marks |= GRAPH_DYING;
        const struct dying dying = {.node = node,
                                    .thread_id = event->number != 0 ? STAYS : event->thread_id};
        return add_dying(tracker, &dying) ? STEP_STATUS_OK : no_memory(error);
    }
    tracker->replay.unknown.frees++;
    if (event->number != 0)
        return STEP_STATUS_OK;
    tracker->summary->counts[TOUCH_NONE]++;
    const struct dated_death death = {.time = event->time,
                                      .object = event->object,
                                      .collected = event->time,
                                      .thread_id = event->thread_id,
                                      .how = TOUCH_NONE};
    return death_runs_put(tracker->deaths, &death, error);
}

static bool death_tracker_push(struct death_tracker *tracker, uint32_t node)
{
    if (!STEP_MAKE_ROOM(tracker->pending, tracker->pending_capacity, tracker->pending_count + 1))
        return false;
    tracker->pending[tracker->pending_count++] = node;
    return true;
}

/* Adds `by` to the reference counts of the objects that dead objects refer to.  With -1, the
 * references that remain come from objects that were not found dead. */
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

/* Step 3: determines the last known time of each dead object by itself.  References among the dead
 * say nothing against a death, so they are taken out of the counts of references first.  A strong
 * reference that is left comes from an object that this collection did not find dead.  The
 * collector took that one for living, or for a root if it examined a part of the heap only, and
 * would have kept the object.  So the trace lacks the store that removed the reference, its last
 * store means nothing, and only the collection is known.  All objects are judged with all these
 * references taken out, since the result must not depend on the order of the batch.  Then the
 * counts are put back: removing the objects takes each reference out once more. */
static void death_tracker_judge(struct death_tracker *tracker)
{
    struct object_graph *graph = &tracker->replay.graph;
    uncount_dead_holders(tracker, -1);
    for (size_t i = 0; i < tracker->batch_count; i++) {
        uint32_t node = tracker->batch[i].node;
        struct edge_list *list = &graph->nodes[node].edges;
        /* Nothing is known if the object still has a holder, or if a dead holder of unknown time
         * has passed TOUCH_NONE on. */
        if (!tracker->summary->has_references || graph->nodes[node].strong > 0 ||
            list->touch == TOUCH_NONE)
            object_graph_touch(graph, node, tracker->batch_time, TOUCH_NONE);
        else if (list->touch == TOUCH_CUT &&
                 ((list->marks & GRAPH_EXISTED) != 0 && tracker->replay.snapshot == 0))
            list->touch = TOUCH_USE; /* earlier holders are unknown */
        else if (list->touch == TOUCH_CUT && graph->nodes[node].weak > 0)
            list->touch = TOUCH_USE; /* it was accessible through a soft or weak reference */
        /* in a trace whose streams are not in order */
        if (graph->touched[node] > tracker->batch_time)
            graph->touched[node] = tracker->batch_time;
        tracker->batch[i].touched = graph->touched[node];
        tracker->batch[i].how = list->touch;
    }
    uncount_dead_holders(tracker, 1);
}

/* The order of step 4.  At equal times the less precise comes first: objects that both hold are as
 * imprecise. */
static int later_first(const void *a, const void *b)
{
    const struct dying *first = a, *second = b;
    if (first->touched != second->touched)
        return first->touched < second->touched ? 1 : -1;
    return (first->how < second->how) - (first->how > second->how);
}

/* Propagates a holder's time to an object that it refers to, which may be dead as well or be found
 * dead by a later collection. */
static void pass_to(struct object_graph *graph, uint32_t target, uint64_t time, uint8_t how)
{
    struct edge_list *list = &graph->nodes[target].edges;
    if (graph->touched[target] < time || (graph->touched[target] == time && list->touch < how))
        object_graph_touch(graph, target, time, (enum touch_kind) how);
}

/* Step 4: propagates the node's time to all dead objects that it reaches and none before it did.
 * An object cannot die before the last object that reaches it.  So its death is the greatest time
 * of all dead objects from which it can be reached, itself included.  The batch is visited from the
 * latest time to the earliest.  The first visit that reaches an object thus comes from the greatest
 * of these, and GRAPH_DONE marks it as settled.  So each edge of the dead is followed once,
 * whatever the shape of the graph, and cycles end at a mark.  In another order, a chain of n
 * objects could be walked n times.  Weak references pass nothing on.
 *
 * Step 5: garbage that stays.  A collector may leave dead objects alone, as a young collection does
 * with old ones.  What is not in the batch gets the time, but is not entered: it keeps its node,
 * its edges and its greatest time, and continues from there when a later batch contains it.
 *
 * The stack is explicit, because a linked list may be millions of objects long. */
static bool death_tracker_pass_on(struct death_tracker *tracker, uint32_t from)
{
    struct object_graph *graph = &tracker->replay.graph;
    uint64_t time = graph->touched[from];
    if (!death_tracker_push(tracker, from))
        return false;
    while (tracker->pending_count > 0) {
        size_t slots;
        uint32_t node = tracker->pending[--tracker->pending_count];
        uint8_t how = graph->nodes[node].edges.touch;
        const struct edge *edges = edge_list_slots(&graph->nodes[node].edges, &slots);
        for (size_t i = 0; i < slots; i++) {
            struct graph_node *target = &graph->nodes[edges[i].target];
            struct edge_list *list = &target->edges;
            if (edges[i].target == 0 || edge_key_is_weak(edges[i].key) ||
                (list->marks & GRAPH_DONE) != 0)
                continue;
            pass_to(graph, edges[i].target, time, how);
            if ((list->marks & GRAPH_DYING) == 0)
                continue;
            list->marks |= GRAPH_DONE;
            if (!death_tracker_push(tracker, edges[i].target))
                return false;
        }
    }
    return true;
}

/* Step 6: a check.  Where each collection examines all objects, the previous one would have freed
 * an object that died before it.  A time before that means that the trace lacks a use, such as a
 * local variable, and the previous collection is the better bound.  Corrected times need not be
 * passed on again: all that this collection found dead was alive at the previous one, and is
 * corrected by itself. */
static void death_tracker_measure(struct death_tracker *tracker, uint32_t node)
{
    struct object_graph *graph = &tracker->replay.graph;
    if (!tracker->summary->has_full_collections || graph->nodes[node].edges.touch == TOUCH_NONE)
        return;
    if (!tracker->has_previous || graph->touched[node] >= tracker->previous_time) {
        tracker->summary->errors.within++;
        return;
    }
    uint64_t by = tracker->previous_time - graph->touched[node];
    tracker->summary->errors.earlier++;
    tracker->summary->errors.ticks += by;
    if (by > tracker->summary->errors.most)
        tracker->summary->errors.most = by;
    /* The collection found it alive. */
    object_graph_touch(graph, node, tracker->previous_time, TOUCH_USE);
}

static enum step_status death_tracker_give(struct death_tracker *tracker, const struct dying *dying,
                                           struct step_error *error)
{
    const struct object_graph *graph = &tracker->replay.graph;
    uint8_t how = graph->nodes[dying->node].edges.touch;
    const struct dated_death death = {.time = graph->touched[dying->node],
                                      .object = graph->nodes[dying->node].object,
                                      .collected = tracker->batch_time,
                                      .thread_id = dying->thread_id,
                                      .how = how};
    tracker->summary->counts[how]++;
    return death_runs_put(tracker->deaths, &death, error);
}

/* Step 7: removal comes last.  It takes away the edges along which times are passed, and makes the
 * nodes available for new objects. */
enum step_status death_tracker_end_collection(struct death_tracker *tracker,
                                              struct step_error *error)
{
    struct object_graph *graph = &tracker->replay.graph;
    enum step_status status = STEP_STATUS_OK;
    death_tracker_judge(tracker);
    qsort(tracker->batch, tracker->batch_count, sizeof *tracker->batch, later_first);
    for (size_t i = 0; i < tracker->batch_count; i++) {
        struct edge_list *list = &graph->nodes[tracker->batch[i].node].edges;
        bool is_done = (list->marks & GRAPH_DONE) != 0;
        list->marks |= GRAPH_DONE;
        if (!is_done && !death_tracker_pass_on(tracker, tracker->batch[i].node))
            return no_memory(error);
    }
    for (size_t i = 0; i < tracker->batch_count && status == STEP_STATUS_OK; i++) {
        death_tracker_measure(tracker, tracker->batch[i].node);
        if (tracker->batch[i].thread_id != STAYS)
            status = death_tracker_give(tracker, &tracker->batch[i], error);
    }
    for (size_t i = 0; i < tracker->batch_count; i++)
        object_graph_remove(graph, tracker->batch[i].node);
    tracker->batch_count = 0;
    tracker->previous_time = tracker->batch_time;
    tracker->has_previous = true;
    tracker->summary->collections++;
    return status;
}

/* ---- life cycle ---- */

bool death_tracker_init(struct death_tracker *tracker, const struct graph_source *source,
                        struct death_runs *deaths, struct dated_summary *summary)
{
    *tracker = (struct death_tracker){.deaths = deaths, .summary = summary};
    tracker->summary->has_references = graph_source_has_stores(source);
    const char *collect = step_reader_property(source->java.reader, "collect");
    tracker->summary->has_full_collections = collect != NULL && *collect != '\0';
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
        enum step_status status = death_tracker_end_collection(tracker, error);
        if (status != STEP_STATUS_OK)
            return status;
    }
    if (is_free)
        return death_tracker_put_free(tracker, event, error);
    bool ok = true;
    if (event->kind == GRAPH_ENTRY)
        ok = death_tracker_enter(tracker, event);
    else if (event->kind == GRAPH_EXIT)
        death_tracker_leave(tracker, event);
    else
        ok = graph_replay_put(&tracker->replay, event);
    return ok ? STEP_STATUS_OK : no_memory(error);
}
