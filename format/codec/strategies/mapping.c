/* SPDX-License-Identifier: Apache-2.0 */
/* Transforms that map each value independently: `zigzag`, `offset`, `front`. */
#include "format/codec/strategies/candidates.h"
#include "format/codec/strategies/policy.h"

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

static void offset_propose(const struct step_trial *trial)
{
    const struct step_coding_hints *hints = trial->hints;
    if (trial->round == STEP_ROUND_CHEAP && step_hints_name(hints, STEP_OFFSET))
        step_trial_add(trial, &step_transform_offset, hints->parameters[STEP_OFFSET], 0, 0);
}

const struct step_transform step_transform_offset = {
    .id = STEP_TRANSFORM_OFFSET,
    .name = "offset",
    .parameter_count = 1,
    .forward = offset_forward,
    .inverse = offset_inverse,
    .propose = offset_propose,
};

struct offset {
    uint64_t base;
};

static bool offset_start(void *state, const struct step_policy *policy, unsigned bits, bool hashed)
{
    struct offset *offset = state;
    (void) bits, (void) hashed;
    offset->base = policy->parameter;
    return true;
}

static bool offset_code(void *state, uint64_t value, uint64_t key, uint64_t *code)
{
    const struct offset *offset = state;
    (void) key;
    *code = step_zigzag(value - offset->base);
    return true;
}

static bool offset_value(void *state, uint64_t code, uint64_t key, uint64_t *value)
{
    const struct offset *offset = state;
    (void) key;
    *value = offset->base + step_unzigzag(code);
    return true;
}

/* Parameter: the base. */
const struct step_strategy step_strategy_offset = {
    .name = "offset",
    .parameter = STEP_PARAMETER_SIGNED,
    .rows = {.state_size = sizeof(struct offset),
             .start = offset_start,
             .code = offset_code,
             .value = offset_value},
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

/* Returns the value with a majority, if there is one. */
static uint64_t majority(const uint64_t *values, size_t count)
{
    uint64_t candidate = count > 0 ? values[0] : 0;
    size_t votes = 0;
    for (size_t i = 0; i < count; i++) {
        if (votes == 0)
            candidate = values[i];
        votes = values[i] == candidate ? votes + 1 : votes - 1;
    }
    return candidate;
}

static void front_propose(const struct step_trial *trial)
{
    if (trial->round == STEP_ROUND_CHEAP && trial->hints->usual)
        step_trial_add(trial, &step_transform_front, majority(trial->values, trial->count), 0, 0);
}

const struct step_transform step_transform_front = {
    .id = STEP_TRANSFORM_FRONT,
    .name = "front",
    .parameter_count = 1,
    .forward = front_forward,
    .inverse = front_inverse,
    .propose = front_propose,
};
