/* SPDX-License-Identifier: Apache-2.0 */
/* Replays stores of references, of which it keeps only the arrays in fields. */
#include "converter/sites/site_stores.h"

#include <stdlib.h>

#include "converter/base/no_memory.h"
#include "converter/graph/graph_replay.h"
#include "format/core/grow.h"

/* An array of this size or less is an empty one, or has room for little. */
#define EMPTY_ARRAY_BYTES 24u

/* A field of a living object that has an array.  Its number in `fields` is below UINT32_MAX. */
struct array_field {
    uint64_t size; /* of the array */
    uint32_t field, class_id;
    uint32_t next; /* 1 + the next field of the object, or released entry; 0: none */
};

/* A living object. */
struct holder {
    uint64_t site;        /* UINT32_MAX: it existed before the trace */
    uint32_t first_field; /* 1 + index in `fields`; in a released entry: 1 + the next one */
    bool is_stored, has_grown;
};

struct site_stores {
    struct graph_source source;
    struct site_lives *lives;
    struct object_table live; /* value: index in `holders` */
    struct holder *holders;
    size_t holder_count, holder_capacity;
    uint32_t free_holder;
    struct array_field *fields;
    size_t field_count, field_capacity;
    uint32_t free_field;
    struct id_table arrays; /* uint8_t by class: 1: no array, 2: an array; 0: not looked up */
};

static void reset(struct site_stores *stores)
{
    graph_source_reset(&stores->source);
    object_table_reset(&stores->live);
    id_table_reset(&stores->arrays);
    free(stores->holders);
    free(stores->fields);
}

/* ---- objects ---- */

static bool put_object(struct site_stores *stores, const struct graph_event *event)
{
    uint64_t site = UINT32_MAX;
    uint32_t place;
    if (event->kind == GRAPH_ALLOC)
        site = site_lives_get(stores->lives, (struct site_key){event->class_id, event->site});
    if (event->kind == GRAPH_ALLOC && site == UINT32_MAX)
        return false;
    if (stores->free_holder != 0) {
        place = stores->free_holder - 1;
        stores->free_holder = stores->holders[place].first_field;
    } else {
        if (stores->holder_count == stores->holder_capacity) {
            struct holder *holders = step_grown(stores->holders, &stores->holder_capacity,
                                                stores->holder_count + 1, sizeof *holders);
            if (holders == NULL)
                return false;
            stores->holders = holders;
        }
        if (stores->holder_count == UINT32_MAX - 1)
            return false;
        place = (uint32_t) stores->holder_count++;
    }
    stores->holders[place] = (struct holder){.site = site};
    const struct live_object object = {.object = event->object,
                                       .value = place,
                                       .size = event->amount,
                                       .class_id = event->class_id};
    return object_table_put(&stores->live, &object);
}

static void release_fields(struct site_stores *stores, uint32_t first)
{
    while (first != 0) {
        struct array_field *field = &stores->fields[first - 1];
        uint32_t next = field->next;
        field->next = stores->free_field;
        stores->free_field = first;
        first = next;
    }
}

static void take_object(struct site_stores *stores, uint64_t number)
{
    struct live_object object;
    if (!object_table_take(&stores->live, number, &object))
        return;
    struct holder *holder = &stores->holders[object.value];
    release_fields(stores, holder->first_field);
    holder->first_field = stores->free_holder;
    stores->free_holder = (uint32_t) object.value + 1;
}

static void mark_stored(struct site_stores *stores, uint64_t number, struct live_object *object)
{
    *object = (struct live_object){.object = 0};
    if (number == 0 || !object_table_find(&stores->live, number, object))
        return;
    struct holder *holder = &stores->holders[object->value];
    if (!holder->is_stored && holder->site != UINT32_MAX) {
        struct site_references *references = &stores->lives->items[holder->site].references;
        references->stored.objects++;
        references->stored.bytes += object->size;
    }
    holder->is_stored = true;
}

/* ---- arrays that grow ---- */

static bool is_array(struct site_stores *stores, uint32_t class_id)
{
    uint8_t *known = id_table_get(&stores->arrays, class_id);
    if (known == NULL)
        return false;
    if (*known == 0) {
        struct step_bytes name = java_class_name(&stores->source.java, class_id);
        *known = name.length > 0 && name.data[0] == '[' ? 2 : 1;
    }
    return *known == 2;
}

/* Returns 1 + the index of the object's entry for a field; 0: none. */
static uint32_t find_field(const struct site_stores *stores, const struct holder *holder,
                           uint32_t field)
{
    uint32_t at = holder->first_field;
    while (at != 0 && stores->fields[at - 1].field != field)
        at = stores->fields[at - 1].next;
    return at;
}

static uint32_t add_field(struct site_stores *stores, struct holder *holder, uint32_t number)
{
    uint32_t place = stores->free_field;
    if (place != 0) {
        stores->free_field = stores->fields[place - 1].next;
    } else {
        if (stores->field_count == stores->field_capacity) {
            struct array_field *fields = step_grown(stores->fields, &stores->field_capacity,
                                                    stores->field_count + 1, sizeof *fields);
            if (fields == NULL || stores->field_count >= UINT32_MAX - 1)
                return 0;
            stores->fields = fields;
        }
        place = (uint32_t) ++stores->field_count;
    }
    stores->fields[place - 1] = (struct array_field){.field = number, .next = holder->first_field};
    holder->first_field = place;
    return place;
}

static void count_growth(struct site_stores *stores, struct holder *holder,
                         const struct array_field *before, const struct live_object *longer)
{
    uint64_t site = stores->holders[longer->value].site;
    struct site_references *references = &stores->lives->items[holder->site].references;
    references->growths++;
    references->replaced_bytes += before->size;
    references->final_bytes += longer->size - (holder->has_grown ? before->size : 0);
    references->grown_objects += !holder->has_grown;
    holder->has_grown = true;
    if (site != UINT32_MAX)
        stores->lives->items[site].references.longer++;
}

/* An array goes into a field of a living object, and may be longer than the one before. */
static bool put_array(struct site_stores *stores, struct holder *holder, uint32_t number,
                      const struct live_object *array)
{
    uint32_t at = find_field(stores, holder, number);
    if (at == 0)
        at = add_field(stores, holder, number);
    if (at == 0)
        return false;
    struct array_field *field = &stores->fields[at - 1];
    bool is_same = field->class_id == array->class_id;
    if (is_same && field->size > EMPTY_ARRAY_BYTES && array->size > field->size)
        count_growth(stores, holder, field, array);
    else if (is_same && array->size < field->size)
        stores->lives->items[holder->site].references.shrinkings++;
    field->class_id = array->class_id;
    field->size = array->size;
    return true;
}

static bool put_field(struct site_stores *stores, const struct graph_event *event)
{
    struct live_object object, target;
    mark_stored(stores, event->target, &target);
    if (event->object == 0 || event->number == 0 ||
        !object_table_find(&stores->live, event->object, &object))
        return true;
    struct holder *holder = &stores->holders[object.value];
    if (holder->site == UINT32_MAX)
        return true;
    if (target.object != 0 && is_array(stores, target.class_id))
        return put_array(stores, holder, (uint32_t) event->number, &target);
    uint32_t at = find_field(stores, holder, (uint32_t) event->number);
    if (at != 0)
        stores->fields[at - 1].class_id = 0;
    return true;
}

/* ---- all ---- */

static bool put(struct site_stores *stores, const struct graph_event *event)
{
    struct live_object target;
    switch (event->kind) {
    case GRAPH_ALLOC:
    case GRAPH_EXISTING:
        return put_object(stores, event);
    case GRAPH_FREE:
    case GRAPH_DEATH:
        take_object(stores, event->object);
        return true;
    case GRAPH_FIELD:
        return put_field(stores, event);
    case GRAPH_ROOT:
        if (event->number == GRAPH_ROOT_STACK_LOCAL || event->number == GRAPH_ROOT_JNI_LOCAL)
            return true;
        break;
    default:
        break;
    }
    mark_stored(stores, event->target, &target);
    return true;
}

static bool knows(const void *user, uint64_t object)
{
    const struct site_stores *stores = user;
    return object_table_has(&stores->live, object);
}

#define STORE_KINDS                                                                                \
    (GRAPH_EVENT_BIT(GRAPH_ALLOC) | GRAPH_EVENT_BIT(GRAPH_EXISTING) |                              \
     GRAPH_EVENT_BIT(GRAPH_FREE) | GRAPH_EVENT_BIT(GRAPH_DEATH) | GRAPH_EVENT_BIT(GRAPH_FIELD) |   \
     GRAPH_EVENT_BIT(GRAPH_ELEMENT) | GRAPH_EVENT_BIT(GRAPH_ROOT) |                                \
     GRAPH_EVENT_BIT(GRAPH_HAS_FIELD) | GRAPH_EVENT_BIT(GRAPH_HAS_ELEMENT) |                       \
     GRAPH_EVENT_BIT(GRAPH_HAS_OTHER))

static enum step_status replay(struct site_stores *stores, struct step_error *error)
{
    const struct graph_event *event;
    enum step_status status =
        graph_source_start(&stores->source, STORE_KINDS, knows, stores, error);
    while (status == STEP_STATUS_OK) {
        status = graph_source_next(&stores->source, &event, error);
        if (status == STEP_STATUS_OK && !put(stores, event))
            status = no_memory(error);
    }
    return status == STEP_STATUS_END ? STEP_STATUS_OK : status;
}

enum step_status site_stores_count(struct step_reader *reader, struct site_lives *lives,
                                   struct step_error *error)
{
    struct site_stores stores = {.lives = lives};
    id_table_init(&stores.arrays, sizeof(uint8_t));
    enum step_status status = object_table_init(&stores.live)
                                  ? graph_source_init(&stores.source, reader, error)
                                  : no_memory(error);
    if (status == STEP_STATUS_OK)
        status = graph_source_has_stores(&stores.source) ? replay(&stores, error) : STEP_STATUS_END;
    reset(&stores);
    return status;
}
