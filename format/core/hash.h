/* SPDX-License-Identifier: Apache-2.0 */
/* The bit mixer of all hash tables: multiplication by 2^64 / golden ratio, whose top bits are the
 * best.  An inline header, as all layers may use it. */
#ifndef FORMAT_CORE_HASH_H
#define FORMAT_CORE_HASH_H

#include <stdint.h>

#define STEP_HASH_FACTOR UINT64_C(0x9e3779b97f4a7c15)

static inline uint64_t step_hash(uint64_t key)
{
    return key * STEP_HASH_FACTOR;
}

/* Returns half of the hash, with good low bits too, for a hash index. */
static inline uint32_t step_hash_half(uint64_t key)
{
    return (uint32_t) (step_hash(key) >> 32);
}

/* Extends a hash by a word; the low bits are good too. */
static inline uint64_t step_hash_join(uint64_t hash, uint64_t word)
{
    hash = step_hash(hash ^ word);
    return hash ^ hash >> 32;
}

#endif
