/* SPDX-License-Identifier: Apache-2.0 */
/*
 * HotSpot's generator of identity hashes (hashCode mode 5, the default): four words of each thread,
 * Marsaglia's xorshift with three shifts.  Here is how it steps and how to find it in memory; that
 * it is there at all shows only the search.
 */
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

/* The hash, before it is masked. */
uint32_t hash_words_step(struct hash_words *words);

/* True if a generator whose memory is this draws the hash, whichever its oldest word is. */
bool hash_words_draw(const struct hash_words *memory, uint32_t hash);

/* Where in `after` the generator has become one that drew these four hashes: `before` is the same
 * memory before it did.  The newest word may lie behind the others or, as in HotSpot, before them.
 * Returns how many such places there are and sets `*found` to the first, in words. */
size_t hash_words_search(const uint32_t *before, const uint32_t *after, size_t count,
                         const uint32_t hashes[HASH_WORDS], size_t *found);

#endif
