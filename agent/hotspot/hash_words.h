/* SPDX-License-Identifier: Apache-2.0 */
/* HotSpot's generator of identity hashes (hashCode mode 5, the default): four words per thread,
 * Marsaglia's xorshift with three shifts. This file has its step, and the search for it in memory,
 * which alone shows that it exists. */
#ifndef AGENT_HOTSPOT_HASH_WORDS_H
#define AGENT_HOTSPOT_HASH_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HASH_WORDS 4u
#define HASH_MASK 0x7fffffffu

/* The words from the oldest to the newest; each step drops the oldest. */
struct hash_words {
    uint32_t word[HASH_WORDS];
};

/* Makes one step and returns the hash before it is masked. */
uint32_t hash_words_step(struct hash_words *words);

/* Returns true if a generator in this memory draws the hash next, with either order of words. */
bool hash_words_draw(const struct hash_words *memory, uint32_t hash);

/* Searches memory for the generator that drew these four hashes: `before` is the memory before the
 * draws, `after` the same after them. The newest word may be after the others or, as in HotSpot,
 * before them. Returns the number of matches and sets `*found` to the first, in words. */
size_t hash_words_search(const uint32_t *before, const uint32_t *after, size_t count,
                         const uint32_t hashes[HASH_WORDS], size_t *found);

#endif
