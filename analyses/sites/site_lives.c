/* SPDX-License-Identifier: Apache-2.0 */
/* Follows objects from their births to their deaths, and counts them at their sites. */
#include "analyses/sites/site_lives.h"

#include <stdlib.h>

#include "converter/containers/no_memory.h"
#include "format/core/grow.h"
#include "format/core/hash.h"

/* The site of objects that existed before the trace. */
#define NO_SITE UINT32_MAX
#define BYTES_MOST (UINT64_C(1) << 62)

const char *const lifetime_words[LIFETIME_MEANINGS] = {[LIFETIMES_EXACT] = "exact",
                                                       [LIFETIMES_AT_MOST] = "upper_bound",
                                                       [LIFETIMES_ESTIMATED] = "estimate"};

/* ---- life cycle ---- */

void site_lives_init(struct site_lives *lives)
{
    *lives = (struct site_lives){.count = 0};
}

void site_lives_reset(struct site_lives *lives)
{
    for (size_t i = 0; i < lives->count; i++) {
        lifetimes_reset(&lives->items[i].in_bytes);
        lifetimes_reset(&lives->items[i].in_time);
    }
    free(lives->items);
    free(lives->births);
    step_index_reset(&lives->index);
    object_table_reset(&lives->live);
    collection_clock_reset(&lives->clock);
    *lives = (struct site_lives){.count = 0};
}

uint32_t site_lives_get(struct site_lives *lives, struct site_key key)
{
    uint32_t hash = (uint32_t) step_hash_join((uint64_t) key.stack_id << 32, key.class_id);
    uint32_t number;
    STEP_INDEX_EACH (&lives->index, hash, number)
        if (lives->items[number].key.class_id == key.class_id &&
            lives->items[number].key.stack_id == key.stack_id)
            return number;
    number = (uint32_t) lives->count;
    if (!STEP_MAKE_ROOM(lives->items, lives->capacity, lives->count + 1))
        return UINT32_MAX;
    if (!step_index_add(&lives->index, hash, number))
        return UINT32_MAX;
    lives->items[lives->count++] = (struct site_life){.key = key};
    return number;
}

static void site_lives_add(struct site_amount *amount, uint64_t bytes)
{
    amount->objects++;
    amount->bytes += bytes;
}

/* ---- collections ---- */

uint64_t site_lives_collections(const struct site_lives *lives)
{
    return lives->young_bytes != 0 ? lives->born.bytes / lives->young_bytes : lives->clock.ended;
}

/* A native program's frees are not those of a collection. */
static bool follow_collections(struct site_lives *lives, const struct trace_event *event)
{
    struct collection over;
    if (lives->is_native)
        return true;
    while (collection_clock_ends_before(&lives->clock, event, &over))
        continue;
    return event->kind != EVENT_OBJECT_FREE || collection_clock_put_free(&lives->clock, event);
}

/* ---- births ---- */

static bool take_birth(struct site_lives *lives, size_t *place)
{
    if (lives->free_birth != 0) {
        *place = lives->free_birth - 1;
        lives->free_birth = (size_t) lives->births[*place].collections;
        return true;
    }
    if (!STEP_MAKE_ROOM(lives->births, lives->birth_capacity, lives->birth_count + 1))
        return false;
    *place = lives->birth_count++;
    return true;
}

static void site_lives_count_birth(struct site_life *life, const struct trace_event *event)
{
    site_lives_add(&life->born, event->size);
    if (++life->living > life->most_living)
        life->most_living = life->living;
    if (life->last_is_dead && life->last_thread == event->thread_id &&
        life->last_size == event->size)
        site_lives_add(&life->repeated, event->size);
    life->last_object = event->object;
    life->last_size = event->size;
    life->last_thread = event->thread_id;
    life->last_is_dead = false;
}

static bool site_lives_put_birth(struct site_lives *lives, const struct trace_event *event)
{
    size_t place;
    uint32_t stack_id = trace_recorded_stack(event);
    struct live_object object = {.object = event->object, .size = event->size, .class_id = NO_SITE};
    if ((event->flags & TRACE_EXISTING) != 0) {
        site_lives_add(&lives->existing, event->size);
        return object_table_put(&lives->live, &object);
    }
    uint32_t site = site_lives_get(lives, (struct site_key){event->class_id, stack_id});
    if (site == UINT32_MAX || !take_birth(lives, &place))
        return false;
    struct site_life *life = &lives->items[site];
    site_lives_count_birth(life, event);
    lives->births[place] = (struct site_born){.position = lives->born.bytes,
                                              .births = life->born.objects,
                                              .time_ns = event->time_ns,
                                              .collections = site_lives_collections(lives)};
    site_lives_add(&lives->born, event->size);
    lives->has_stacks |= stack_id != 0;
    object.value = place;
    object.class_id = site;
    return object_table_put(&lives->live, &object);
}

/* ---- deaths ---- */

/* Counts an object whose life is over, or that survived enough collections. */
static void decide(const struct site_lives *lives, struct site_life *life,
                   const struct site_born *born, uint64_t size, bool is_dead)
{
    bool is_old = site_lives_collections(lives) - born->collections >= SURVIVED_OLD;
    if (is_dead || is_old)
        site_lives_add(&life->decided, size);
    if (is_old)
        site_lives_add(&life->old, size);
}

static bool site_lives_put_death(struct site_lives *lives, const struct trace_event *event)
{
    struct live_object object;
    death_dates_put(&lives->deaths, event);
    if (!object_table_take(&lives->live, event->object, &object)) {
        lives->unknown_frees++;
        return true;
    }
    if (object.class_id == NO_SITE)
        return true;
    struct site_life *life = &lives->items[object.class_id];
    struct site_born *born = &lives->births[object.value];
    site_lives_add(&life->dead, object.size);
    decide(lives, life, born, object.size, true);
    life->reuse_decided++;
    if (life->born.objects - born->births < lives->within)
        site_lives_add(&life->reusable, object.size);
    life->living--;
    life->bounds += (event->flags & TRACE_BOUND) != 0;
    life->late += !lives->is_native &&
                  ((event->flags & TRACE_DATED) == 0 || (event->flags & TRACE_BY_COLLECTION) != 0);
    life->last_is_dead |= life->last_object == event->object;
    uint64_t bytes = lives->born.bytes - born->position;
    uint64_t time = event->time_ns > born->time_ns ? event->time_ns - born->time_ns : 0;
    born->collections = lives->free_birth;
    lives->free_birth = (size_t) object.value + 1;
    return lifetimes_add(&life->in_bytes, bytes) && lifetimes_add(&life->in_time, time);
}

/* ---- all ---- */

static enum step_status too_large(const struct site_lives *lives, struct step_error *error)
{
    return step_error_set(error, STEP_STATUS_CORRUPT, lives->path, STEP_NO_OFFSET,
                          "the sizes of the objects add up to more than 2^62");
}

enum step_status site_lives_put(void *site_lives_pointer, const struct trace_event *events,
                                size_t count, struct step_error *error)
{
    struct site_lives *lives = site_lives_pointer;
    bool ok = true;
    for (size_t i = 0; i < count && ok; i++) {
        const struct trace_event *event = &events[i];
        if (event->kind == EVENT_OBJECT_ALLOC && event->size > BYTES_MOST - lives->born.bytes)
            return too_large(lives, error);
        ok = follow_collections(lives, event);
        if (ok && event->kind == EVENT_OBJECT_ALLOC)
            ok = site_lives_put_birth(lives, event);
        else if (ok && event->kind == EVENT_OBJECT_FREE)
            ok = site_lives_put_death(lives, event);
        if (event->time_ns > lives->last_ns)
            lives->last_ns = event->time_ns;
    }
    return ok ? STEP_STATUS_OK : no_memory(error);
}

static void finish_object(struct site_lives *lives, const struct live_object *object)
{
    struct site_life *life = &lives->items[object->class_id];
    const struct site_born *born = &lives->births[object->value];
    decide(lives, life, born, object->size, false);
    life->reuse_decided += life->born.objects - born->births >= lives->within;
}

void site_lives_finish(struct site_lives *lives)
{
    struct collection over;
    while (collection_clock_finish(&lives->clock, &over))
        continue;
    struct object_cursor cursor = {0};
    struct live_object object;
    while (object_table_next(&lives->live, &cursor, &object))
        if (object.class_id != NO_SITE)
            finish_object(lives, &object);
}

enum site_precision site_lives_precision(const struct site_lives *lives)
{
    const struct death_dates *deaths = &lives->deaths;
    if (deaths->freed == 0 && !death_dates_are_exact(deaths))
        return SITE_NO_DEATHS;
    if (lives->is_native)
        return SITE_EXACT;
    if (!death_dates_are_exact(deaths))
        return SITE_DELAYED;
    return deaths->bound + deaths->by_collection + deaths->freed == 0 ? SITE_EXACT : SITE_DATED;
}
