/* SPDX-License-Identifier: Apache-2.0 */
/* Compares the references of snapshots and stores.  References in both are removed from the
 * replayed graph as the snapshot is read; those left at its end come from stores alone. */
#include "converter/commands/check_run.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "converter/cli/error_report.h"
#include "converter/containers/no_memory.h"
#include "converter/files/trace_reader.h"
#include "converter/graph/graph_replay.h"
#include "converter/numbers/quantity.h"
#include "format/core/grow.h"

/* Counts of references, in total or for one place: a field, or the elements of arrays of a
 * class. */
struct edge_counts {
    uint64_t found;   /* in the snapshot; of these */
    uint64_t missing; /* no store has them, and */
    uint64_t other;   /* stores have another target */
    uint64_t surplus; /* only stores have them, although the snapshot reached the object */
};

/* Result for one snapshot. */
struct snapshot_result {
    uint64_t number, time_ns;
    uint64_t unknown; /* references whose source or target the snapshot does not know */
    bool is_complete;
    struct edge_counts all;
    uint64_t constants;       /* of the missing, those in arrays that only the JVM refers to:
                                 constants that classes have resolved, and roots of an archive */
    struct id_table fields;   /* struct edge_counts, by field */
    struct id_table elements; /* struct edge_counts, by class of the array */
};

struct snapshot_printer {
    const char *path;
    uint64_t limit;
    struct json_output *json;
    uint64_t count; /* of snapshots */
    bool lost;      /* memory ran out, and the places were lost */
};

struct place {
    const struct edge_counts *counts;
    uint32_t id;
    bool is_field;
};

static uint64_t differences(const struct edge_counts *counts)
{
    return counts->missing + counts->other + counts->surplus;
}

static int by_differences(const void *left, const void *right)
{
    const struct place *a = left, *b = right;
    uint64_t of_a = differences(a->counts), of_b = differences(b->counts);
    if (of_a != of_b)
        return of_a < of_b ? 1 : -1;
    if (a->is_field != b->is_field)
        return a->is_field ? -1 : 1;
    return a->id < b->id ? -1 : a->id > b->id;
}

/* Collects the places that differ; with `places` NULL, only counts them. */
static size_t snapshot_check_gather(const struct id_table *table, bool is_field,
                                    struct place *places)
{
    size_t count = 0;
    const struct edge_counts *counts;
    for (uint32_t id = 0; (counts = id_table_next(table, &id)) != NULL; id++) {
        if (differences(counts) == 0)
            continue;
        if (places != NULL)
            places[count] = (struct place){counts, id, is_field};
        count++;
    }
    return count;
}

static struct place *sorted_places(const struct snapshot_result *result, size_t *count)
{
    size_t fields = snapshot_check_gather(&result->fields, true, NULL);
    *count = fields + snapshot_check_gather(&result->elements, false, NULL);
    struct place *places = malloc((*count + 1) * sizeof *places);
    if (places == NULL)
        return NULL;
    snapshot_check_gather(&result->fields, true, places);
    snapshot_check_gather(&result->elements, false, places + fields);
    qsort(places, *count, sizeof *places, by_differences);
    return places;
}

static void snapshot_check_name_place(const struct graph_source *source, const struct place *place,
                                      struct keeper_name *name)
{
    if (place->is_field)
        keeper_name_field(source, place->id, name);
    else
        keeper_name_class(source, place->id, name);
}

static void put_counts(struct json_output *json, const struct edge_counts *counts)
{
    json_number(json, "references", counts->found);
    json_number(json, "missing", counts->missing);
    json_number(json, "other", counts->other);
    json_number(json, "surplus", counts->surplus);
}

static void put_result(const struct snapshot_printer *printer, const struct graph_source *source,
                       const struct snapshot_result *result, const struct place *places,
                       size_t count)
{
    struct keeper_name name;
    struct json_output *json = printer->json;
    json_begin_object(json, NULL);
    json_number(json, "number", result->number);
    json_number(json, "time_ns", result->time_ns);
    json_bool(json, "complete", result->is_complete);
    put_counts(json, &result->all);
    json_number(json, "constants", result->constants);
    json_number(json, "unknown", result->unknown);
    json_begin_array(json, "places");
    for (size_t i = 0; i < count && i < printer->limit; i++) {
        json_begin_object(json, NULL);
        snapshot_check_name_place(source, &places[i], &name);
        json_text(json, places[i].is_field ? "field" : "elements_of", name.text);
        put_counts(json, places[i].counts);
        json_end_object(json);
    }
    json_end_array(json);
    json_end_object(json);
}

static double share(const struct edge_counts *counts)
{
    uint64_t same = counts->found - counts->missing - counts->other;
    return counts->found > 0 ? 100.0 * (double) same / (double) counts->found : 100.0;
}

static void print_result(const struct snapshot_printer *printer, const struct graph_source *source,
                         const struct snapshot_result *result, const struct place *places,
                         size_t count)
{
    struct keeper_name name;
    const struct edge_counts *all = &result->all;
    printf("snapshot %" PRIu64 " at %s%s: %s references, %.4f %% as the stores have them",
           result->number, quantity_of_time((double) result->time_ns, source->java.unit).text,
           result->is_complete ? "" : ", which is not complete", quantity_of_count(all->found).text,
           share(all));
    printf("; %s missing (%s of them constants of classes), %s other, %s surplus, %s not known\n",
           quantity_of_count(all->missing).text, quantity_of_count(result->constants).text,
           quantity_of_count(all->other).text, quantity_of_count(all->surplus).text,
           quantity_of_count(result->unknown).text);
    if (count > 0)
        printf("%10s %10s %10s %10s  %s\n", "references", "missing", "other", "surplus",
               "field, or elements of");
    for (size_t i = 0; i < count && i < printer->limit; i++) {
        const struct edge_counts *counts = places[i].counts;
        printf("%10" PRIu64 " %10" PRIu64 " %10" PRIu64 " %10" PRIu64 "  ", counts->found,
               counts->missing, counts->other, counts->surplus);
        snapshot_check_name_place(source, &places[i], &name);
        print_shown_text(name.text, stdout);
        putchar('\n');
    }
    if (count > printer->limit)
        printf("... and %zu more (--limit=N prints more)\n", count - (size_t) printer->limit);
}

static void snapshot_check_print(struct snapshot_printer *printer,
                                 const struct graph_source *source,
                                 const struct snapshot_result *result)
{
    size_t count;
    struct place *places = sorted_places(result, &count);
    if (printer->count == 0 && !graph_source_has_stores(source))
        report_line("%s: has no stores of references (the agent's option events=reference) that a "
                    "snapshot could be compared with: all is missing",
                    printer->path);
    printer->count++;
    if (places == NULL)
        printer->lost = true;
    else if (printer->json != NULL)
        put_result(printer, source, result, places, count);
    else
        print_result(printer, source, result, places, count);
    free(places);
}

/* Flags of objects beside those of enum graph_flag.  SYSTEM_ROOT: a root of the JVM itself; class
 * loaders have such roots for constants that their classes have resolved (another kind of root
 * since JDK 26).  REFERRED: an object in the heap refers to it. */
enum { SYSTEM_ROOT = 32, REFERRED = 64 };

struct held_edge {
    uint64_t holder, target; /* objects */
    uint32_t key;
    bool missing, other; /* no store has it, or a store has another target */
};

struct snapshot_check {
    struct graph_walk walk;
    struct snapshot_printer *printer;
    bool compares; /* inside a snapshot that is compared */
    struct snapshot_result result;
    struct held_edge *edges; /* references read from the snapshot */
    size_t edge_count, edge_capacity;
};

/* Returns 0 if it is unknown; static fields have no holder object. */
static uint32_t holder_of(const struct object_graph *graph, uint64_t object)
{
    return object != 0 ? object_graph_find(graph, object) : GRAPH_STATICS;
}

static struct edge_counts *snapshot_check_place_of(struct snapshot_check *check, uint32_t holder,
                                                   uint32_t key)
{
    return edge_key_is_index(key) ? id_table_get(&check->result.elements,
                                                 check->walk.replay.graph.objects[holder].class_id)
                                  : id_table_get(&check->result.fields, edge_key_number(key));
}

static void reset_result(struct snapshot_result *result)
{
    id_table_reset(&result->fields);
    id_table_reset(&result->elements);
}

static void snapshot_check_begin(struct snapshot_check *check, const struct graph_event *event)
{
    struct object_graph *graph = &check->walk.replay.graph;
    for (uint32_t i = 0; i < graph->node_count; i++)
        graph->nodes[i].edges.marks &= (uint8_t) ~(GRAPH_REACHED | SYSTEM_ROOT | REFERRED);
    graph->nodes[GRAPH_STATICS].edges.marks |= GRAPH_REACHED;
    check->compares = true;
    check->edge_count = 0;
    check->result = (struct snapshot_result){
        .number = event->number, .time_ns = graph_source_ns(&check->walk.source, event->time)};
    id_table_init(&check->result.fields, sizeof(struct edge_counts));
    id_table_init(&check->result.elements, sizeof(struct edge_counts));
}

static uint32_t snapshot_check_reach(struct snapshot_check *check, uint64_t object, unsigned mark)
{
    struct object_graph *graph = &check->walk.replay.graph;
    uint32_t node = object != 0 ? object_graph_find(graph, object) : 0;
    if (node != 0)
        graph->nodes[node].edges.marks |= (uint8_t) (GRAPH_REACHED | mark);
    return node;
}

static bool keep_edge(struct snapshot_check *check, const struct graph_event *event, uint32_t key,
                      uint32_t replayed, uint32_t target)
{
    if (!STEP_MAKE_ROOM(check->edges, check->edge_capacity, check->edge_count + 1))
        return false;
    check->edges[check->edge_count++] = (struct held_edge){
        event->object, event->target, key, replayed == 0, replayed != 0 && replayed != target};
    return true;
}

static uint32_t snapshot_check_key_of(struct snapshot_check *check, const struct graph_event *event)
{
    uint64_t number = event->number;
    if (event->kind == GRAPH_HAS_ELEMENT)
        return number <= EDGE_INDEX_MOST ? (uint32_t) number : UINT32_MAX;
    if (number > EDGE_NUMBER_MOST)
        return UINT32_MAX;
    return (graph_replay_field(&check->walk.replay, number) & GRAPH_FIELD_WEAK) != 0
               ? edge_key_of_weak_field((uint32_t) number)
               : edge_key_of_field((uint32_t) number);
}

/* Looks up a reference of the snapshot in the replayed graph. */
static bool snapshot_check_compare(struct snapshot_check *check, const struct graph_event *event)
{
    struct object_graph *graph = &check->walk.replay.graph;
    uint32_t target =
        snapshot_check_reach(check, event->target, event->target != event->object ? REFERRED : 0);
    uint32_t before;
    uint32_t holder = holder_of(graph, event->object);
    uint32_t key = snapshot_check_key_of(check, event);
    if (target == 0 || holder == 0 || key == UINT32_MAX) {
        check->result.unknown++;
        return true;
    }
    struct edge_counts *place = snapshot_check_place_of(check, holder, key);
    uint32_t replayed = edge_list_get(&graph->nodes[holder].edges, key);
    if (place == NULL || !keep_edge(check, event, key, replayed, target))
        return false;
    place->found++;
    place->missing += replayed == 0;
    place->other += replayed != 0 && replayed != target;
    return replayed == 0 || object_graph_set(graph, holder, key, 0, &before);
}

/* Counts and removes references that only stores have. */
static bool count_rest(struct snapshot_check *check, uint32_t node)
{
    size_t slots;
    struct object_graph *graph = &check->walk.replay.graph;
    const struct edge *edges = edge_list_slots(&graph->nodes[node].edges, &slots);
    for (size_t i = 0; i < slots; i++) {
        if (edges[i].target == 0 || edge_key_is_other(edges[i].key))
            continue;
        struct edge_counts *place = snapshot_check_place_of(check, node, edges[i].key);
        if (place == NULL)
            return false;
        place->surplus++;
    }
    object_graph_clear_edges(graph, node);
    return true;
}

static void snapshot_check_add_up(struct snapshot_result *result, const struct id_table *places)
{
    const struct edge_counts *place;
    for (uint32_t id = 0; (place = id_table_next(places, &id)) != NULL; id++) {
        result->all.found += place->found;
        result->all.missing += place->missing;
        result->all.other += place->other;
        result->all.surplus += place->surplus;
    }
}

/* An array referenced by a root of the JVM itself and by no other object: the JVM has stored its
 * elements.  Since JDK 26 with ZGC, the archive's roots are such an array, and an element that was
 * removed refers to the array itself (HotSpot's AOTStreamedHeapLoader::clear_root()). */
static bool is_of_jvm(const struct snapshot_check *check, const struct held_edge *edge)
{
    const struct object_graph *graph = &check->walk.replay.graph;
    uint32_t holder = edge->holder != 0 ? object_graph_find(graph, edge->holder) : 0;
    return holder != 0 && edge_key_is_index(edge->key) &&
           (graph->nodes[holder].edges.marks & (SYSTEM_ROOT | REFERRED)) == SYSTEM_ROOT;
}

static void count_constants(struct snapshot_check *check)
{
    for (size_t i = 0; i < check->edge_count; i++) {
        const struct held_edge *edge = &check->edges[i];
        if ((!edge->missing && !edge->other) || !is_of_jvm(check, edge))
            continue;
        check->result.constants++;
        if (!edge->other)
            continue;
        struct edge_counts *place = snapshot_check_place_of(
            check, holder_of(&check->walk.replay.graph, edge->holder), edge->key);
        place->other--;
        place->missing++;
    }
}

/* Replaces the references from stores with those of the snapshot. */
static bool take_edges(struct snapshot_check *check)
{
    struct object_graph *graph = &check->walk.replay.graph;
    for (size_t i = 0; i < check->edge_count; i++) {
        const struct held_edge *edge = &check->edges[i];
        uint32_t before, target = object_graph_find(graph, edge->target);
        uint32_t holder = holder_of(graph, edge->holder);
        if (holder != 0 && target != 0 &&
            !object_graph_set(graph, holder, edge->key, target, &before))
            return false;
    }
    return true;
}

static bool snapshot_check_end(struct snapshot_check *check, bool is_complete, uint64_t unknown)
{
    struct object_graph *graph = &check->walk.replay.graph;
    bool done = true;
    check->compares = false;
    for (uint32_t i = GRAPH_STATICS; is_complete && done && i < graph->node_count; i++)
        if ((graph->nodes[i].edges.marks & GRAPH_REACHED) != 0 &&
            (graph->nodes[i].object != 0 || i == GRAPH_STATICS))
            done = count_rest(check, i);
    check->result.is_complete = is_complete;
    check->result.unknown += unknown;
    count_constants(check);
    snapshot_check_add_up(&check->result, &check->result.fields);
    snapshot_check_add_up(&check->result, &check->result.elements);
    done = done && take_edges(check);
    if (done)
        snapshot_check_print(check->printer, &check->walk.source, &check->result);
    reset_result(&check->result);
    return done;
}

static bool is_of_vm(uint64_t root_kind)
{
    return root_kind == GRAPH_ROOT_SYSTEM_CLASS || root_kind == GRAPH_ROOT_OTHER;
}

/* Handles events of a compared snapshot; others go to the replay. */
static bool take_of_snapshot(struct snapshot_check *check, const struct graph_event *event)
{
    switch ((enum graph_event_kind) event->kind) {
    case GRAPH_ROOT:
        snapshot_check_reach(check, event->target, is_of_vm(event->number) ? SYSTEM_ROOT : 0);
        return true;
    case GRAPH_HAS_FIELD:
    case GRAPH_HAS_ELEMENT:
        return snapshot_check_compare(check, event);
    case GRAPH_HAS_OTHER:
        snapshot_check_reach(check, event->target, REFERRED);
        return true;
    case GRAPH_SNAPSHOT_END:
        return snapshot_check_end(check, true, event->amount);
    default:
        return graph_replay_put(&check->walk.replay, event);
    }
}

static bool snapshot_check_take(void *user, const struct graph_event *event)
{
    struct snapshot_check *check = user;
    if (event->kind == GRAPH_FREE || event->kind == GRAPH_DEATH) {
        graph_replay_free(&check->walk.replay, event->object);
        return true;
    }
    if (event->kind == GRAPH_SNAPSHOT && check->compares && !snapshot_check_end(check, false, 0))
        return false;
    if (event->kind == GRAPH_SNAPSHOT && event->amount == 0) {
        snapshot_check_begin(check, event);
        return true;
    }
    return check->compares ? take_of_snapshot(check, event)
                           : graph_replay_put(&check->walk.replay, event);
}

static bool has_references(const struct graph_source *source)
{
    uint64_t sum = 0;
    for (unsigned kind = GRAPH_FIELD; kind <= GRAPH_SNAPSHOT_END; kind++)
        sum += source->inventory.counts[kind];
    return sum > 0;
}

enum step_status graph_walk(struct graph_walk *walk, const char *path, bool keeps_objects,
                            bool (*take_event)(void *user, const struct graph_event *event),
                            void *user, struct step_error *error)
{
    const struct graph_event *event;
    enum step_status status = open_with_given_definition(path, NULL, &walk->reader, error);
    if (status == STEP_STATUS_OK)
        status = graph_source_init(&walk->source, walk->reader, error);
    if (status != STEP_STATUS_OK || !has_references(&walk->source))
        return status;
    if (!graph_replay_init(&walk->replay, &walk->source, false, keeps_objects))
        return no_memory(error);
    status = graph_source_start(&walk->source, GRAPH_REPLAY_KINDS, graph_replay_knows,
                                &walk->replay, error);
    while (status == STEP_STATUS_OK &&
           (status = graph_source_next(&walk->source, &event, error)) == STEP_STATUS_OK)
        if (!take_event(user, event))
            status = no_memory(error);
    return status == STEP_STATUS_END ? STEP_STATUS_OK : status;
}

void graph_walk_reset(struct graph_walk *walk)
{
    graph_replay_reset(&walk->replay);
    graph_source_reset(&walk->source);
    step_reader_destroy(walk->reader);
}

/* Returns FORMAT for a trace without objects. */
static enum step_status snapshots_check(struct snapshot_printer *printer, struct step_error *error)
{
    struct snapshot_check check = {.printer = printer};
    enum step_status status =
        graph_walk(&check.walk, printer->path, true, snapshot_check_take, &check, error);
    if (status == STEP_STATUS_OK && check.compares && !snapshot_check_end(&check, false, 0))
        status = no_memory(error);
    if (check.compares)
        reset_result(&check.result);
    free(check.edges);
    graph_walk_reset(&check.walk);
    return status;
}

enum step_status snapshots_print(const char *path, uint64_t limit, struct json_output *json)
{
    struct step_error error = {.offset = STEP_NO_OFFSET};
    struct snapshot_printer printer = {.path = path, .limit = limit, .json = json};
    if (json != NULL)
        json_begin_array(json, "snapshots");
    enum step_status status = snapshots_check(&printer, &error);
    if (json != NULL)
        json_end_array(json);
    if (status == STEP_STATUS_OK && printer.lost)
        status = STEP_STATUS_NO_MEMORY;
    if (status == STEP_STATUS_OK && printer.count == 0 && json == NULL)
        puts("no snapshot after that of the start (snapshot=start+end makes one)");
    return status;
}
