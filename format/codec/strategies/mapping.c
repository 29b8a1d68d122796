/* SPDX-License-Identifier: Apache-2.0 */
/* Transforms that map each value for itself: `zigzag`, `offset`, `front`. */
#include "format/codec/strategies/strategy_table.h"

/* Signed to unsigned, small magnitudes to small values: 0, -1, 1, -2 become 0, 1, 2, 3. */
static enum step_status zigzag_forward(const uint64_t *parameters, const struct step_series *series,
                                       const uint64_t *in, uint64_t *out, size_t count)
{
    (void) parameters;
    (void) series;
    for (size_t i = 0; i < count; i++)
        out[i] = step_zigzag(in[i]);
    return STEP_STATUS_OK;
}

static enum step_status zigzag_inverse(const uint64_t *parameters, const struct step_series *series,
                                       uint64_t *values, size_t count)
{
    (void) parameters;
    (void) series;
    for (size_t i = 0; i < count; i++)
        values[i] = values[i] >> 1 ^ (0 - (values[i] & 1));
    return STEP_STATUS_OK;
}

const struct step_transform step_transform_zigzag = {
    .id = STEP_TRANSFORM_ZIGZAG,
    .name = "zigzag",
    .forward = zigzag_forward,
    .inverse = zigzag_inverse,
};

/* parameter: the base that is subtracted */
static enum step_status offset_forward(const uint64_t *parameters, const struct step_series *series,
                                       const uint64_t *in, uint64_t *out, size_t count)
{
    (void) series;
    for (size_t i = 0; i < count; i++)
        out[i] = in[i] - parameters[0];
    return STEP_STATUS_OK;
}

static enum step_status offset_inverse(const uint64_t *parameters, const struct step_series *series,
                                       uint64_t *values, size_t count)
{
    (void) series;
    for (size_t i = 0; i < count; i++)
        values[i] += parameters[0];
    return STEP_STATUS_OK;
}

const struct step_transform step_transform_offset = {
    .id = STEP_TRANSFORM_OFFSET,
    .name = "offset",
    .parameter_count = 1,
    .forward = offset_forward,
    .inverse = offset_inverse,
};

/* parameter: the value that becomes 0; those below it move up by one */
static enum step_status front_forward(const uint64_t *parameters, const struct step_series *series,
                                      const uint64_t *in, uint64_t *out, size_t count)
{
    (void) series;
    uint64_t usual = parameters[0];
    for (size_t i = 0; i < count; i++)
        out[i] = in[i] == usual ? 0 : in[i] + (in[i] < usual);
    return STEP_STATUS_OK;
}

static enum step_status front_inverse(const uint64_t *parameters, const struct step_series *series,
                                      uint64_t *values, size_t count)
{
    (void) series;
    uint64_t usual = parameters[0];
    for (size_t i = 0; i < count; i++)
        values[i] = values[i] == 0 ? usual : values[i] - (values[i] <= usual);
    return STEP_STATUS_OK;
}

const struct step_transform step_transform_front = {
    .id = STEP_TRANSFORM_FRONT,
    .name = "front",
    .parameter_count = 1,
    .forward = front_forward,
    .inverse = front_inverse,
};
