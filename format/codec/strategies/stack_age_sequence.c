/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Transforms that follow what other records of the block did: `stack` foretells what leaves a
 * stack, `age` measures from the latest value of another field, `sequence` needs none of that.
 */
#include <stdlib.h>

#include "format/codec/strategies/predictor.h"
#include "format/codec/strategies/strategy_table.h"

/* Parameter of `stack`: the record type that pushes.  The series has a 1 where the value is
 * pushed; else the value is what the top of the stack foretells, which is popped. */
static inline void stack_loop(const struct step_series *series, const uint64_t *in, uint64_t *out,
                              size_t count, uint64_t *stack, bool inverse)
{
    /* The bottom is a 0 that stays.  A value is put above the top in any case, and the top goes
     * there if it is pushed. */
    size_t depth = 0;
    stack[0] = 0;
    for (size_t i = 0; i < count; i++) {
        uint64_t pushed = series->values[i / 64] >> i % 64 & 1;
        uint64_t mask = 0 - pushed; /* of ones or zeros: no branch, which could not be foreseen */
        uint64_t value = in[i];
        uint64_t guess = stack[depth];
        uint64_t popped = inverse ? step_front_value(value, guess) : step_front_code(value, guess);
        stack[depth + 1] = value;
        out[i] = (value & mask) | (popped & ~mask);
        if (__builtin_expect((pushed | depth) != 0, 1))
            depth += 2 * pushed - 1;
    }
}

static inline enum step_status stack_run(const struct step_series *series, const uint64_t *in,
                                         uint64_t *out, size_t count, bool inverse)
{
    uint64_t *stack = malloc((count + 2) * sizeof *stack);
    if (stack == NULL)
        return STEP_STATUS_NO_MEMORY;
    stack_loop(series, in, out, count, stack, inverse);
    free(stack);
    return STEP_STATUS_OK;
}

static enum step_status stack_forward(const uint64_t *parameters, const struct step_series *series,
                                      const uint64_t *in, uint64_t *out, size_t count)
{
    (void) parameters;
    return stack_run(series, in, out, count, false);
}

static enum step_status stack_inverse(const uint64_t *parameters, const struct step_series *series,
                                      uint64_t *values, size_t count)
{
    (void) parameters;
    return stack_run(series, values, values, count, true);
}

const struct step_transform step_transform_stack = {
    .id = STEP_TRANSFORM_STACK,
    .name = "stack",
    .parameter_count = 1,
    .series = STEP_SERIES_PUSHES,
    .forward = stack_forward,
    .inverse = stack_inverse,
};

/* Parameter of `age`: the column whose latest values the series has. */
static enum step_status age_forward(const uint64_t *parameters, const struct step_series *series,
                                    const uint64_t *in, uint64_t *out, size_t count)
{
    (void) parameters;
    const uint64_t *latest = series->values;
    for (size_t i = 0; i < count; i++, latest += series->step)
        out[i] = *latest - in[i];
    return STEP_STATUS_OK;
}

static enum step_status age_inverse(const uint64_t *parameters, const struct step_series *series,
                                    uint64_t *values, size_t count)
{
    return age_forward(parameters, series, values, values, count);
}

const struct step_transform step_transform_age = {
    .id = STEP_TRANSFORM_AGE,
    .name = "age",
    .parameter_count = 1,
    .series = STEP_SERIES_LATEST,
    .forward = age_forward,
    .inverse = age_inverse,
};
