/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps the state of each address that was ever used.  Memory is proportional to the peak number
 * of live blocks, or larger if addresses are not reused. */
#include "converter/trace/arrival_order.h"

#include <stdlib.h>

#include "converter/containers/no_memory.h"
#include "converter/containers/object_table.h"
#include "format/core/grow.h"

/* The two records that one record may become, and one of arrival_order_free(). */
enum { PENDING = 4 };

struct reported_death {
    uint64_t object, time;
};

/* The latest known state of an address. */
struct place {
    uint64_t time;
    uint64_t object;
    bool lives;
    bool is_resized; /* the last report was a new size, not a free */
    uint32_t owed;   /* implied frees whose records are still to come */
    uint32_t early;  /* frees whose allocations are still to come */
    uint32_t met;    /* how many of `early` belong to allocations seen in */
    uint32_t look;   /* this look */
};

struct arrival_order {
    struct alloc_source base;
    struct alloc_source *records;
    struct object_table addresses; /* `value`: index into `places` */
    struct place *places;
    size_t count, capacity;
    uint64_t objects;
    struct hatf_record pending[PENDING];
    size_t at, filled;
    /* Frees reported by arrival_order_free(). */
    struct reported_death *deaths;
    size_t death_at, death_count, death_capacity;
    uint32_t looks; /* number of looks so far */
};

/* ---- one address ---- */

/* Returns the state of an address, zeroed if it is new; NULL if out of memory. */
static struct place *arrival_order_place_of(struct arrival_order *order, uint64_t address)
{
    uint64_t key = live_address_key(address);
    struct live_object found;
    if (object_table_find(&order->addresses, key, &found))
        return &order->places[found.value];
    if (!STEP_MAKE_ROOM(order->places, order->capacity, order->count + 1))
        return NULL;
    struct live_object added = {.object = key, .value = order->count};
    if (!object_table_put(&order->addresses, &added))
        return NULL;
    order->places[order->count] = (struct place){.time = 0};
    return &order->places[order->count++];
}

static struct hatf_record *arrival_order_give(struct arrival_order *order,
                                              const struct hatf_record *record, enum hatf_tag tag,
                                              uint64_t object)
{
    struct hatf_record *given = &order->pending[order->filled++];
    *given = *record;
    given->tag = tag;
    given->address = object;
    return given;
}

static void give_free(struct arrival_order *order, const struct hatf_record *record,
                      uint64_t object)
{
    struct hatf_record *given = arrival_order_give(order, record, HATF_FREE, object);
    given->attributes = (struct step_bytes){NULL, 0};
    given->size = 0;
}

static void arrival_order_put_alloc(struct arrival_order *order, const struct hatf_record *record,
                                    struct place *place)
{
    bool is_late = record->time < place->time || (record->time == place->time && place->early > 0);
    if (!is_late && place->lives) {
        give_free(order, record, place->object);
        place->owed++;
    }
    uint64_t object = ++order->objects;
    arrival_order_give(order, record, HATF_ALLOC, object);
    if (!is_late) {
        place->object = object;
        place->time = record->time;
        place->lives = true;
        return;
    }
    give_free(order, record, object);
    if (place->early > 0)
        place->early--;
    else
        place->owed++;
}

static void arrival_order_put_free(struct arrival_order *order, const struct hatf_record *record,
                                   struct place *place)
{
    bool is_newest =
        record->time > place->time || (record->time == place->time && place->owed == 0);
    if (is_newest && place->lives)
        give_free(order, record, place->object);
    else if (!is_newest && place->owed > 0)
        place->owed--;
    else
        place->early++;
    if (is_newest) {
        place->lives = place->is_resized = false;
        place->time = record->time;
    }
}

/* At equal times the free is the later one. */
static bool resizes_dead(const struct place *place, uint64_t time)
{
    return time < place->time ||
           (time == place->time && !place->lives && !place->is_resized && place->early > 0);
}

/* Resizes in place: frees the object and adds another one. */
static void put_in_place(struct arrival_order *order, const struct hatf_record *record,
                         struct place *place)
{
    bool is_late = resizes_dead(place, record->time);
    if (!is_late && place->lives)
        give_free(order, record, place->object);
    uint64_t object = ++order->objects;
    arrival_order_give(order, record, HATF_ALLOC, object);
    if (is_late) {
        give_free(order, record, object);
        place->early -= place->early > 0;
        return;
    }
    place->object = object;
    place->time = record->time;
    place->lives = true;
}

static bool arrival_order_take(struct arrival_order *order, const struct hatf_record *record)
{
    bool moves_nothing = record->tag == HATF_REALLOC_NO_ALLOC && record->new_address == 0;
    order->at = order->filled = 0;
    if (moves_nothing)
        return true;
    if (record->tag != HATF_ALLOC && record->tag != HATF_FREE &&
        record->tag != HATF_REALLOC_NO_ALLOC) {
        order->pending[order->filled++] = *record;
        return true;
    }
    struct place *place = arrival_order_place_of(order, record->address);
    if (place == NULL)
        return false;
    if (record->tag == HATF_ALLOC)
        arrival_order_put_alloc(order, record, place);
    else if (record->tag == HATF_FREE)
        arrival_order_put_free(order, record, place);
    else
        put_in_place(order, record, place);
    return true;
}

/* ---- frees and births reported separately ---- */

bool arrival_order_free(struct alloc_source *base, const struct hatf_record *record)
{
    struct arrival_order *order = (struct arrival_order *) base;
    struct place *place = arrival_order_place_of(order, record->address);
    size_t before = order->filled;
    if (place == NULL)
        return false;
    arrival_order_put_free(order, record, place);
    if (place->time == record->time)
        place->is_resized = record->tag == HATF_REALLOC_NO_ALLOC;
    if (order->filled == before)
        return true;
    order->filled = before;
    if (!STEP_MAKE_ROOM(order->deaths, order->death_capacity, order->death_count + 1))
        return false;
    order->deaths[order->death_count++] =
        (struct reported_death){order->pending[before].address, record->time};
    return true;
}

/* Returns the state of an address, prepared for this look; NULL if the address is unknown. */
static struct place *place_in_look(struct arrival_order *order, uint64_t address)
{
    struct live_object found;
    if (!object_table_find(&order->addresses, live_address_key(address), &found))
        return NULL;
    struct place *place = &order->places[found.value];
    if (place->look != order->looks) {
        place->look = order->looks;
        place->met = 0;
    }
    return place;
}

void arrival_order_look(struct alloc_source *base)
{
    struct arrival_order *order = (struct arrival_order *) base;
    order->looks++;
}

void arrival_order_note_birth(struct alloc_source *base, uint64_t address, uint64_t time)
{
    struct arrival_order *order = (struct arrival_order *) base;
    struct place *place = place_in_look(order, address);
    if (place != NULL && time < place->time)
        place->met++;
}

/* At equal times, as many objects are dead as there are frees not yet matched with an
 * allocation. */
bool arrival_order_would_live(struct alloc_source *base, uint64_t address, uint64_t time)
{
    struct arrival_order *order = (struct arrival_order *) base;
    struct place *place = place_in_look(order, address);
    if (place == NULL || time > place->time)
        return true;
    if (time < place->time)
        return false;
    if (place->met >= place->early)
        return true;
    place->met++;
    return false;
}

/* ---- the source ---- */

static void give_death(struct arrival_order *order, struct hatf_record *record)
{
    const struct reported_death *death = &order->deaths[order->death_at++];
    *record = (struct hatf_record){.tag = HATF_FREE, .time = death->time, .address = death->object};
    if (order->death_at == order->death_count)
        order->death_at = order->death_count = 0;
}

static enum step_status arrival_order_next(struct alloc_source *base, struct hatf_record *record,
                                           struct step_error *error)
{
    struct arrival_order *order = (struct arrival_order *) base;
    struct hatf_record from;
    while (order->at == order->filled) {
        if (order->death_at < order->death_count) {
            give_death(order, record);
            return STEP_STATUS_OK;
        }
        enum step_status status = alloc_source_next(order->records, &from, error);
        if (status != STEP_STATUS_OK)
            return status;
        base->attributes_number = order->records->attributes_number;
        if (!arrival_order_take(order, &from))
            return no_memory(error);
    }
    *record = order->pending[order->at++];
    return STEP_STATUS_OK;
}

static double arrival_order_progress(struct alloc_source *base)
{
    struct arrival_order *order = (struct arrival_order *) base;
    return order->records->operations->progress(order->records);
}

static void arrival_order_destroy(struct alloc_source *base)
{
    struct arrival_order *order = (struct arrival_order *) base;
    alloc_source_destroy(order->records);
    object_table_reset(&order->addresses);
    free(order->places);
    free(order->deaths);
    free(order);
}

static const struct alloc_source_operations operations = {
    .next = arrival_order_next,
    .progress = arrival_order_progress,
    .destroy = arrival_order_destroy,
};

enum step_status arrival_order_create(struct alloc_source *records, struct alloc_source **out,
                                      struct step_error *error)
{
    struct arrival_order *order = calloc(1, sizeof *order);
    if (order == NULL) {
        alloc_source_destroy(records);
        return no_memory(error);
    }
    order->base.operations = &operations;
    order->base.path = records->path;
    order->base.about.inner = &records->about;
    order->base.may_grow = true;
    order->records = records;
    *out = &order->base;
    return STEP_STATUS_OK;
}
