/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Transforms that use other records of the block: `stack` predicts the value popped from a stack,
 * `age` codes values relative to the latest value of another field.
 */
#include <stdlib.h>

#include "format/codec/strategies/candidates.h"
#include "format/codec/strategies/policy.h"
#include "format/codec/strategies/predictor.h"
#include "format/core/grow.h"

/* Parameter of `stack`: the record type that pushes.  A 1 in the series means that the value is
 * pushed; otherwise the prediction is the top of the stack, which is popped. */
static inline void stack_loop(const struct step_series *series, const uint64_t *in, uint64_t *out,
                              size_t count, uint64_t *stack, bool inverse)
{
    /* The bottom is a permanent 0.  A value is always written above the top; the top moves there
     * only if it is pushed. */
    size_t depth = 0;
    stack[0] = 0;
    for (size_t i = 0; i < count; i++) {
        uint64_t pushed = series->values[i / 64] >> i % 64 & 1;
        uint64_t mask = 0 - pushed; /* all ones or zeros, because a branch would be mispredicted */
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

/* Proposes `context` after `stack`, as pushed values are unchanged. */
static void propose_context(const struct step_trial *trial, uint64_t order)
{
    struct step_chain *chain = step_trial_add(trial, &step_transform_stack, trial->reference, 0, 0);
    if (chain != NULL)
        step_chain_append(chain, &step_transform_context, order, trial->bits, 0);
}

static void stack_propose(const struct step_trial *trial)
{
    if (!step_hints_name(trial->hints, STEP_STACK))
        return;
    if (trial->round == STEP_ROUND_CHEAP)
        step_trial_add(trial, &step_transform_stack, trial->reference, 0, 0);
    if (trial->round != STEP_ROUND_CHAINS)
        return;
    propose_context(trial, 2);
    if (trial->thorough)
        propose_context(trial, 4);
}

const struct step_transform step_transform_stack = {
    .id = STEP_TRANSFORM_STACK,
    .name = "stack",
    .parameter_count = 1,
    .series = STEP_SERIES_PUSHES,
    .forward = stack_forward,
    .inverse = stack_inverse,
    .propose = stack_propose,
};

enum { STACK_MOST = 1 << 20 };

struct stack_row {
    uint64_t *values;
    size_t depth;
    size_t capacity;
    bool is_unsigned;
};

static bool stack_start(void *state, const struct step_policy *policy, unsigned bits, bool hashed)
{
    struct stack_row *row = state;
    (void) bits, (void) hashed;
    row->depth = 0;
    row->is_unsigned = policy->is_unsigned;
    return true;
}

/* Values beyond the maximum depth are not kept, by reader and writer alike; predictions only become
 * worse. */
static bool push(struct stack_row *row, uint64_t value)
{
    if (row->depth == STACK_MOST)
        return true;
    if (row->depth == row->capacity) {
        uint64_t *values =
            step_grown(row->values, &row->capacity, row->capacity + 1, sizeof *values);
        if (values == NULL)
            return false;
        row->values = values;
    }
    row->values[row->depth++] = value;
    return true;
}

static uint64_t pop(struct stack_row *row)
{
    return row->depth > 0 ? row->values[--row->depth] : 0;
}

static bool stack_code(void *state, uint64_t value, uint64_t key, uint64_t *code)
{
    struct stack_row *row = state;
    *code = step_fold(value, row->is_unsigned);
    if (key != 0)
        return push(row, *code);
    *code = step_front_code(*code, pop(row));
    return true;
}

static bool stack_value(void *state, uint64_t code, uint64_t key, uint64_t *value)
{
    struct stack_row *row = state;
    bool good = key == 0 || push(row, code);
    *value = step_unfold(key != 0 ? code : step_front_value(code, pop(row)), row->is_unsigned);
    return good;
}

static void stack_reset(void *state)
{
    struct stack_row *row = state;
    free(row->values);
}

/* Strategy `stack`: values that records of another type pushed. */
const struct step_strategy step_strategy_stack = {
    .name = "stack",
    .needs = STEP_SERIES_PUSHES,
    .rows = {.state_size = sizeof(struct stack_row),
             .start = stack_start,
             .code = stack_code,
             .value = stack_value,
             .reset = stack_reset},
};

/* Parameter of `age`: the column whose latest values are in the series. */
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

static void age_propose(const struct step_trial *trial)
{
    if (trial->round == STEP_ROUND_CHEAP && step_hints_name(trial->hints, STEP_AGE))
        step_trial_add(trial, &step_transform_age, trial->reference, 0, 0);
}

const struct step_transform step_transform_age = {
    .id = STEP_TRANSFORM_AGE,
    .name = "age",
    .parameter_count = 1,
    .series = STEP_SERIES_LATEST,
    .forward = age_forward,
    .inverse = age_inverse,
    .propose = age_propose,
};

static bool age_code(void *state, uint64_t value, uint64_t key, uint64_t *code)
{
    (void) state;
    *code = step_zigzag(key - value);
    return true;
}

static bool age_value(void *state, uint64_t code, uint64_t key, uint64_t *value)
{
    (void) state;
    *value = key - step_unzigzag(code);
    return true;
}

/* Strategy `age`: relative to the latest value of another field. */
const struct step_strategy step_strategy_age = {
    .name = "age",
    .needs = STEP_SERIES_LATEST,
    .rows = {.code = age_code, .value = age_value},
};
