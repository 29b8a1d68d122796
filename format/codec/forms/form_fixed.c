/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Forms of a fixed size: `constant`, `fixed` and `planes`.
 *
 * `planes` has the bytes of `fixed` in another order: all lowest bytes, then all second ones.  The
 * high bytes of a column are mostly alike, and then become one long run, which a compressor stores
 * in a few bytes; between low bytes they would interrupt each match.  `fixed` keeps whole values
 * together, for columns in which whole values repeat.
 */
#include <string.h>

#include "format/codec/forms/form.h"
#include "format/core/bytes.h"
#include "steptrace/field_code.h"

/* Equal values take no bytes.  The caller has checked that they are equal. */
static bool constant_fits(uint64_t parameter, uint64_t mask)
{
    return parameter == 0 && mask == 0;
}

static uint64_t constant_bound(uint64_t parameter, uint64_t count)
{
    (void) parameter;
    (void) count;
    return 0;
}

static size_t constant_encode(uint64_t parameter, const uint64_t *values, size_t count,
                              uint8_t *out)
{
    (void) parameter;
    (void) values;
    (void) count;
    (void) out;
    return 0;
}

static bool constant_decode(uint64_t parameter, const uint8_t *in, size_t length, uint64_t *values,
                            size_t count)
{
    (void) in;
    for (size_t i = 0; i < count; i++)
        values[i] = parameter;
    return length == 0;
}

const struct step_form step_form_constant = {
    .id = STEP_FORM_CONSTANT,
    .name = "constant",
    .parameter_count = 1,
    .fits = constant_fits,
    .bound = constant_bound,
    .encode = constant_encode,
    .decode = constant_decode,
};

static bool width_valid(uint64_t parameter)
{
    return parameter >= 1 && parameter <= 8;
}

static bool width_fits(uint64_t parameter, uint64_t mask)
{
    return step_fits_unsigned(mask, (unsigned) parameter);
}

static uint64_t width_bound(uint64_t parameter, uint64_t count)
{
    return parameter * count;
}

static size_t fixed_encode(uint64_t parameter, const uint64_t *values, size_t count, uint8_t *out)
{
    size_t width = (size_t) parameter;
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < width; k++)
            *out++ = (uint8_t) (values[i] >> (8 * k));
    return width * count;
}

static inline void fixed_loop(const uint8_t *in, size_t width, uint64_t *values, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uint64_t value = 0;
        for (size_t k = 0; k < width; k++)
            value |= (uint64_t) *in++ << (8 * k);
        values[i] = value;
    }
}

static bool fixed_decode(uint64_t parameter, const uint8_t *in, size_t length, uint64_t *values,
                         size_t count)
{
    size_t width = (size_t) parameter;
    if (length / width != count || length % width != 0)
        return false;
    switch (width) { /* constant widths, so that the compiler unrolls the loop */
    case 1:
        fixed_loop(in, 1, values, count);
        break;
    case 2:
        fixed_loop(in, 2, values, count);
        break;
    case 4:
        fixed_loop(in, 4, values, count);
        break;
    case 8:
        fixed_loop(in, 8, values, count);
        break;
    default:
        fixed_loop(in, width, values, count);
    }
    return true;
}

const struct step_form step_form_fixed = {
    .id = STEP_FORM_FIXED,
    .name = "fixed",
    .parameter_count = 1,
    .valid = width_valid,
    .fits = width_fits,
    .bound = width_bound,
    .encode = fixed_encode,
    .decode = fixed_decode,
};

static size_t planes_encode(uint64_t parameter, const uint64_t *values, size_t count, uint8_t *out)
{
    size_t width = (size_t) parameter;
    for (size_t k = 0; k < width; k++)
        for (size_t i = 0; i < count; i++)
            *out++ = (uint8_t) (values[i] >> (8 * k));
    return width * count;
}

static bool planes_decode(uint64_t parameter, const uint8_t *in, size_t length, uint64_t *values,
                          size_t count)
{
    size_t width = (size_t) parameter;
    if (length / width != count || length % width != 0)
        return false;
    for (size_t i = 0; i < count; i++)
        values[i] = in[i];
    for (size_t k = 1; k < width; k++)
        for (size_t i = 0; i < count; i++)
            values[i] |= (uint64_t) in[k * count + i] << (8 * k);
    return true;
}

const struct step_form step_form_planes = {
    .id = STEP_FORM_PLANES,
    .name = "planes",
    .parameter_count = 1,
    .valid = width_valid,
    .fits = width_fits,
    .bound = width_bound,
    .encode = planes_encode,
    .decode = planes_decode,
};
