/* SPDX-License-Identifier: Apache-2.0 */
/* Hash table from 64-bit hashes to numbers. Equal hashes count as equal keys. The caller locks. */
#ifndef AGENT_BASE_HASH_NUMBERS_H
#define AGENT_BASE_HASH_NUMBERS_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "format/core/hash_index.h"

/* FNV-1a hash of names and signatures. */

#define TEXT_HASH_START UINT64_C(0xcbf29ce484222325)

/* Continues `hash` with more bytes; TEXT_HASH_START begins a new text. */
static inline uint64_t text_hash_more(uint64_t hash, const char *bytes, size_t length)
{
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ (uint8_t) bytes[i]) * UINT64_C(0x100000001b3);
    return hash;
}

/* Makes a table key of the hash: folds the high bits into the low ones, and avoids 0. */
static inline uint64_t text_hash_key(uint64_t hash)
{
    hash ^= hash >> 32;
    return hash != 0 ? hash : 1;
}

static inline uint64_t text_hash(const char *text)
{
    return text_hash_more(TEXT_HASH_START, text, strlen(text));
}

/* Returns a table key of a number and texts, with the 0 bytes between them. */
static inline uint64_t text_hash_names(uint64_t number, const char *const *texts, size_t count)
{
    uint64_t hash = text_hash_more(TEXT_HASH_START, (const char *) &number, sizeof number);
    for (size_t i = 0; i < count; i++)
        hash = text_hash_more(hash, texts[i], strlen(texts[i]) + 1);
    return text_hash_key(hash);
}

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
