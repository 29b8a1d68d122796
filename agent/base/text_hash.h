/* SPDX-License-Identifier: Apache-2.0 */
/* A hash of texts, for names and signatures: FNV-1a. */
#ifndef AGENT_BASE_TEXT_HASH_H
#define AGENT_BASE_TEXT_HASH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define TEXT_HASH_START UINT64_C(0xcbf29ce484222325)

/* That of a text, when `hash` is the start, or of what came before it and the text. */
static inline uint64_t text_hash_more(uint64_t hash, const char *bytes, size_t length)
{
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ (uint8_t) bytes[i]) * UINT64_C(0x100000001b3);
    return hash;
}

/* As the key of a table: its high bits in its low ones, and not 0. */
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
