/* SPDX-License-Identifier: Apache-2.0 */
/* Encodes values: bits, differences, runs. */
#include "analyses/tables/formats/parquet_column.h"

#include <string.h>

/* ---- encodings that store bits from the lowest upwards ---- */

enum { BLOCK = 128, MINIBLOCK = 32, MINIBLOCKS = BLOCK / MINIBLOCK, LEAST_RUN = 16, GROUP = 8 };

unsigned parquet_width(uint64_t value)
{
    return value != 0 ? 64 - (unsigned) __builtin_clzll(value) : 0;
}

static void put_zigzag(struct byte_output *out, int64_t value)
{
    bytes_put_varint(out, (uint64_t) value << 1 ^ (uint64_t) (value >> 63));
}

/* `count` values of `width` bits; the total is a whole number of bytes. */
static void put_bits(struct byte_output *out, const uint64_t *values, size_t count, unsigned width)
{
    enum { SPARE = 16 };
    uint8_t *at = bytes_put_room(out, count * width / 8 + SPARE);
    uint64_t held = 0;
    unsigned bits = 0;
    if (at == NULL)
        return;
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
    out->bytes.length -= SPARE;
}

/* A block of up to 128 differences. */
static void put_delta_block(struct byte_output *out, const uint64_t *values, size_t count)
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
    put_zigzag(out, least);
    bytes_put(out, widths, sizeof widths);
    for (size_t i = 0; i < used; i++)
        put_bits(out, deltas + i * MINIBLOCK, MINIBLOCK, widths[i]);
}

void parquet_put_deltas(struct byte_output *out, const uint64_t *values, size_t count)
{
    bytes_put_varint(out, BLOCK);
    bytes_put_varint(out, MINIBLOCKS);
    bytes_put_varint(out, count);
    put_zigzag(out, count > 0 ? (int64_t) values[0] : 0);
    for (size_t i = 0; i + 1 < count; i += BLOCK) {
        size_t left = count - 1 - i;
        put_delta_block(out, values + i, left < BLOCK ? left : BLOCK);
    }
}

/* Groups of 8; the last is padded with 0. */
static void put_groups(struct byte_output *out, const uint32_t *values, size_t count,
                       unsigned width)
{
    size_t groups = (count + GROUP - 1) / GROUP;
    if (count > 0)
        bytes_put_varint(out, (uint64_t) groups << 1 | 1);
    for (size_t i = 0; i < count; i += GROUP) {
        uint64_t group[GROUP] = {0};
        for (size_t k = 0; k < GROUP && i + k < count; k++)
            group[k] = values[i + k];
        put_bits(out, group, GROUP, width);
    }
}

void parquet_put_hybrid(struct byte_output *out, const uint32_t *values, size_t count,
                        unsigned width)
{
    size_t from = 0; /* start of the values to be packed */
    for (size_t i = 0; i < count;) {
        size_t end = i + 1;
        while (end < count && values[end] == values[i])
            end++;
        size_t fill = (GROUP - (i - from) % GROUP) % GROUP; /* all groups but the last are
                                                               complete */
        if (end - i >= LEAST_RUN + fill) {
            i += fill;
            put_groups(out, values + from, i - from, width);
            bytes_put_varint(out, (uint64_t) (end - i) << 1);
            bytes_put_little(out, values[i], (width + 7) / 8);
            from = end;
        }
        i = end;
    }
    put_groups(out, values + from, count - from, width);
}

void parquet_put_flags(struct byte_output *out, const uint8_t *values, size_t count)
{
    size_t length = (count + 7) / 8;
    uint8_t *at = bytes_put_room(out, length);
    if (at == NULL)
        return;
    memset(at, 0, length);
    for (size_t i = 0; i < count; i++)
        at[i / 8] |= (uint8_t) ((values[i] != 0) << i % 8);
}
