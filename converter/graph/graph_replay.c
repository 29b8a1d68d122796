/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Applies events to the graph.
 *
 * The same functions serve three purposes: the heap at a moment, deaths (touches), and distances
 * (the callback `stored`). An event that does not fit, such as a store into an object that the
 * graph lacks, is counted and has no further effect: a trace may begin late, lose records, or be
 * cut.
 */
#include "converter/graph/graph_replay.h"

#include <stdlib.h>
#include <string.h>

#include "format/core/grow.h"

enum { ACCESS_STATIC = 0x8 };

/* ---- names ---- */

static bool graph_replay_is_text(struct step_bytes bytes, const char *text)
{
    return bytes.length == strlen(text) && memcmp(bytes.data, text, bytes.length) == 0;
}

/* Reference.referent is the one field that does not keep its target.  Its class is checked as well
 * as its name, as programs have fields of that name, too. */
static unsigned look_up_field(const struct graph_source *source, uint64_t field)
{
    struct step_java_field entry;
    struct step_java_class class;
    if (!java_field(&source->java, field, &entry))
        return 0;
    unsigned known = GRAPH_FIELD_KNOWN;
    if ((entry.modifiers & ACCESS_STATIC) != 0)
        known |= GRAPH_FIELD_STATIC;
    if (graph_replay_is_text(entry.name, "referent") &&
        java_class(&source->java, entry.class_, &class) &&
        graph_replay_is_text(class.name, "java/lang/ref/Reference"))
        known |= GRAPH_FIELD_WEAK;
    return known;
}

unsigned graph_replay_field(struct graph_replay *replay, uint64_t field)
{
    enum { LOOKED_UP = 0x80 };
    if (field == 0 || field > EDGE_NUMBER_MOST)
        return 0;
    uint8_t *known = id_table_get(&replay->fields, (uint32_t) field);
    if (known == NULL)
        return look_up_field(replay->source, field);
    if (*known == 0)
        *known = (uint8_t) (look_up_field(replay->source, field) | LOOKED_UP);
    return *known & (unsigned) ~LOOKED_UP;
}

static uint32_t key_of_field(struct graph_replay *replay, uint64_t field)
{
    if (field > EDGE_NUMBER_MOST)
        return UINT32_MAX;
    return (graph_replay_field(replay, field) & GRAPH_FIELD_WEAK) != 0
               ? edge_key_of_weak_field((uint32_t) field)
               : edge_key_of_field((uint32_t) field);
}

static uint32_t key_of_index(uint64_t index)
{
    return index <= EDGE_INDEX_MOST ? (uint32_t) index : UINT32_MAX;
}

/* ---- allocations and frees ---- */

static bool graph_replay_put_alloc(struct graph_replay *replay, const struct graph_event *event)
{
    struct object_graph *graph = &replay->graph;
    if (event->object == 0)
        return true;
    uint32_t node = object_graph_find(graph, event->object);
    replay->unknown.twice += node != 0;
    if (node == 0 && (node = object_graph_add(graph, event->object)) == 0)
        return false;
    if (event->kind == GRAPH_EXISTING)
        graph->nodes[node].edges.marks |= GRAPH_EXISTED;
    if (graph->objects != NULL)
        graph->objects[node] = (struct graph_object){
            .class_id = event->class_id,
            .site = event->site,
            .size = (event->amount < GRAPH_SIZE_MOST ? event->amount : GRAPH_SIZE_MOST) &
                    GRAPH_SIZE_MOST, /* for the compiler */
            .padding = event->padding};
    object_graph_touch(graph, node, event->time, TOUCH_USE);
    return true;
}

void graph_replay_free(struct graph_replay *replay, uint64_t object)
{
    uint32_t node = object_graph_find(&replay->graph, object);
    if (node != 0)
        object_graph_remove(&replay->graph, node);
    else
        replay->unknown.frees++;
}

bool graph_replay_knows(const void *replay, uint64_t object)
{
    return object_graph_find(&((const struct graph_replay *) replay)->graph, object) != 0;
}

/* ---- stores ---- */

static uint32_t target_of(struct graph_replay *replay, uint64_t object)
{
    uint32_t node = object != 0 ? object_graph_find(&replay->graph, object) : 0;
    replay->unknown.targets += object != 0 && node == 0;
    return node;
}

static void graph_replay_tell(const struct graph_replay *replay, uint32_t holder, uint32_t key,
                              uint32_t before, uint32_t target)
{
    if (replay->stored != NULL)
        replay->stored(replay->stored_user, holder, key, before, target);
}

/* The old target was reachable until now through this edge, and the new one was in use: the frame
 * that stored it had it.  The edge is changed before both are touched, so that a touch never
 * describes a graph that is not there yet.  The old target is touched as cut, which is exact; if it
 * is the new one, nothing was cut. */
static bool graph_replay_store(struct graph_replay *replay, uint32_t holder, uint32_t key,
                               uint32_t target, uint64_t time)
{
    struct object_graph *graph = &replay->graph;
    uint32_t before;
    if (!object_graph_set(graph, holder, key, target, &before))
        return false;
    graph_replay_tell(replay, holder, key, before, target);
    if (before != target && before != 0 && graph->nodes[before].object != 0)
        object_graph_touch(graph, before, time, TOUCH_CUT);
    object_graph_touch(graph, target, time, TOUCH_USE);
    return true;
}

/* A store shows its target in use even if the holder is unknown.  A static field has no holder; its
 * edge belongs to the node GRAPH_STATICS, so that all static fields are one list of roots. */
static bool put_store(struct graph_replay *replay, const struct graph_event *event)
{
    bool is_field = event->kind == GRAPH_FIELD;
    uint32_t key = is_field ? key_of_field(replay, event->number) : key_of_index(event->number);
    uint32_t target = target_of(replay, event->target);
    uint32_t holder = event->object != 0 ? object_graph_find(&replay->graph, event->object) : 0;
    replay->stores++;
    if (is_field && event->object == 0 &&
        (graph_replay_field(replay, event->number) & GRAPH_FIELD_STATIC) != 0)
        holder = GRAPH_STATICS;
    if (holder == 0 || key == UINT32_MAX) {
        replay->unknown.holders += holder == 0;
        replay->unknown.keys += key == UINT32_MAX;
        object_graph_touch(&replay->graph, target, event->time, TOUCH_USE);
        return true;
    }
    if (!graph_replay_store(replay, holder, key, target, event->time))
        return false;
    if (holder != GRAPH_STATICS) /* after touching the old target, which may be the holder itself */
        object_graph_touch(&replay->graph, holder, event->time, TOUCH_USE);
    return true;
}

/* ---- ranges ---- */

static bool keep_copied(struct graph_replay *replay, size_t *count, uint32_t key, uint32_t target)
{
    if (!STEP_MAKE_ROOM(replay->copied, replay->copied_capacity, *count + 1))
        return false;
    replay->copied[(*count)++] = (struct edge){target, key};
    return true;
}

/* Collects the elements [from, from + length) of a node that have a live target.  Whichever is
 * shorter is gone through: the range, by look-ups, or the list.  A copy of a million elements from
 * an array with three references must not take a million steps, nor a copy of one element from a
 * full array. */
static bool collect_range(struct graph_replay *replay, uint32_t node, uint64_t from,
                          uint64_t length, size_t *count)
{
    size_t slots;
    const struct graph_node *nodes = replay->graph.nodes;
    const struct edge_list *list = &nodes[node].edges;
    const struct edge *edges = edge_list_slots(list, &slots);
    if (length < slots) {
        for (uint64_t i = 0; i < length && from + i <= EDGE_INDEX_MOST; i++) {
            uint32_t target = edge_list_get(list, (uint32_t) (from + i));
            if (nodes[target].object != 0 &&
                !keep_copied(replay, count, (uint32_t) (from + i), target))
                return false;
        }
        return true;
    }
    for (size_t i = 0; i < slots; i++)
        if (nodes[edges[i].target].object != 0 && edge_key_is_index(edges[i].key) &&
            edges[i].key >= from && edges[i].key - from < length &&
            !keep_copied(replay, count, edges[i].key, edges[i].target))
            return false;
    return true;
}

/*
 * Sets the first `moved` collected elements in the holder, after removing the others.
 *
 * Elements beyond the source's references are null, and nulls have no edge.  So the old elements of
 * the whole range go first, and what is copied comes after.  The old elements are touched last, and
 * only where the element has changed: one that was copied onto its own place was never cut.
 */
static bool move_range(struct graph_replay *replay, const struct graph_event *event,
                       uint32_t holder, size_t moved, size_t all)
{
    struct object_graph *graph = &replay->graph;
    uint32_t before;
    for (size_t i = moved; i < all; i++) {
        if (!object_graph_set(graph, holder, replay->copied[i].key, 0, &before))
            return false;
        graph_replay_tell(replay, holder, replay->copied[i].key, before, 0);
    }
    for (size_t i = 0; i < moved; i++) {
        uint64_t index = event->number + (replay->copied[i].key - event->from);
        if (key_of_index(index) == UINT32_MAX)
            replay->unknown.keys++;
        else if (!graph_replay_store(replay, holder, (uint32_t) index, replay->copied[i].target,
                                     event->time))
            return false;
    }
    for (size_t i = moved; i < all; i++) {
        const struct edge *was = &replay->copied[i];
        if (edge_list_get(&graph->nodes[holder].edges, was->key) != was->target)
            object_graph_touch(graph, was->target, event->time, TOUCH_CUT);
    }
    return true;
}

/* Like memmove(): the source is read first.  Source and holder may be one array, whose range moves
 * by a place when an element is inserted or removed. */
static bool put_range(struct graph_replay *replay, const struct graph_event *event)
{
    struct object_graph *graph = &replay->graph;
    uint32_t source = object_graph_find(graph, event->source);
    uint32_t holder = object_graph_find(graph, event->object);
    size_t moved = 0;
    replay->stores++;
    replay->unknown.sources += source == 0;
    replay->unknown.holders += holder == 0;
    if (holder != 0) {
        if (source != 0 && !collect_range(replay, source, event->from, event->amount, &moved))
            return false;
        size_t all = moved;
        if (!collect_range(replay, holder, event->number, event->amount, &all) ||
            !move_range(replay, event, holder, moved, all))
            return false;
    }
    object_graph_touch(graph, source, event->time, TOUCH_USE);
    object_graph_touch(graph, holder, event->time, TOUCH_USE);
    return true;
}

/* A clone has the references of its source from the start.  The list is looked up again in each
 * step, as adding edges may move lists, and `edges` with them. */
static bool put_clone(struct graph_replay *replay, const struct graph_event *event)
{
    struct object_graph *graph = &replay->graph;
    uint32_t source = object_graph_find(graph, event->source);
    uint32_t holder = object_graph_find(graph, event->object);
    replay->stores++;
    replay->unknown.sources += source == 0;
    replay->unknown.holders += holder == 0;
    object_graph_touch(graph, source, event->time, TOUCH_USE);
    object_graph_touch(graph, holder, event->time, TOUCH_USE);
    if (source == 0 || holder == 0 || source == holder)
        return true;
    size_t slots;
    const struct edge_list *list = &graph->nodes[source].edges;
    for (size_t i = 0; edge_list_slots(list, &slots), i < slots; i++) {
        struct edge edge = edge_list_slots(list, &slots)[i];
        if (edge.target != 0 && !edge_key_is_other(edge.key) &&
            !graph_replay_store(replay, holder, edge.key, edge.target, event->time))
            return false;
    }
    return true;
}

/* ---- snapshots ---- */

/* A snapshot describes the graph again, in three kinds of records: roots, references, and the end.
 * An object's own references replace those known when the first of them arrives (GRAPH_DESCRIBED).
 * What the snapshot does not reach (GRAPH_REACHED is not set) keeps its edges: it is garbage, or
 * was allocated while the snapshot was taken. */
static void begin_snapshot(struct graph_replay *replay, const struct graph_event *event)
{
    struct object_graph *graph = &replay->graph;
    for (uint32_t i = 0; i < graph->node_count; i++)
        graph->nodes[i].edges.marks &= (uint8_t) ~(GRAPH_REACHED | GRAPH_DESCRIBED);
    replay->root_count = 0;
    replay->snapshot = event->number != 0 ? event->number : 1;
    replay->is_in_snapshot = true;
    replay->snapshot_unknown = 0;
}

static void graph_replay_reach(struct graph_replay *replay, uint32_t node, uint64_t time)
{
    if (node == 0)
        return;
    replay->graph.nodes[node].edges.marks |= GRAPH_REACHED;
    object_graph_touch(&replay->graph, node, time, TOUCH_USE);
}

static bool graph_replay_put_root(struct graph_replay *replay, const struct graph_event *event)
{
    uint32_t node = target_of(replay, event->target);
    graph_replay_reach(replay, node, event->time);
    if (node == 0)
        return true;
    if (!STEP_MAKE_ROOM(replay->roots, replay->root_capacity, replay->root_count + 1))
        return false;
    replay->roots[replay->root_count++] =
        (struct graph_root){.object = event->target,
                            .kind = event->number < UINT32_MAX ? (uint32_t) event->number : 0,
                            .thread_id = event->from < UINT32_MAX ? (uint32_t) event->from : 0,
                            .method_id = event->source < UINT32_MAX ? (uint32_t) event->source : 0};
    return true;
}

/* A snapshot says all references of the node anew. */
static void clear_edges(struct graph_replay *replay, uint32_t node)
{
    size_t slots;
    const struct edge *edges = edge_list_slots(&replay->graph.nodes[node].edges, &slots);
    for (size_t i = 0; replay->stored != NULL && i < slots; i++)
        if (edges[i].target != 0 && !edge_key_is_other(edges[i].key))
            graph_replay_tell(replay, node, edges[i].key, edges[i].target, 0);
    object_graph_clear_edges(&replay->graph, node);
}

static bool put_reference(struct graph_replay *replay, const struct graph_event *event)
{
    struct object_graph *graph = &replay->graph;
    bool is_other = event->kind == GRAPH_HAS_OTHER;
    uint32_t target = target_of(replay, event->target), before;
    uint32_t holder = event->object != 0 ? object_graph_find(graph, event->object) : GRAPH_STATICS;
    uint32_t key =
        is_other ? (event->number <= EDGE_NUMBER_MOST ? edge_key_of_other((uint32_t) event->number)
                                                      : UINT32_MAX)
        : event->kind == GRAPH_HAS_FIELD ? key_of_field(replay, event->number)
                                         : key_of_index(event->number);
    graph_replay_reach(replay, target, event->time);
    replay->unknown.holders += holder == 0;
    replay->unknown.keys += key == UINT32_MAX;
    if (holder == 0 || target == 0 || key == UINT32_MAX)
        return true;
    if ((graph->nodes[holder].edges.marks & GRAPH_DESCRIBED) == 0) {
        clear_edges(replay, holder);
        graph->nodes[holder].edges.marks |= GRAPH_DESCRIBED;
    }
    if (is_other)
        return object_graph_add_edge(graph, holder, key, target);
    if (!object_graph_set(graph, holder, key, target, &before))
        return false;
    graph_replay_tell(replay, holder, key, before, target);
    return true;
}

/* Objects that the snapshot reached without any references have none.  This cannot be known before
 * the end, since no record says that an object has no references. */
static void end_snapshot(struct graph_replay *replay, const struct graph_event *event)
{
    struct object_graph *graph = &replay->graph;
    graph->nodes[GRAPH_STATICS].edges.marks |= GRAPH_REACHED;
    for (uint32_t i = GRAPH_STATICS; replay->is_in_snapshot && i < graph->node_count; i++)
        if ((graph->nodes[i].edges.marks & (GRAPH_REACHED | GRAPH_DESCRIBED)) == GRAPH_REACHED &&
            (graph->nodes[i].object != 0 || i == GRAPH_STATICS))
            clear_edges(replay, i);
    replay->is_in_snapshot = false;
    replay->snapshot_unknown = event->amount;
}

/* ---- all events ---- */

bool graph_replay_put(struct graph_replay *replay, const struct graph_event *event)
{
    switch ((enum graph_event_kind) event->kind) {
    case GRAPH_ALLOC:
    case GRAPH_EXISTING:
        return graph_replay_put_alloc(replay, event);
    case GRAPH_FIELD:
    case GRAPH_ELEMENT:
        return put_store(replay, event);
    case GRAPH_RANGE:
        return put_range(replay, event);
    case GRAPH_CLONE:
        return put_clone(replay, event);
    case GRAPH_SNAPSHOT:
        begin_snapshot(replay, event);
        return true;
    case GRAPH_ROOT:
        return graph_replay_put_root(replay, event);
    case GRAPH_HAS_FIELD:
    case GRAPH_HAS_ELEMENT:
    case GRAPH_HAS_OTHER:
        return put_reference(replay, event);
    case GRAPH_SNAPSHOT_END:
        end_snapshot(replay, event);
        return true;
    default:
        return true;
    }
}

bool graph_replay_init(struct graph_replay *replay, const struct graph_source *source,
                       bool keeps_touches, bool keeps_objects)
{
    *replay = (struct graph_replay){.source = source};
    id_table_init(&replay->fields, sizeof(uint8_t));
    return object_graph_init(&replay->graph, keeps_touches, keeps_objects);
}

void graph_replay_reset(struct graph_replay *replay)
{
    object_graph_reset(&replay->graph);
    id_table_reset(&replay->fields);
    free(replay->roots);
    free(replay->copied);
    *replay = (struct graph_replay){0};
}
