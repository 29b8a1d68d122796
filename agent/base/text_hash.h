/* SPDX-License-Identifier: Apache-2.0 */
/* FNV-1a hash of names and signatures. */
#ifndef AGENT_BASE_TEXT_HASH_H
#define AGENT_BASE_TEXT_HASH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

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

#endif
