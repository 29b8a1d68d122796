/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The form `packed`: 1, 2, 4 or 8 bits per value, the first value in the lowest bits of a byte.  A
 * field of all ones means that the value overflows.  A varint for each of these, the value less
 * that maximum, follows the packed bits.
 *
 * The widths divide 8, so no value crosses a byte, and a compressor sees the same byte for the same
 * values.  Overflow is stored apart: where it stands does not shift the packed values, which the
 * decoder unpacks in one loop without looking for it.
 */
#include "format/codec/forms/form.h"
#include "format/core/bytes.h"

static bool packed_valid(uint64_t parameter)
{
    return parameter == 1 || parameter == 2 || parameter == 4 || parameter == 8;
}

static uint64_t packed_bytes(uint64_t bits, uint64_t count)
{
    return count / 8 * bits + (count % 8 * bits + 7) / 8;
}

static uint64_t packed_bound(uint64_t parameter, uint64_t count)
{
    return packed_bytes(parameter, count) + count * STEP_VARINT_MAX;
}

enum { GROUP = 8 }; /* values; they fill `bits` bytes */

/* Packs up to a group of values; overflow is written at `*extra`. */
static inline uint64_t pack_some(unsigned bits, const uint64_t *values, size_t count,
                                 uint8_t **extra)
{
    uint64_t top = (UINT64_C(1) << bits) - 1;
    uint64_t word = 0;
    for (size_t i = 0; i < count; i++) {
        uint64_t low = values[i] < top ? values[i] : top;
        if (low == top)
            *extra = step_varint_put(*extra, values[i] - top);
        word |= low << (i * bits);
    }
    return word;
}

/* Packs a group without overflow.  One test decides for all of it: a value overflows if it is all
 * ones or more, that is, if adding 1 carries beyond the width.  (value | value + 1) has a bit
 * beyond the width exactly then, also for 2^64 - 1, which becomes 0 but has the bits itself. */
static inline uint64_t pack_group(unsigned bits, const uint64_t *values, uint8_t **extra)
{
    uint64_t mask = 0;
    uint64_t word = 0;
    for (size_t i = 0; i < GROUP; i++) {
        mask |= values[i] | (values[i] + 1);
        word |= values[i] << (i * bits);
    }
    return mask >> bits == 0 ? word : pack_some(bits, values, GROUP, extra);
}

static inline void store_bytes(uint8_t *out, uint64_t word, size_t count)
{
    for (size_t i = 0; i < count; i++)
        out[i] = (uint8_t) (word >> (8 * i));
}

/* Packs all values.  Returns the end of the overflow, which starts at `extra`. */
static inline uint8_t *form_packed_pack(unsigned bits, const uint64_t *values, size_t count,
                                        uint8_t *out, uint8_t *extra)
{
    size_t i = 0;
    for (; i + GROUP <= count; i += GROUP, out += bits)
        store_bytes(out, pack_group(bits, values + i, &extra), bits);
    uint64_t last = pack_some(bits, values + i, count - i, &extra);
    store_bytes(out, last, (size_t) packed_bytes(bits, count - i));
    return extra;
}

static size_t packed_encode(uint64_t parameter, const uint64_t *values, size_t count, uint8_t *out)
{
    uint8_t *extra = out + packed_bytes(parameter, count);
    switch (parameter) {
    case 1:
        extra = form_packed_pack(1, values, count, out, extra);
        break;
    case 2:
        extra = form_packed_pack(2, values, count, out, extra);
        break;
    case 4:
        extra = form_packed_pack(4, values, count, out, extra);
        break;
    default:
        extra = form_packed_pack(8, values, count, out, extra);
    }
    return (size_t) (extra - out);
}

static inline void form_packed_unpack(unsigned bits, const uint8_t *in, uint64_t *values,
                                      size_t count)
{
    unsigned per_byte = 8 / bits;
    unsigned top = (1u << bits) - 1;
    size_t i = 0;
    for (; i + per_byte <= count; in++)
        for (unsigned k = 0; k < per_byte; k++)
            values[i++] = (unsigned) *in >> (k * bits) & top;
    for (unsigned k = 0; i < count; k++)
        values[i++] = (unsigned) *in >> (k * bits) & top;
}

/* The second pass finds the overflow.  The sum with the maximum must not pass 2^64: each value has
 * one encoding only, so that bytes are damaged or not, but never ambiguous. */
static bool packed_decode(uint64_t parameter, const uint8_t *in, size_t length, uint64_t *values,
                          size_t count)
{
    uint64_t packed = packed_bytes(parameter, count);
    if (packed > length)
        return false;
    const uint8_t *extra = in + packed;
    const uint8_t *end = in + length;
    switch (parameter) {
    case 1:
        form_packed_unpack(1, in, values, count);
        break;
    case 2:
        form_packed_unpack(2, in, values, count);
        break;
    case 4:
        form_packed_unpack(4, in, values, count);
        break;
    default:
        form_packed_unpack(8, in, values, count);
    }
    uint64_t top = (UINT64_C(1) << parameter) - 1;
    for (size_t i = 0; i < count; i++) {
        if (values[i] != top)
            continue;
        uint64_t beyond;
        extra = step_varint_get(extra, end, &beyond);
        if (extra == NULL || beyond > UINT64_MAX - top)
            return false;
        values[i] += beyond;
    }
    return extra == end;
}

const struct step_form step_form_packed = {
    .id = STEP_FORM_PACKED,
    .name = "packed",
    .parameter_count = 1,
    .valid = packed_valid,
    .bound = packed_bound,
    .encode = packed_encode,
    .decode = packed_decode,
};
