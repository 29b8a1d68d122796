/* SPDX-License-Identifier: Apache-2.0 */
/* Open addressing with linear probing and backward-shift deletion.  Objects are stored in the
 * slots themselves, so that a look-up touches one place in memory; an array with a step_index
 * needs two. */
#include "converter/base/object_table.h"

#include <stdlib.h>

#include "format/core/hash.h"
#include "format/core/large_memory.h"

/* Ids that differ only in these bits are adjacent. */
#define GROUP_BITS 4u
#define GROUP_MASK ((UINT64_C(1) << GROUP_BITS) - 1)
#define LEAST_SLOTS ((size_t) 1024)

static size_t home_of(const struct object_table *table, uint64_t object)
{
    uint64_t group = step_hash(object >> GROUP_BITS);
    return (size_t) (group >> table->shift << GROUP_BITS | (object & GROUP_MASK));
}

static bool make_slots(struct object_table *table, size_t count)
{
    struct live_slot *slots = large_memory_zeroed(count, sizeof *slots);
    if (slots == NULL)
        return false;
    table->slots = slots;
    table->mask = count - 1;
    table->shift = 64u + GROUP_BITS - (unsigned) __builtin_ctzll(count);
    return true;
}

bool object_table_init(struct object_table *table)
{
    *table = (struct object_table){0};
    return make_slots(table, LEAST_SLOTS);
}

void object_table_reset(struct object_table *table)
{
    if (table->large != NULL)
        object_table_reset(table->large);
    free(table->large);
    free(table->slots);
    *table = (struct object_table){0};
}

/* Returns the slot of the object, or the empty slot where it would be inserted. */
static size_t slot_of(const struct object_table *table, uint64_t object)
{
    size_t at = home_of(table, object);
    while (table->slots[at].object != 0 && table->slots[at].object != object)
        at = (at + 1) & table->mask;
    return at;
}

static bool resize(struct object_table *table, size_t count)
{
    struct live_slot *old = table->slots;
    size_t old_count = table->mask + 1;
    if (!make_slots(table, count))
        return false;
    for (size_t i = 0; i < old_count; i++)
        if (old[i].object != 0)
            table->slots[slot_of(table, old[i].object)] = old[i];
    free(old);
    return true;
}

static bool keep_large(struct object_table *table, const struct live_object *object)
{
    if (table->large == NULL) {
        table->large = malloc(sizeof *table->large);
        if (table->large == NULL || !object_table_init(table->large)) {
            free(table->large);
            table->large = NULL;
            return false;
        }
    }
    const struct live_object size = {.object = object->object, .value = object->size};
    return object_table_put(table->large, &size);
}

bool object_table_put(struct object_table *table, const struct live_object *object)
{
    size_t slots = table->mask + 1;
    if (object->object == 0)
        return true;
    if (table->count >= slots / 8 * 5 && !resize(table, slots * 2))
        return false;
    struct live_slot *slot = &table->slots[slot_of(table, object->object)];
    struct live_object large;
    if (slot->object != 0 && slot->size == UINT32_MAX)
        object_table_take(table->large, slot->object, &large);
    bool is_large = object->size >= UINT32_MAX;
    if (is_large && !keep_large(table, object))
        return false;
    table->count += slot->object == 0;
    *slot = (struct live_slot){object->object, object->value,
                               is_large ? UINT32_MAX : (uint32_t) object->size, object->class_id};
    return true;
}

bool object_table_has(const struct object_table *table, uint64_t object)
{
    return object != 0 && table->slots[slot_of(table, object)].object != 0;
}

bool object_table_find(const struct object_table *table, uint64_t object, struct live_object *out)
{
    if (object == 0)
        return false;
    const struct live_slot *slot = &table->slots[slot_of(table, object)];
    if (slot->object == 0)
        return false;
    *out = (struct live_object){object, slot->value, slot->size, slot->class_id};
    struct live_object large;
    if (slot->size == UINT32_MAX && object_table_find(table->large, object, &large))
        out->size = large.value;
    return true;
}

/* Fills the gap at `at` with following entries that may move closer to their home slot. */
static void close_gap(struct object_table *table, size_t at)
{
    size_t next = at;
    for (;;) {
        next = (next + 1) & table->mask;
        if (table->slots[next].object == 0)
            break;
        size_t home = home_of(table, table->slots[next].object);
        if (((next - home) & table->mask) < ((next - at) & table->mask))
            continue;
        table->slots[at] = table->slots[next];
        at = next;
    }
    table->slots[at].object = 0;
}

bool object_table_take(struct object_table *table, uint64_t object, struct live_object *out)
{
    if (object == 0)
        return false;
    size_t at = slot_of(table, object);
    const struct live_slot *slot = &table->slots[at];
    if (slot->object == 0)
        return false;
    *out = (struct live_object){object, slot->value, slot->size, slot->class_id};
    struct live_object large;
    if (slot->size == UINT32_MAX && object_table_take(table->large, object, &large))
        out->size = large.value;
    close_gap(table, at);
    table->count--;
    size_t slots = table->mask + 1;
    if (slots > LEAST_SLOTS && table->count < slots / 8)
        resize(table, slots / 2); /* if this fails, the larger table stays */
    return true;
}

bool object_table_next(const struct object_table *table, size_t *slot, struct live_object *out)
{
    while (table->slots != NULL && *slot <= table->mask) {
        uint64_t object = table->slots[(*slot)++].object;
        if (object != 0)
            return object_table_find(table, object, out);
    }
    return false;
}
