/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Field encodings shared by HATF, Meta-TF and STEP: numbers of 0 to 8 bytes in either byte order,
 * and the interpretations none, default, baseOffset, delta, stride (HATF paper, Appendix A) with
 * Meta-TF's two more (Appendix B).  All functions are inline, for generated readers and writers.
 *
 * Numbers are loaded and stored as a whole word, whatever their width: all 8 bytes at the address
 * must be accessible.
 */
#ifndef STEPTRACE_FIELD_CODE_H
#define STEPTRACE_FIELD_CODE_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define STEP_FIELD_WIDTH_MAX 8u

/* The values are HATF's; Meta-TF's metadata numbers interpretations differently. */
enum step_field_interpretation {
    STEP_FIELD_NONE = 0,           /* the stored number is the value */
    STEP_FIELD_DEFAULT = 1,        /* nothing is stored; the value is the argument */
    STEP_FIELD_BASE_OFFSET = 2,    /* the argument plus the stored signed number */
    STEP_FIELD_DELTA = 3,          /* the previous value plus the stored signed number */
    STEP_FIELD_STRIDE = 4,         /* nothing is stored; the previous value plus the stride */
    STEP_FIELD_SECTION_OFFSET = 5, /* as none: an offset in the section that the argument names */
    STEP_FIELD_SECTION_STRIDE = 6, /* nothing is stored here; the next number of that other
                                      section */
    STEP_FIELD_INTERPRETATION_COUNT = 7
};

/* Returns true if the field has no bytes in its record. */
static inline bool step_field_stores_nothing(unsigned interpretation)
{
    return interpretation == STEP_FIELD_DEFAULT || interpretation == STEP_FIELD_STRIDE ||
           interpretation == STEP_FIELD_SECTION_STRIDE;
}

static inline uint64_t step_word_load(const uint8_t *at, bool big_endian)
{
    uint64_t word;
    memcpy(&word, at, sizeof word);
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    return big_endian ? __builtin_bswap64(word) : word;
#else
    return big_endian ? word : __builtin_bswap64(word);
#endif
}

static inline uint64_t step_number_load(const uint8_t *at, unsigned width, bool big_endian)
{
    if (width == 0)
        return 0;
    uint64_t word = step_word_load(at, big_endian);
    unsigned unused = 64 - 8 * width;
    return big_endian ? word >> unused : word << unused >> unused;
}

static inline uint64_t step_sign_extend(uint64_t number, unsigned width)
{
    if (width == 0)
        return 0;
    uint64_t sign = (uint64_t) 1 << (8 * width - 1);
    return (number ^ sign) - sign;
}

/* Returns the address after the stored number. */
static inline uint8_t *step_number_store(uint8_t *out, uint64_t number, unsigned width,
                                         bool big_endian)
{
    if (width == 0)
        return out;
    uint64_t word = big_endian ? number << (64 - 8 * width) : number;
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    word = big_endian ? __builtin_bswap64(word) : word;
#else
    word = big_endian ? word : __builtin_bswap64(word);
#endif
    memcpy(out, &word, sizeof word);
    return out + width;
}

static inline bool step_fits_unsigned(uint64_t number, unsigned width)
{
    return width >= 8 || number >> (8 * width) == 0;
}

static inline bool step_fits_signed(uint64_t number, unsigned width)
{
    if (width == 0 || width >= 8)
        return width != 0 || number == 0;
    uint64_t half = (uint64_t) 1 << (8 * width - 1);
    return number + half < 2 * half;
}

/* Returns a field's value.  `stored` is the unsigned number in the record (for a sectionStride, in
 * the other section), `width` its bytes. */
static inline uint64_t step_field_value(unsigned interpretation, uint64_t stored, unsigned width,
                                        uint64_t argument, uint64_t stride, uint64_t previous)
{
    switch (interpretation) {
    case STEP_FIELD_DEFAULT:
        return argument;
    case STEP_FIELD_BASE_OFFSET:
        return argument + step_sign_extend(stored, width);
    case STEP_FIELD_DELTA:
        return previous + step_sign_extend(stored, width);
    case STEP_FIELD_STRIDE:
        return previous + stride;
    default:
        return stored;
    }
}

/* Returns the number to store for the value, or 0 if nothing is stored. */
static inline uint64_t step_field_stored(unsigned interpretation, uint64_t value, uint64_t argument,
                                         uint64_t previous)
{
    if (interpretation == STEP_FIELD_BASE_OFFSET)
        return value - argument;
    return interpretation == STEP_FIELD_DELTA ? value - previous : value;
}

/* Returns true if the value can be stored with these settings. */
static inline bool step_field_fits(unsigned interpretation, uint64_t value, unsigned width,
                                   uint64_t argument, uint64_t stride, uint64_t previous)
{
    switch (interpretation) {
    case STEP_FIELD_DEFAULT:
        return value == argument;
    case STEP_FIELD_BASE_OFFSET:
        return step_fits_signed(value - argument, width);
    case STEP_FIELD_DELTA:
        return step_fits_signed(value - previous, width);
    case STEP_FIELD_STRIDE:
        return value == previous + stride;
    default:
        return step_fits_unsigned(value, width);
    }
}

#endif
