/* SPDX-License-Identifier: Apache-2.0 */
/* Transforms that map each value independently: `zigzag`, `offset`, `front`, `scale`. */
#include "format/codec/strategies/coder.h"
#include "format/codec/strategies/scale.h"

/* Signed to unsigned, small magnitudes to small values: 0, -1, 1, -2 become 0, 1, 2, 3. */
static inline uint64_t zigzag_code(struct number *state, uint64_t value, uint64_t key)
{
    (void) state, (void) key;
    return step_zigzag(value);
}

static inline uint64_t zigzag_value(struct number *state, uint64_t code, uint64_t key)
{
    (void) state, (void) key;
    return step_unzigzag(code);
}

STEP_COLUMN_CODER(zigzag, number, false, 0, 0, false)

const struct step_transform step_transform_zigzag = {
    .id = STEP_TRANSFORM_ZIGZAG,
    .name = "zigzag",
    .forward = zigzag_forward,
    .inverse = zigzag_inverse,
};

/* Parameter: the base that is subtracted. */
static inline uint64_t offset_code(struct number *base, uint64_t value, uint64_t key)
{
    (void) key;
    return value - base->number;
}

static inline uint64_t offset_value(struct number *base, uint64_t code, uint64_t key)
{
    (void) key;
    return base->number + code;
}

STEP_COLUMN_CODER(offset, number, false, parameters[0], 0, false)

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

STEP_ROW_CODER(offset, number, true);
const struct step_strategy step_strategy_offset = {
    .name = "offset",
    .parameter = STEP_PARAMETER_SIGNED,
    .rows = &offset_rows,
};

/* Parameter: the value that becomes 0; those below it move up by one. */
static inline uint64_t front_code(struct number *usual, uint64_t value, uint64_t key)
{
    (void) key;
    return step_front_code(value, usual->number);
}

static inline uint64_t front_value(struct number *usual, uint64_t code, uint64_t key)
{
    (void) key;
    return step_front_value(code, usual->number);
}

STEP_COLUMN_CODER(front, number, false, parameters[0], 0, false)

/* Returns the value with a majority, if there is one; otherwise any of the values.  (Each vote
 * against takes one off the candidate, so what has more than half of the votes is left.  One pass,
 * and no counting of all values.) A bad choice costs bytes only. */
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

/* For values whose resolution is coarser than their unit.  Parameter: the number whose multiples
 * the values are; 1 to 2^63. */
struct scale {
    struct step_scale scale;
    bool failed;
};

static bool scale_valid(const uint64_t *parameters)
{
    return parameters[0] >= 1 && parameters[0] <= UINT64_C(1) << 63;
}

static inline bool scale_begin(struct scale *state, uint64_t parameter, unsigned bits, bool hashed)
{
    (void) bits, (void) hashed;
    state->scale = step_scale_of(parameter);
    return true;
}

static inline uint64_t scale_code(struct scale *state, uint64_t value, uint64_t key)
{
    (void) key;
    return step_scale_down(&state->scale, value);
}

static inline uint64_t scale_value(struct scale *state, uint64_t code, uint64_t key)
{
    (void) key;
    return step_scale_up(&state->scale, code);
}

static inline void scale_end(struct scale *state)
{
    (void) state;
}

STEP_COLUMN_CODER(scale, scale, false, parameters[0], 0, false)

const struct step_transform step_transform_scale = {
    .id = STEP_TRANSFORM_SCALE,
    .name = "scale",
    .parameter_count = 1,
    .valid = scale_valid,
    .forward = scale_forward,
    .inverse = scale_inverse,
};
