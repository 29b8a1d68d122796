/* SPDX-License-Identifier: Apache-2.0 */
/* Replays stores of references, of which it keeps only the arrays in fields. */
#include "converter/graph/graph_source.h"
#include "converter/sites/site_lives.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "converter/base/no_memory.h"
#include "converter/graph/graph_replay.h"
#include "converter/layout/object_layout.h"
#include "format/core/grow.h"

/*
 * How far an array of references is used: 1 + the highest index that a store or a copy ever gave a
 * reference.  `most` differs from `least` where a store's target, or a copy's source, is null or
 * unknown.
 */

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

/* A field of a living object that has an array.  Its number in `fields` is below UINT32_MAX. */
struct array_field {
    uint64_t array, size;
    uint32_t field, class_id;
    uint32_t next; /* 1 + the next field of the object, or released entry; 0: none */
};

/* A living object. */
struct holder {
    uint32_t site;        /* UINT32_MAX: it existed before the trace */
    uint32_t first_field; /* 1 + index in `fields`; in a released entry: 1 + the next one */
    struct array_use use; /* of an array of references */
    uint32_t grown_for;   /* 1 + site of the object in which it replaced a shorter array; 0: none */
    uint8_t padding;
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
    struct id_table arrays; /* uint8_t by class: the first character of an array's elements, or
                               NO_ARRAY; 0: not looked up */
    struct object_layout layout;
};

enum { NO_ARRAY = 1 };

static void reset(struct site_stores *stores)
{
    graph_source_reset(&stores->source);
    object_table_reset(&stores->live);
    id_table_reset(&stores->arrays);
    free(stores->holders);
    free(stores->fields);
}

/* ---- objects ---- */

/* Which elements an array used before the trace is unknown. */
static bool put_object(struct site_stores *stores, const struct graph_event *event)
{
    uint32_t site = UINT32_MAX, place;
    if (event->kind == GRAPH_ALLOC)
        site = site_lives_get(stores->lives, (struct site_key){event->class_id, event->site});
    if (event->kind == GRAPH_ALLOC && site == UINT32_MAX)
        return false;
    if (stores->free_holder != 0) {
        place = stores->free_holder - 1;
        stores->free_holder = stores->holders[place].first_field;
    } else {
        if (!STEP_MAKE_ROOM(stores->holders, stores->holder_capacity, stores->holder_count + 1))
            return false;
        if (stores->holder_count == UINT32_MAX - 1)
            return false;
        place = (uint32_t) stores->holder_count++;
    }
    stores->holders[place] = (struct holder){
        .site = site,
        .padding = event->padding,
        .use = event->kind == GRAPH_EXISTING ? ARRAY_USE_UNKNOWN : (struct array_use){.least = 0}};
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

static struct holder *holder_of(const struct site_stores *stores, uint64_t number)
{
    struct live_object object;
    if (number == 0 || !object_table_find(&stores->live, number, &object))
        return NULL;
    return &stores->holders[object.value];
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
static void end_array(struct site_stores *stores, const struct live_object *object)
{
    const struct holder *array = &stores->holders[object->value];
    uint64_t length;
    if (array->grown_for == 0)
        return;
    struct site_references *references = &stores->lives->items[array->grown_for - 1].references;
    char element = element_of(stores, object->class_id);
    bool is_of_references = element == 'L' || element == '[';
    struct site_elements *elements =
        is_of_references ? &references->of_references : &references->of_primitives;
    object_layout_array_length(&stores->layout, element, object->size, array->padding,
                               stores->lives->has_lengths, &length);
    references->final_bytes += object->size;
    elements->arrays++;
    elements->capacity += length;
    elements->used += smaller(array->use.least, length);
    elements->used_most += smaller(array->use.most, length);
}

static void take_object(struct site_stores *stores, uint64_t number)
{
    struct live_object object;
    if (!object_table_take(&stores->live, number, &object))
        return;
    struct holder *holder = &stores->holders[object.value];
    end_array(stores, &object);
    release_fields(stores, holder->first_field);
    holder->first_field = stores->free_holder;
    stores->free_holder = (uint32_t) object.value + 1;
}

/* ---- arrays that grow ---- */

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
        if (stores->field_count >= UINT32_MAX - 1 ||
            !STEP_MAKE_ROOM(stores->fields, stores->field_capacity, stores->field_count + 1))
            return 0;
        place = (uint32_t) ++stores->field_count;
    }
    stores->fields[place - 1] = (struct array_field){.field = number, .next = holder->first_field};
    holder->first_field = place;
    return place;
}

/* The longer array is the last of its growth, for now; of several objects' it is the first one's.
 */
static void count_growth(struct site_stores *stores, struct holder *holder,
                         const struct array_field *before, const struct live_object *longer)
{
    struct holder *array = &stores->holders[longer->value];
    struct holder *replaced = holder_of(stores, before->array);
    struct site_references *references = &stores->lives->items[holder->site].references;
    references->growths++;
    references->replaced_bytes += before->size;
    references->grown_objects += !holder->has_grown;
    holder->has_grown = true;
    if (replaced != NULL && replaced->grown_for == holder->site + 1)
        replaced->grown_for = 0;
    if (array->grown_for == 0)
        array->grown_for = holder->site + 1;
    if (array->site != UINT32_MAX)
        stores->lives->items[array->site].references.longer++;
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
    field->array = array->object;
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
    if (target.object != 0 && element_of(stores, target.class_id) != NO_ARRAY)
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
     GRAPH_EVENT_BIT(GRAPH_ELEMENT) | GRAPH_EVENT_BIT(GRAPH_RANGE) |                               \
     GRAPH_EVENT_BIT(GRAPH_CLONE) | GRAPH_EVENT_BIT(GRAPH_ROOT) |                                  \
     GRAPH_EVENT_BIT(GRAPH_HAS_FIELD) | GRAPH_EVENT_BIT(GRAPH_HAS_ELEMENT) |                       \
     GRAPH_EVENT_BIT(GRAPH_HAS_OTHER))

/* Arrays that are still alive. */
static void end_arrays(struct site_stores *stores)
{
    struct object_cursor cursor = {0};
    struct live_object object;
    while (object_table_next(&stores->live, &cursor, &object))
        end_array(stores, &object);
}

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
    if (status == STEP_STATUS_OK)
        status = graph_source_has_stores(&stores.source) ? replay(&stores, error) : STEP_STATUS_END;
    reset(&stores);
    return status;
}
