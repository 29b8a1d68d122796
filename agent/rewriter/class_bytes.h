/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes of class files, which are big-endian: loads, stores, and an output that grows and keeps its
 * first failure. */
#ifndef AGENT_REWRITER_CLASS_BYTES_H
#define AGENT_REWRITER_CLASS_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

static inline uint16_t load_u2(const uint8_t *bytes)
{
    return (uint16_t) (bytes[0] << 8 | bytes[1]);
}

static inline uint32_t load_u4(const uint8_t *bytes)
{
    return (uint32_t) bytes[0] << 24 | (uint32_t) bytes[1] << 16 | (uint32_t) bytes[2] << 8 |
           bytes[3];
}

static inline void store_u2(uint8_t *bytes, uint32_t value)
{
    bytes[0] = (uint8_t) (value >> 8);
    bytes[1] = (uint8_t) value;
}

static inline void store_u4(uint8_t *bytes, uint32_t value)
{
    store_u2(bytes, value >> 16);
    store_u2(bytes + 2, value);
}

struct class_output {
    uint8_t *bytes; /* malloc */
    size_t used, room;
    bool failed; /* out of memory: everything after is dropped */
};

/* constant_pool.c. Makes room for `count` more bytes. Returns false if out of memory. */
bool output_reserve(struct class_output *output, size_t count);

static inline void put_bytes(struct class_output *output, const void *bytes, size_t count)
{
    if (count == 0 || (output->room - output->used < count && !output_reserve(output, count)))
        return;
    memcpy(output->bytes + output->used, bytes, count);
    output->used += count;
}

static inline void put_u1(struct class_output *output, uint32_t value)
{
    uint8_t byte = (uint8_t) value;
    put_bytes(output, &byte, 1);
}

static inline void put_u2(struct class_output *output, uint32_t value)
{
    uint8_t bytes[2];
    store_u2(bytes, value);
    put_bytes(output, bytes, 2);
}

static inline void put_u4(struct class_output *output, uint32_t value)
{
    uint8_t bytes[4];
    store_u4(bytes, value);
    put_bytes(output, bytes, 4);
}

/* Overwrites the bytes at `offset`. */
static inline void patch_u2(struct class_output *output, size_t offset, uint32_t value)
{
    if (!output->failed)
        store_u2(output->bytes + offset, value);
}

static inline void patch_u4(struct class_output *output, size_t offset, uint32_t value)
{
    if (!output->failed)
        store_u4(output->bytes + offset, value);
}

#endif
