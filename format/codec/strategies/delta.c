/* SPDX-License-Identifier: Apache-2.0 */
/* The transform `delta`: what a value has beyond the previous one and a regular increment. */
#include "format/codec/strategies/strategy_table.h"

/* parameters: the value before the first; the increment (0 for plain deltas) */
/* Where the values stay, several can be dealt with at a time. */
static void subtract(const uint64_t *restrict in, uint64_t *restrict out, size_t count,
                     uint64_t first, uint64_t increment)
{
    if (count > 0)
        out[0] = in[0] - first;
    for (size_t i = 1; i < count; i++)
        out[i] = in[i] - in[i - 1] - increment;
}

static enum step_status delta_forward(const uint64_t *parameters, const struct step_series *series,
                                      const uint64_t *in, uint64_t *out, size_t count)
{
    (void) series;
    uint64_t previous = parameters[0];
    uint64_t increment = parameters[1];
    if (in != out) {
        subtract(in, out, count, previous + increment, increment);
        return STEP_STATUS_OK;
    }
    for (size_t i = 0; i < count; i++) {
        uint64_t value = in[i];
        out[i] = value - previous - increment;
        previous = value;
    }
    return STEP_STATUS_OK;
}

static enum step_status delta_inverse(const uint64_t *parameters, const struct step_series *series,
                                      uint64_t *values, size_t count)
{
    (void) series;
    uint64_t previous = parameters[0];
    uint64_t increment = parameters[1];
    for (size_t i = 0; i < count; i++)
        values[i] = previous += values[i] + increment;
    return STEP_STATUS_OK;
}

const struct step_transform step_transform_delta = {
    .id = STEP_TRANSFORM_DELTA,
    .name = "delta",
    .parameter_count = 2,
    .forward = delta_forward,
    .inverse = delta_inverse,
};
