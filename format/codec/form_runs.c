/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The form `runs`, for values that are mostly 0: a varint of how many are not; for each of those, a
 * varint of how many zeros stand before it; then a varint of each, less 1.
 */
#include <string.h>

#include "bytes.h"
#include "form.h"

static bool runs_fits(uint64_t parameter, uint64_t mask)
{
    (void) parameter;
    (void) mask;
    return true;
}

static uint64_t runs_bound(uint64_t parameter, uint64_t count)
{
    (void) parameter;
    return STEP_VARINT_MAX + count * 2 * STEP_VARINT_MAX;
}

static size_t runs_encode(uint64_t parameter, const uint64_t *values, size_t count, uint8_t *out)
{
    (void) parameter;
    size_t others = 0;
    for (size_t i = 0; i < count; i++)
        others += values[i] != 0;
    uint8_t *at = step_varint_put(out, others);
    size_t zeros = 0;
    for (size_t i = 0; i < count; i++) {
        if (values[i] == 0) {
            zeros++;
            continue;
        }
        at = step_varint_put(at, zeros);
        zeros = 0;
    }
    for (size_t i = 0; i < count; i++)
        if (values[i] != 0)
            at = step_varint_put(at, values[i] - 1);
    return (size_t) (at - out);
}

/* Passes over `others` varints. */
static const uint8_t *skip_varints(const uint8_t *at, const uint8_t *end, uint64_t others)
{
    while (others > 0 && at < end)
        others -= *at++ < 0x80;
    return others == 0 ? at : NULL;
}

static bool runs_decode(uint64_t parameter, const uint8_t *in, size_t length, uint64_t *values,
                        size_t count)
{
    (void) parameter;
    const uint8_t *end = in + length;
    uint64_t others;
    const uint8_t *run = step_varint_get(in, end, &others);
    if (run == NULL || others > count)
        return false;
    const uint8_t *value = skip_varints(run, end, others);
    if (value == NULL)
        return false;
    const uint8_t *run_end = value;
    if (count > 0)
        memset(values, 0, count * sizeof *values);
    size_t at = 0;
    for (uint64_t k = 0; k < others; k++) {
        uint64_t zeros;
        uint64_t less;
        run = step_varint_get(run, run_end, &zeros);
        if (run == NULL || zeros >= count - at)
            return false;
        value = step_varint_get(value, end, &less);
        if (value == NULL || less == UINT64_MAX)
            return false;
        at += (size_t) zeros;
        values[at++] = less + 1;
    }
    return value == end;
}

const struct step_form step_form_runs = {
    .id = STEP_FORM_RUNS,
    .name = "runs",
    .fits = runs_fits,
    .bound = runs_bound,
    .encode = runs_encode,
    .decode = runs_decode,
};
