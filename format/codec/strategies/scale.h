/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scaling of values that are multiples of a number to quotients: a one-to-one map of all 64-bit
 * numbers, which equals division where that is exact, also for signed values.  The number is
 * 2^shift * odd.
 *
 * An odd number has an inverse modulo 2^64, and multiplying by it divides multiples exactly; other
 * values get some large number, but come back.  The factor 2^shift has no inverse: it is shifted
 * out, and the bits that are lost there, 0 for multiples, are mixed into the copies of the sign at
 * the top, from where they can be recovered.  So one value that is no multiple costs bytes, but
 * never the column.
 */
#ifndef FORMAT_CODEC_STRATEGIES_SCALE_H
#define FORMAT_CODEC_STRATEGIES_SCALE_H

#include <stdint.h>

struct step_scale {
    unsigned shift;
    uint64_t odd;
    uint64_t inverse; /* of odd, modulo 2^64 */
};

/* `number` is not 0. */
static inline struct step_scale step_scale_of(uint64_t number)
{
    struct step_scale scale = {(unsigned) __builtin_ctzll(number), 0, 0};
    scale.odd = number >> scale.shift;
    scale.inverse = scale.odd; /* correct in 3 bits; each round doubles them */
    for (unsigned i = 0; i < 5; i++)
        scale.inverse *= 2 - scale.odd * scale.inverse;
    return scale;
}

/* Shifts arithmetically; bits shifted out replace copies of the sign. */
static inline uint64_t step_scale_down(const struct step_scale *scale, uint64_t value)
{
    if (scale->shift > 0) {
        uint64_t sign = 0 - (value >> 63);
        uint64_t low = value << (64 - scale->shift);
        value = (value >> scale->shift | sign << (64 - scale->shift)) ^ low;
    }
    return value * scale->inverse;
}

static inline uint64_t step_scale_up(const struct step_scale *scale, uint64_t value)
{
    value *= scale->odd;
    if (scale->shift == 0)
        return value;
    uint64_t sign = 0 - (value >> (63 - scale->shift) & 1);
    uint64_t low = (value ^ sign << (64 - scale->shift)) >> (64 - scale->shift);
    return value << scale->shift | low;
}

/* Returns the greatest multiple of the number that is not above the value. */
static inline uint64_t step_scale_floor(uint64_t number, uint64_t value, int is_signed)
{
    uint64_t rest = value % number;
    if (is_signed && value >> 63 != 0) {
        uint64_t beyond = (0 - value) % number;
        rest = beyond == 0 ? 0 : number - beyond;
    }
    return value - rest;
}

#endif
