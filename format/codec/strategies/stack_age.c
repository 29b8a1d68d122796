/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Transforms that use other records of the block: `stack` predicts the value popped from a stack,
 * `age` codes values relative to the latest value of another field.
 *
 * A method's exit names the method that was entered last and not left, so with `stack=MethodEntry`
 * the exit of the innermost call is 0. The method of an entry is stored as it is, since nothing on
 * the stack says what is called next; `context` may follow for those.  `age` is for numbers of
 * objects: most stores are of young objects, a small step below the newest.
 */
#include "format/codec/strategies/coder.h"
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

struct stack {
    uint64_t *values;
    size_t depth;
    size_t capacity;
    bool failed;
};

static bool stack_begin(struct stack *stack, uint64_t parameter, unsigned bits, bool hashed)
{
    (void) parameter, (void) bits, (void) hashed;
    stack->depth = 0;
    return true;
}

/* Values beyond the maximum depth are not kept, by reader and writer alike; predictions only become
 * worse. */
static uint64_t stack_age_push(struct stack *stack, uint64_t value)
{
    if (stack->depth == STACK_MOST)
        return value;
    if (STEP_MAKE_ROOM(stack->values, stack->capacity, stack->depth + 1))
        stack->values[stack->depth++] = value;
    else
        stack->failed = true;
    return value;
}

static uint64_t stack_age_pop(struct stack *stack)
{
    return stack->depth > 0 ? stack->values[--stack->depth] : 0;
}

static uint64_t stack_code(struct stack *stack, uint64_t value, uint64_t key)
{
    return key != 0 ? stack_age_push(stack, value) : step_front_code(value, stack_age_pop(stack));
}

static uint64_t stack_value(struct stack *stack, uint64_t code, uint64_t key)
{
    return key != 0 ? stack_age_push(stack, code) : step_front_value(code, stack_age_pop(stack));
}

static void stack_end(struct stack *stack)
{
    free(stack->values);
}

/* Strategy `stack`: values that records of another type pushed. */
STEP_ROW_CODER(stack, stack, false);
const struct step_strategy step_strategy_stack = {
    .name = "stack",
    .needs = STEP_SERIES_PUSHES,
    .rows = &stack_rows,
};

/* Parameter of `age`: the column whose latest values are in the series. */
static inline uint64_t age_code(struct number *state, uint64_t value, uint64_t latest)
{
    (void) state;
    return latest - value;
}

static inline uint64_t age_value(struct number *state, uint64_t code, uint64_t latest)
{
    (void) state;
    return latest - code;
}

STEP_COLUMN_CODER(age, number, true, 0, 0, false)

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

/* Strategy `age`: relative to the latest value of another field. */
STEP_ROW_CODER(age, number, true);
const struct step_strategy step_strategy_age = {
    .name = "age",
    .needs = STEP_SERIES_LATEST,
    .rows = &age_rows,
};
