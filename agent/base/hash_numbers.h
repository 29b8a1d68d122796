/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers by hash: a hash of 64 bits is taken for what it is of.  The
 * owner locks. */
#ifndef AGENT_BASE_HASH_NUMBERS_H
#define AGENT_BASE_HASH_NUMBERS_H

#include <stddef.h>
#include <stdint.h>

#include "format/core/hash_index.h"

struct hash_number {
    uint64_t hash; /* 0: free */
    uint64_t number;
};

/* Zero-initialised is empty. */
struct hash_numbers {
    struct hash_number *entries;
    size_t capacity, count;
    struct step_index index; /* of the entries */
};

/* Where the hash (not 0) is, or will be: then the place is free, and its number 0.  Valid until the
 * next call.  NULL: out of memory. */
struct hash_number *hash_numbers_place(struct hash_numbers *table, uint64_t hash);
/* Fills in a free place. */
void hash_numbers_put(struct hash_numbers *table, struct hash_number *place, uint64_t hash,
                      uint64_t number);
/* It is empty again, and keeps its memory. */
void hash_numbers_clear(struct hash_numbers *table);

#endif
