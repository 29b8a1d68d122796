/* SPDX-License-Identifier: Apache-2.0 */
/* Hash table of numbers: an array of entries and an index over it. */
#include "agent/base/hash_numbers.h"

#include "format/core/grow.h"

/* The index uses the middle bits of the hash. */
static uint32_t index_hash(uint64_t hash)
{
    return (uint32_t) (hash >> 8);
}

struct hash_number *hash_numbers_place(struct hash_numbers *table, uint64_t hash)
{
    uint32_t place;
    STEP_INDEX_EACH (&table->index, index_hash(hash), place)
        if (table->entries[place].hash == hash)
            return &table->entries[place];
    if (!STEP_MAKE_ROOM(table->entries, table->capacity, table->count + 1) ||
        !step_index_reserve(&table->index))
        return NULL;
    table->entries[table->count] = (struct hash_number){0, 0};
    return &table->entries[table->count];
}

void hash_numbers_put(struct hash_numbers *table, struct hash_number *place, uint64_t hash,
                      uint64_t number)
{
    step_index_add(&table->index, index_hash(hash), (uint32_t) table->count++);
    *place = (struct hash_number){hash, number};
}

void hash_numbers_clear(struct hash_numbers *table)
{
    table->count = 0;
    step_index_clear(&table->index);
}
