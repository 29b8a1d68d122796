/* SPDX-License-Identifier: Apache-2.0 */
/* Replays stores of references, of which it keeps only the arrays in fields. */
#include "analyses/sites/site_lives.h"
#include "converter/graph/graph_source.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "converter/containers/no_memory.h"
#include "converter/graph/graph_replay.h"
#include "converter/layout/object_layout.h"
#include "format/core/grow.h"

/* ---- how far an array of references is used ----
 * That is 1 + the highest index that a store or a copy ever gave a reference. `most` differs from
 * `least` where a store's target, or a copy's source, is null or unknown. */

/* Zero-initialise for an array that was just made. */
struct array_use {
    uint32_t least, most; /* the caller limits them to the array's length */
};

/* An array that existed before the trace. */
#define ARRAY_USE_UNKNOWN ((struct array_use){0, UINT32_MAX})

static void use_up_to(uint32_t *used, uint64_t end)
{
    if (end > *used)
        *used = end < UINT32_MAX ? (uint32_t) end : UINT32_MAX;
}

/* A store into an element.  `is_reference`: not of null, nor of an unknown object. */
static void array_use_store(struct array_use *use, uint64_t index, bool is_reference)
{
    if (index >= UINT32_MAX)
        return;
    if (is_reference)
        use_up_to(&use->least, index + 1);
    use_up_to(&use->most, index + 1);
}

/* Returns how many of the elements [from, from + length) are below `used`. */
static uint64_t used_in(uint32_t used, uint64_t from, uint64_t length)
{
    uint64_t rest = used > from ? used - from : 0;
    return rest < length ? rest : length;
}

/* A copy of `length` elements from `from` on to `to`.  `source` NULL: an unknown array. */
static void array_use_copy(struct array_use *use, uint64_t to, const struct array_use *source,
                           uint64_t from, uint64_t length)
{
    const struct array_use copied = source != NULL ? *source : ARRAY_USE_UNKNOWN;
    if (to >= UINT32_MAX || length >= UINT32_MAX)
        return;
    uint64_t least = used_in(copied.least, from, length);
    uint64_t most = source != NULL ? used_in(copied.most, from, length) : length;
    if (least > 0)
        use_up_to(&use->least, to + least);
    if (most > 0)
        use_up_to(&use->most, to + most);
}

/* An array of this size or less is an empty one, or has room for little. */
#define EMPTY_ARRAY_BYTES 24u

/* A living object. */
struct holder {
    uint32_t site;        /* UINT32_MAX: it existed before the trace */
    struct array_use use; /* of an array of references */
    uint32_t grown_for;   /* 1 + site of the object in which it replaced a shorter array; 0: none */
    bool is_stored, has_grown;
};

struct site_stores {
    struct graph_source source;
    struct site_lives *lives;
    struct object_graph graph; /* with references from fields to arrays only */
    struct holder *holders;    /* by node */
    size_t holder_capacity;
    struct id_table arrays; /* uint8_t by class: the first character of an array's elements, or
                               NO_ARRAY; 0: not looked up */
    struct object_layout layout;
};

enum { NO_ARRAY = 1 };

static void site_stores_reset(struct site_stores *stores)
{
    graph_source_reset(&stores->source);
    object_graph_reset(&stores->graph);
    id_table_reset(&stores->arrays);
    free(stores->holders);
}

/* ---- objects ---- */

/* Which elements an array used before the trace is unknown. */
static bool site_stores_put_object(struct site_stores *stores, const struct graph_event *event)
{
    struct object_graph *graph = &stores->graph;
    uint32_t site = UINT32_MAX;
    if (event->kind == GRAPH_ALLOC)
        site = site_lives_get(stores->lives, (struct site_key){event->class_id, event->site});
    if (event->kind == GRAPH_ALLOC && site == UINT32_MAX)
        return false;
    if (event->object == 0)
        return true;
    uint32_t node = object_graph_find(graph, event->object);
    if (node == 0 && (node = object_graph_add(graph, event->object)) == 0)
        return false;
    if (!STEP_MAKE_ROOM(stores->holders, stores->holder_capacity, (size_t) node + 1))
        return false;
    uint64_t size = event->amount < GRAPH_SIZE_MOST ? event->amount : GRAPH_SIZE_MOST;
    graph->objects[node] = (struct graph_object){.class_id = event->class_id,
                                                 .size = size & GRAPH_SIZE_MOST, /* for gcc */
                                                 .padding = event->padding};
    stores->holders[node] = (struct holder){
        .site = site,
        .use = event->kind == GRAPH_EXISTING ? ARRAY_USE_UNKNOWN : (struct array_use){.least = 0}};
    return true;
}

static struct holder *holder_of(const struct site_stores *stores, uint64_t object)
{
    uint32_t node = object_graph_find(&stores->graph, object);
    return node != 0 ? &stores->holders[node] : NULL;
}

/* Returns the object's node; 0: null, or an object that the trace does not name. */
static uint32_t mark_stored(struct site_stores *stores, uint64_t object)
{
    uint32_t node = object != 0 ? object_graph_find(&stores->graph, object) : 0;
    if (node == 0)
        return 0;
    struct holder *holder = &stores->holders[node];
    if (!holder->is_stored && holder->site != UINT32_MAX) {
        struct site_references *references = &stores->lives->items[holder->site].references;
        references->stored.objects++;
        references->stored.bytes += stores->graph.objects[node].size;
    }
    holder->is_stored = true;
    return node;
}

/* ---- elements of arrays ---- */

/* Returns the first character of the elements' descriptor, or NO_ARRAY. */
static char element_of(struct site_stores *stores, uint32_t class_id)
{
    uint8_t *known = id_table_get(&stores->arrays, class_id);
    if (known == NULL)
        return NO_ARRAY;
    if (*known == 0) {
        struct step_bytes name = java_class_name(&stores->source.java, class_id);
        bool is_array = name.length > 1 && name.data[0] == '[' && name.data[1] != '\0';
        *known = is_array ? name.data[1] : NO_ARRAY;
    }
    return (char) *known;
}

/* Target 0 is null, or an object that the trace does not name. */
static void use_element(const struct site_stores *stores, const struct graph_event *event)
{
    struct holder *array = holder_of(stores, event->object);
    if (array != NULL)
        array_use_store(&array->use, event->number, event->target != 0);
}

/* A clone is a copy of all elements. */
static void use_range(const struct site_stores *stores, const struct graph_event *event)
{
    struct holder *array = holder_of(stores, event->object);
    const struct holder *source = holder_of(stores, event->source);
    bool is_clone = event->kind == GRAPH_CLONE;
    if (array != NULL)
        array_use_copy(&array->use, is_clone ? 0 : event->number,
                       source != NULL ? &source->use : NULL, is_clone ? 0 : event->from,
                       is_clone ? UINT32_MAX - 1 : event->amount);
}

static uint64_t smaller(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* Counts an array that nothing longer replaced. */
static void end_array(struct site_stores *stores, uint32_t node)
{
    const struct holder *array = &stores->holders[node];
    const struct graph_object *object = &stores->graph.objects[node];
    uint64_t length;
    if (array->grown_for == 0)
        return;
    struct site_references *references = &stores->lives->items[array->grown_for - 1].references;
    char element = element_of(stores, object->class_id);
    bool is_of_references = element == 'L' || element == '[';
    struct site_elements *elements =
        is_of_references ? &references->of_references : &references->of_primitives;
    object_layout_array_length(&stores->layout, element, object->size, object->padding,
                               stores->lives->has_lengths, &length);
    references->final_bytes += object->size;
    elements->arrays++;
    elements->capacity += length;
    elements->used += smaller(array->use.least, length);
    elements->used_most += smaller(array->use.most, length);
}

static void site_stores_take_object(struct site_stores *stores, uint64_t object)
{
    uint32_t node = object_graph_find(&stores->graph, object);
    if (node == 0)
        return;
    end_array(stores, node);
    object_graph_remove(&stores->graph, node);
}

/* ---- arrays that grow ---- */

/* The longer array is the last of its growth, for now; of several objects' it is the first one's.
 */
static void count_growth(struct site_stores *stores, struct holder *holder, uint32_t before,
                         uint32_t longer)
{
    const struct object_graph *graph = &stores->graph;
    struct holder *array = &stores->holders[longer], *replaced = &stores->holders[before];
    struct site_references *references = &stores->lives->items[holder->site].references;
    references->growths++;
    references->replaced_bytes += graph->objects[before].size;
    references->grown_objects += !holder->has_grown;
    holder->has_grown = true;
    if (graph->nodes[before].object != 0 && replaced->grown_for == holder->site + 1)
        replaced->grown_for = 0;
    if (array->grown_for == 0)
        array->grown_for = holder->site + 1;
    if (array->site != UINT32_MAX)
        stores->lives->items[array->site].references.longer++;
}

/* The graph has the fields that have an array, which may be dead. */
static bool site_stores_put_field(struct site_stores *stores, const struct graph_event *event)
{
    struct object_graph *graph = &stores->graph;
    uint32_t target = mark_stored(stores, event->target), before;
    uint32_t node = event->object != 0 ? object_graph_find(graph, event->object) : 0;
    if (node == 0 || event->number == 0 || event->number > EDGE_NUMBER_MOST ||
        stores->holders[node].site == UINT32_MAX)
        return true;
    if (target != 0 && element_of(stores, graph->objects[target].class_id) == NO_ARRAY)
        target = 0;
    if (!object_graph_set(graph, node, edge_key_of_field((uint32_t) event->number), target,
                          &before))
        return false;
    const struct graph_object *old = &graph->objects[before], *new = &graph->objects[target];
    if (before == 0 || target == 0 || old->class_id != new->class_id)
        return true;
    if (new->size < old->size)
        stores->lives->items[stores->holders[node].site].references.shrinkings++;
    else if (new->size > old->size && old->size > EMPTY_ARRAY_BYTES)
        count_growth(stores, &stores->holders[node], before, target);
    return true;
}

/* ---- all ---- */

static bool site_stores_put(struct site_stores *stores, const struct graph_event *event)
{
    switch (event->kind) {
    case GRAPH_ALLOC:
    case GRAPH_EXISTING:
        return site_stores_put_object(stores, event);
    case GRAPH_FREE:
    case GRAPH_DEATH:
        site_stores_take_object(stores, event->object);
        return true;
    case GRAPH_FIELD:
        return site_stores_put_field(stores, event);
    case GRAPH_RANGE:
    case GRAPH_CLONE:
        use_range(stores, event);
        return true;
    case GRAPH_ELEMENT:
    case GRAPH_HAS_ELEMENT:
        use_element(stores, event);
        break;
    case GRAPH_ROOT:
        if (event->number == GRAPH_ROOT_STACK_LOCAL || event->number == GRAPH_ROOT_JNI_LOCAL)
            return true;
        break;
    default:
        break;
    }
    mark_stored(stores, event->target);
    return true;
}

static bool knows(const void *user, uint64_t object)
{
    return object_graph_find(&((const struct site_stores *) user)->graph, object) != 0;
}

#define STORE_KINDS                                                                                \
    (GRAPH_EVENT_BIT(GRAPH_ALLOC) | GRAPH_EVENT_BIT(GRAPH_EXISTING) |                              \
     GRAPH_EVENT_BIT(GRAPH_FREE) | GRAPH_EVENT_BIT(GRAPH_DEATH) | GRAPH_EVENT_BIT(GRAPH_FIELD) |   \
     GRAPH_EVENT_BIT(GRAPH_ELEMENT) | GRAPH_EVENT_BIT(GRAPH_RANGE) |                               \
     GRAPH_EVENT_BIT(GRAPH_CLONE) | GRAPH_EVENT_BIT(GRAPH_ROOT) |                                  \
     GRAPH_EVENT_BIT(GRAPH_HAS_FIELD) | GRAPH_EVENT_BIT(GRAPH_HAS_ELEMENT) |                       \
     GRAPH_EVENT_BIT(GRAPH_HAS_OTHER))

/* Arrays that are still alive. */
static void end_arrays(struct site_stores *stores)
{
    const struct object_graph *graph = &stores->graph;
    for (uint32_t node = GRAPH_FIRST_NODE; node < graph->node_count; node++)
        if (graph->nodes[node].object != 0)
            end_array(stores, node);
}

static enum step_status replay(struct site_stores *stores, struct step_error *error)
{
    const struct graph_event *event;
    enum step_status status =
        graph_source_start(&stores->source, STORE_KINDS, knows, stores, error);
    while (status == STEP_STATUS_OK) {
        status = graph_source_next(&stores->source, &event, error);
        if (status == STEP_STATUS_OK && !site_stores_put(stores, event))
            status = no_memory(error);
    }
    if (status == STEP_STATUS_END)
        end_arrays(stores);
    return status == STEP_STATUS_END ? STEP_STATUS_OK : status;
}

enum step_status site_stores_count(struct step_reader *reader, struct site_lives *lives,
                                   struct step_error *error)
{
    struct site_stores stores = {.lives = lives};
    id_table_init(&stores.arrays, sizeof(uint8_t));
    lives->has_lengths = object_layout_of_trace(reader, &stores.layout);
    enum step_status status = graph_source_init(&stores.source, reader, error);
    if (status == STEP_STATUS_OK && !graph_source_has_stores(&stores.source))
        status = STEP_STATUS_END;
    if (status == STEP_STATUS_OK && !object_graph_init(&stores.graph, false, true))
        status = no_memory(error);
    if (status == STEP_STATUS_OK)
        status = replay(&stores, error);
    site_stores_reset(&stores);
    return status;
}
