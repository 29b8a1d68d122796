/* SPDX-License-Identifier: Apache-2.0 */
/* Hash table from 64-bit hashes to numbers. Equal hashes count as equal keys. The caller locks. */
#ifndef AGENT_BASE_HASH_NUMBERS_H
#define AGENT_BASE_HASH_NUMBERS_H

#include <stddef.h>
#include <stdint.h>

#include "format/core/hash_index.h"

struct hash_number {
    uint64_t hash; /* 0: free */
    uint64_t number;
};

/* A zero-initialised table is empty. */
struct hash_numbers {
    struct hash_number *entries;
    size_t capacity, count;
    struct step_index index; /* of the entries */
};

/* Returns the entry of `hash` (not 0), or a free entry with number 0 for it. Valid until the next
 * call. Returns NULL if out of memory. */
struct hash_number *hash_numbers_place(struct hash_numbers *table, uint64_t hash);
/* Fills in a free entry that hash_numbers_place() has returned. */
void hash_numbers_put(struct hash_numbers *table, struct hash_number *place, uint64_t hash,
                      uint64_t number);
/* Empties the table and keeps its memory. */
void hash_numbers_clear(struct hash_numbers *table);

#endif
