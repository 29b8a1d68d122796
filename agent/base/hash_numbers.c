/* SPDX-License-Identifier: Apache-2.0 */
/* At most half full, as long as there is memory. */
#include "agent/base/hash_numbers.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_SIZE 4096u

static struct hash_number *find(const struct hash_numbers *table, uint64_t hash)
{
    size_t slot = (size_t) (hash >> 8) & (table->size - 1);
    while (table->entries[slot].hash != 0 && table->entries[slot].hash != hash)
        slot = (slot + 1) & (table->size - 1);
    return &table->entries[slot];
}

/* Makes room for one more. */
static bool grow(struct hash_numbers *table)
{
    if (table->count < table->size / 2)
        return true;
    struct hash_numbers old = *table;
    size_t size = old.size != 0 ? 2 * old.size : FIRST_SIZE;
    struct hash_number *entries = calloc(size, sizeof *entries);
    if (entries == NULL)
        return table->count + 1 < table->size;
    table->entries = entries;
    table->size = size;
    for (size_t i = 0; i < old.size; i++)
        if (old.entries[i].hash != 0)
            *find(table, old.entries[i].hash) = old.entries[i];
    free(old.entries);
    return true;
}

struct hash_number *hash_numbers_place(struct hash_numbers *table, uint64_t hash)
{
    return grow(table) ? find(table, hash) : NULL;
}

void hash_numbers_put(struct hash_numbers *table, struct hash_number *place, uint64_t hash,
                      uint64_t number)
{
    *place = (struct hash_number){hash, number};
    table->count++;
}

void hash_numbers_clear(struct hash_numbers *table)
{
    table->count = 0;
    if (table->entries != NULL)
        memset(table->entries, 0, table->size * sizeof *table->entries);
}
