/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bytes in memory: a growing buffer, a bounds-checked cursor for untrusted bytes, variable-length
 * and little-endian integers.
 *
 * A varint stores 7 bits per byte, the lowest first, with the high bit set in all bytes but the
 * last; at most 10 bytes.
 */
#ifndef FORMAT_CORE_BYTES_H
#define FORMAT_CORE_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define STEP_VARINT_MAX 10u

/* Zero-initialise for an empty buffer. */
struct step_buffer {
    uint8_t *data;
    size_t length;
    size_t capacity;
};

void step_buffer_reset(struct step_buffer *buffer); /* frees the storage */

/* Return false if memory runs out; the buffer is then unchanged. */
bool step_buffer_reserve(struct step_buffer *buffer, size_t extra);
bool step_buffer_append(struct step_buffer *buffer, const void *data, size_t length);
bool step_buffer_append_varint(struct step_buffer *buffer, uint64_t value);

struct step_cursor {
    const uint8_t *at;
    const uint8_t *end;
};

/* Return false, without moving the cursor, if the bytes end early or the varint is malformed. */
bool step_cursor_varint(struct step_cursor *cursor, uint64_t *value);
bool step_cursor_bytes(struct step_cursor *cursor, uint64_t length, const uint8_t **bytes);

static inline struct step_cursor step_cursor_of(const void *data, size_t length)
{
    const uint8_t *at = data;
    return (struct step_cursor){at, at != NULL ? at + length : at};
}

static inline size_t step_cursor_left(const struct step_cursor *cursor)
{
    return (size_t) (cursor->end - cursor->at);
}

/* Writes a varint to `out`, which has room for STEP_VARINT_MAX bytes.  Returns the address after
 * it. */
static inline uint8_t *step_varint_put(uint8_t *out, uint64_t value)
{
    while (value >= 0x80) {
        *out++ = (uint8_t) (value | 0x80);
        value >>= 7;
    }
    *out++ = (uint8_t) value;
    return out;
}

/* Reads a varint.  Returns the address after it, or NULL. */
static inline const uint8_t *step_varint_get(const uint8_t *at, const uint8_t *end, uint64_t *value)
{
    uint64_t result = 0;
    for (unsigned shift = 0; at < end && shift < 64; shift += 7) {
        uint8_t byte = *at++;
        if (shift == 63 && byte > 1)
            return NULL;
        result |= (uint64_t) (byte & 0x7f) << shift;
        if (byte < 0x80) {
            *value = result;
            return at;
        }
    }
    return NULL;
}

static inline void step_store_u16(uint8_t *out, uint16_t value)
{
    out[0] = (uint8_t) value;
    out[1] = (uint8_t) (value >> 8);
}

static inline void step_store_u32(uint8_t *out, uint32_t value)
{
    step_store_u16(out, (uint16_t) value);
    step_store_u16(out + 2, (uint16_t) (value >> 16));
}

static inline void step_store_u64(uint8_t *out, uint64_t value)
{
    step_store_u32(out, (uint32_t) value);
    step_store_u32(out + 4, (uint32_t) (value >> 32));
}

static inline uint16_t step_load_u16(const uint8_t *in)
{
    return (uint16_t) (in[0] | in[1] << 8);
}

static inline uint32_t step_load_u32(const uint8_t *in)
{
    return step_load_u16(in) | (uint32_t) step_load_u16(in + 2) << 16;
}

static inline uint64_t step_load_u64(const uint8_t *in)
{
    return step_load_u32(in) | (uint64_t) step_load_u32(in + 4) << 32;
}

#endif
