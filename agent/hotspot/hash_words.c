/* SPDX-License-Identifier: Apache-2.0 */
/* The generator's step, and the search for its words. */
#include "agent/hotspot/hash_words.h"

#include <stdbool.h>

uint32_t hash_words_step(struct hash_words *words)
{
    uint32_t t = words->word[0] ^ (words->word[0] << 11);
    uint32_t v = words->word[3];
    for (size_t i = 0; i + 1 < HASH_WORDS; i++)
        words->word[i] = words->word[i + 1];
    v = (v ^ (v >> 19)) ^ (t ^ (t >> 8));
    words->word[HASH_WORDS - 1] = v;
    return v;
}

/* Returns the state of a generator whose oldest word is the memory's word `first`. 0: the newest
 * word is after the others; 1: it is stored before them, as in HotSpot. Both are tried, so the
 * order of the JVM's members is not assumed. */
static struct hash_words words_at(const uint32_t *memory, size_t first)
{
    struct hash_words words;
    for (size_t i = 0; i < HASH_WORDS; i++)
        words.word[i] = memory[(first + i) % HASH_WORDS];
    return words;
}

static bool leads_to(const uint32_t *before, const uint32_t *after, size_t first,
                     const uint32_t hashes[HASH_WORDS])
{
    struct hash_words words = words_at(before, first);
    struct hash_words wanted = words_at(after, first);
    for (size_t i = 0; i < HASH_WORDS; i++)
        if ((wanted.word[i] & HASH_MASK) != hashes[i] || hash_words_step(&words) != wanted.word[i])
            return false;
    return true;
}

bool hash_words_draw(const struct hash_words *memory, uint32_t hash)
{
    for (size_t first = 0; first <= 1; first++) {
        struct hash_words words = words_at(memory->word, first);
        if ((hash_words_step(&words) & HASH_MASK) == hash)
            return true;
    }
    return false;
}

size_t hash_words_search(const uint32_t *before, const uint32_t *after, size_t count,
                         const uint32_t hashes[HASH_WORDS], size_t *found)
{
    size_t places = 0;
    for (size_t at = 0; at + HASH_WORDS <= count; at++)
        for (size_t first = 0; first <= 1; first++)
            if (leads_to(before + at, after + at, first, hashes) && places++ == 0)
                *found = at;
    return places;
}
