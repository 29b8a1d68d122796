/* SPDX-License-Identifier: Apache-2.0 */
/* Bits from the lowest upwards, as all of these have them. */
#include "converter/table_export/parquet_encodings.h"

#include <string.h>

enum { BLOCK = 128, MINIBLOCK = 32, MINIBLOCKS = BLOCK / MINIBLOCK, LEAST_RUN = 16, GROUP = 8 };

unsigned parquet_width(uint64_t value)
{
    return value != 0 ? 64 - (unsigned) __builtin_clzll(value) : 0;
}

static bool put_zigzag(struct step_buffer *out, int64_t value)
{
    return step_buffer_append_varint(out, (uint64_t) value << 1 ^ (uint64_t) (value >> 63));
}

/* `count` values of `width` bits; bits and count make whole bytes. */
static bool put_bits(struct step_buffer *out, const uint64_t *values, size_t count, unsigned width)
{
    size_t length = count * width / 8;
    if (!step_buffer_reserve(out, length + 16))
        return false;
    uint8_t *at = out->data + out->length;
    uint64_t held = 0;
    unsigned bits = 0;
    for (size_t i = 0; i < count && width > 0; i++) {
        held |= values[i] << bits;
        bits += width;
        if (bits < 64)
            continue;
        step_store_u64(at, held);
        at += 8;
        bits -= 64;
        held = bits > 0 ? values[i] >> (width - bits) : 0;
    }
    for (; bits > 0 && width > 0; bits = bits > 8 ? bits - 8 : 0) {
        *at++ = (uint8_t) held;
        held >>= 8;
    }
    out->length += length;
    return true;
}

/* A block of up to 128 differences. */
static bool put_delta_block(struct step_buffer *out, const uint64_t *values, size_t count)
{
    uint64_t deltas[BLOCK] = {0};
    uint8_t widths[MINIBLOCKS] = {0};
    int64_t least = INT64_MAX;
    for (size_t i = 0; i < count; i++) {
        deltas[i] = values[i + 1] - values[i];
        least = (int64_t) deltas[i] < least ? (int64_t) deltas[i] : least;
    }
    for (size_t i = 0; i < count; i++)
        deltas[i] -= (uint64_t) least;
    size_t used = (count + MINIBLOCK - 1) / MINIBLOCK;
    for (size_t i = 0; i < used; i++) {
        uint64_t all = 0;
        for (size_t k = 0; k < MINIBLOCK; k++)
            all |= deltas[i * MINIBLOCK + k];
        widths[i] = (uint8_t) parquet_width(all);
    }
    bool good = put_zigzag(out, least) && step_buffer_append(out, widths, sizeof widths);
    for (size_t i = 0; good && i < used; i++)
        good = put_bits(out, deltas + i * MINIBLOCK, MINIBLOCK, widths[i]);
    return good;
}

bool parquet_put_deltas(struct step_buffer *out, const uint64_t *values, size_t count)
{
    bool good = step_buffer_append_varint(out, BLOCK) &&
                step_buffer_append_varint(out, MINIBLOCKS) &&
                step_buffer_append_varint(out, count) &&
                put_zigzag(out, count > 0 ? (int64_t) values[0] : 0);
    for (size_t i = 0; good && i + 1 < count; i += BLOCK) {
        size_t left = count - 1 - i;
        good = put_delta_block(out, values + i, left < BLOCK ? left : BLOCK);
    }
    return good;
}

static bool put_run(struct step_buffer *out, uint32_t value, size_t count, unsigned width)
{
    uint8_t bytes[4];
    step_store_u32(bytes, value);
    return step_buffer_append_varint(out, (uint64_t) count << 1) &&
           step_buffer_append(out, bytes, (width + 7) / 8);
}

/* Groups of 8; what is missing of the last is 0. */
static bool put_groups(struct step_buffer *out, const uint32_t *values, size_t count,
                       unsigned width)
{
    size_t groups = (count + GROUP - 1) / GROUP;
    bool good = count == 0 || step_buffer_append_varint(out, (uint64_t) groups << 1 | 1);
    for (size_t i = 0; good && i < count; i += GROUP) {
        uint64_t group[GROUP] = {0};
        for (size_t k = 0; k < GROUP && i + k < count; k++)
            group[k] = values[i + k];
        good = put_bits(out, group, GROUP, width);
    }
    return good;
}

bool parquet_put_hybrid(struct step_buffer *out, const uint32_t *values, size_t count,
                        unsigned width)
{
    size_t from = 0; /* of what waits to be packed */
    bool good = true;
    for (size_t i = 0; good && i < count;) {
        size_t end = i + 1;
        while (end < count && values[end] == values[i])
            end++;
        size_t fill = (GROUP - (i - from) % GROUP) % GROUP; /* groups are whole but the last */
        if (end - i >= LEAST_RUN + fill) {
            i += fill;
            good = put_groups(out, values + from, i - from, width) &&
                   put_run(out, values[i], end - i, width);
            from = end;
        }
        i = end;
    }
    return good && put_groups(out, values + from, count - from, width);
}

bool parquet_put_numbers(struct step_buffer *out, const uint64_t *values, size_t count)
{
    if (!step_buffer_reserve(out, count * 8))
        return false;
    for (size_t i = 0; i < count; i++)
        step_store_u64(out->data + out->length + i * 8, values[i]);
    out->length += count * 8;
    return true;
}

bool parquet_put_flags(struct step_buffer *out, const uint8_t *values, size_t count)
{
    size_t length = (count + 7) / 8;
    if (!step_buffer_reserve(out, length + 1))
        return false;
    memset(out->data + out->length, 0, length);
    for (size_t i = 0; i < count; i++)
        out->data[out->length + i / 8] |= (uint8_t) ((values[i] != 0) << i % 8);
    out->length += length;
    return true;
}

bool parquet_put_text(struct step_buffer *out, struct step_bytes text)
{
    uint8_t length[4];
    step_store_u32(length, (uint32_t) text.length);
    return step_buffer_append(out, length, sizeof length) &&
           (text.length == 0 || step_buffer_append(out, text.data, text.length));
}
