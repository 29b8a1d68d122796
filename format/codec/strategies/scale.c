/* SPDX-License-Identifier: Apache-2.0 */
/* The transform `scale`, for values whose resolution is coarser than their unit. */
#include "format/codec/strategies/scale.h"

#include "format/codec/strategies/strategy_table.h"

/* Parameter: the number whose multiples the values are; 1 to 2^63. */
static bool scale_valid(const uint64_t *parameters)
{
    return parameters[0] >= 1 && parameters[0] <= UINT64_C(1) << 63;
}

static enum step_status scale_forward(const uint64_t *parameters, const struct step_series *series,
                                      const uint64_t *in, uint64_t *out, size_t count)
{
    const struct step_scale scale = step_scale_of(parameters[0]);
    (void) series;
    for (size_t i = 0; i < count; i++)
        out[i] = step_scale_down(&scale, in[i]);
    return STEP_STATUS_OK;
}

static enum step_status scale_inverse(const uint64_t *parameters, const struct step_series *series,
                                      uint64_t *values, size_t count)
{
    const struct step_scale scale = step_scale_of(parameters[0]);
    (void) series;
    for (size_t i = 0; i < count; i++)
        values[i] = step_scale_up(&scale, values[i]);
    return STEP_STATUS_OK;
}

const struct step_transform step_transform_scale = {
    .id = STEP_TRANSFORM_SCALE,
    .name = "scale",
    .parameter_count = 1,
    .valid = scale_valid,
    .forward = scale_forward,
    .inverse = scale_inverse,
};
