/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The form `tokens`, for values whose size is regular but whose low bits are noise: one byte per
 * value for its size and highest bits, which compresses well, and the other bits unchanged.
 *
 * With m = the parameter, values below 2^(m+1) are their own token.  A larger one, with its highest
 * bit at place e and the m bits below that being b, has the token (e - m) * 2^m + 2^m + b, and e -
 * m further bits.  Token 255 marks values whose token would be 255 or more, or that would have more
 * than 56 further bits.  The tokens are followed by the further bits of all values in order, lowest
 * bit first, filling bytes from their lowest bit; then by the value of each token 255 as a varint.
 *
 * Times and addresses are such values: a compressor that gets both kinds of bits in one byte finds
 * no pattern in either.  56 further bits and a place of up to 7 within a byte fit in the 64 bits
 * that the decoder loads at once.
 */
#include "format/codec/forms/form.h"
#include "format/core/bytes.h"

enum { ESCAPE = 255, MOST_BITS = 56 };

static bool tokens_valid(uint64_t parameter)
{
    return parameter >= 1 && parameter <= 6;
}

static uint64_t tokens_bound(uint64_t parameter, uint64_t count)
{
    (void) parameter;
    return count * (1 + 8 + STEP_VARINT_MAX) + 16;
}

/* Returns the token of a value, and the number of its further bits. */
static inline unsigned token_of(uint64_t value, unsigned m, unsigned *bits)
{
    *bits = 0;
    if (value >> (m + 1) == 0)
        return (unsigned) value;
    unsigned e = 63u - (unsigned) __builtin_clzll(value); /* its highest bit */
    unsigned token = ((e - m) << m) + (unsigned) (value >> (e - m));
    if (token >= ESCAPE || e - m > MOST_BITS)
        return ESCAPE;
    *bits = e - m;
    return token;
}

static size_t tokens_encode(uint64_t parameter, const uint64_t *values, size_t count, uint8_t *out)
{
    unsigned m = (unsigned) parameter;
    uint8_t *at = out + count;
    uint64_t pending = 0; /* bits not yet written, fewer than 8 between values */
    unsigned filled = 0;
    for (size_t i = 0; i < count; i++) {
        unsigned bits;
        unsigned token = token_of(values[i], m, &bits);
        out[i] = (uint8_t) token;
        pending |= (values[i] & ((UINT64_C(1) << bits) - 1)) << filled;
        for (filled += bits; filled >= 8; filled -= 8) {
            *at++ = (uint8_t) pending;
            pending >>= 8;
        }
    }
    if (filled > 0)
        *at++ = (uint8_t) pending;
    for (size_t i = 0; i < count; i++)
        if (out[i] == ESCAPE)
            at = step_varint_put(at, values[i]);
    return (size_t) (at - out);
}

/* The meaning of the tokens: the value with its further bits 0, and the number of these. */
struct meaning {
    uint64_t base[ESCAPE + 1];
    uint8_t bits[ESCAPE + 1];
};

static void learn(unsigned m, struct meaning *meaning)
{
    for (unsigned token = 0; token < ESCAPE; token++) {
        unsigned bits = token >> (m + 1) == 0 ? 0 : (token >> m) - 1;
        uint64_t top = token >> (m + 1) == 0 ? token : (token & ((1u << m) - 1)) + (1u << m);
        meaning->bits[token] = (uint8_t) bits;
        meaning->base[token] = bits <= MOST_BITS ? top << bits : 0;
    }
    meaning->base[ESCAPE] = 0;
    meaning->bits[ESCAPE] = 0;
}

static inline uint64_t load_bits(const uint8_t *at, size_t left)
{
    if (left >= 8)
        return step_load_u64(at);
    uint64_t result = 0;
    for (size_t i = 0; i < left; i++)
        result |= (uint64_t) at[i] << (8 * i);
    return result;
}

/* Adds up the further bits of all tokens first: that gives the place of the varints, and shows
 * before anything is read that the bytes are there. */
static bool tokens_decode(uint64_t parameter, const uint8_t *in, size_t length, uint64_t *values,
                          size_t count)
{
    struct meaning meaning;
    if (length < count)
        return false;
    learn((unsigned) parameter, &meaning);
    uint64_t total = 0;
    bool possible = true;
    for (size_t i = 0; i < count; i++) {
        total += meaning.bits[in[i]];
        possible = possible && meaning.bits[in[i]] <= MOST_BITS;
    }
    const uint8_t *bits = in + count;
    if (!possible || (total + 7) / 8 > length - count)
        return false;
    const uint8_t *end = in + length;
    const uint8_t *escapes = bits + (total + 7) / 8;
    uint64_t place = 0;
    for (size_t i = 0; i < count; i++) {
        unsigned token = in[i];
        if (token == ESCAPE) {
            escapes = step_varint_get(escapes, end, &values[i]);
            if (escapes == NULL)
                return false;
            continue;
        }
        unsigned n = meaning.bits[token];
        const uint8_t *at = bits + place / 8;
        uint64_t word = load_bits(at, (size_t) (end - at)) >> (place % 8);
        /* MOST_BITS and the place fit in the word */
        values[i] = meaning.base[token] + (word & ((UINT64_C(1) << n) - 1));
        place += n;
    }
    return escapes == end;
}

const struct step_form step_form_tokens = {
    .id = STEP_FORM_TOKENS,
    .name = "tokens",
    .parameter_count = 1,
    .valid = tokens_valid,
    .bound = tokens_bound,
    .encode = tokens_encode,
    .decode = tokens_decode,
};
