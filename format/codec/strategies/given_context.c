/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Transforms that predict a value by table look-up: `given` by the value of another column in the
 * same record, `context` by the preceding values.
 *
 * They differ in what a wrong guess costs.  `given` codes the difference from the guess, for values
 * that stay near the last one with the same key, as the size of a class's objects does.  `context`
 * codes whether the guess was right, for values between which differences mean nothing, as numbers
 * of methods: step_front_code() makes the guess 0 and keeps all other values small.
 */
#include "format/codec/strategies/coder.h"

/* Parameters of `given`: the column; 0 to index the table by the key's low bits (for identifiers),
 * 1 by its hash; the table's bits.  Identifiers are consecutive numbers, which their low bits keep
 * apart without collisions; the low bits of addresses are mostly 0. */
static bool given_valid(const uint64_t *parameters)
{
    return parameters[1] <= 1 && parameters[2] >= 1 && parameters[2] <= STEP_TABLE_BITS_MAX;
}

struct given {
    struct step_table table;
    bool hashed;
    bool failed;
};

static inline bool given_begin(struct given *given, uint64_t parameter, unsigned bits, bool hashed)
{
    (void) parameter;
    given->hashed = hashed;
    return step_table_start(&given->table, bits);
}

static inline uint64_t *given_entry(const struct given *given, uint64_t key)
{
    return &given->table.entries[step_given_entry(key, given->hashed, given->table.bits)];
}

static inline uint64_t given_code(struct given *given, uint64_t value, uint64_t key)
{
    uint64_t *last = given_entry(given, key);
    uint64_t code = value - *last;
    *last = value;
    return code;
}

static inline uint64_t given_value(struct given *given, uint64_t code, uint64_t key)
{
    return *given_entry(given, key) += code;
}

static inline void given_end(struct given *given)
{
    step_table_reset(&given->table);
}

STEP_COLUMN_CODER(given, given, true, 0, parameters[2], parameters[1] != 0)

static void given_propose(const struct step_trial *trial)
{
    const struct step_coding_hints *hints = trial->hints;
    if (trial->round == STEP_ROUND_CHEAP && step_hints_name(hints, STEP_GIVEN))
        step_trial_add(trial, &step_transform_given, trial->reference, !hints->given_identifier,
                       trial->bits);
}

const struct step_transform step_transform_given = {
    .id = STEP_TRANSFORM_GIVEN,
    .name = "given",
    .parameter_count = 3,
    .series = STEP_SERIES_FIELD,
    .valid = given_valid,
    .forward = given_forward,
    .inverse = given_inverse,
    .propose = given_propose,
};

/* Strategy `given`: the last value for the same value of another field. */
STEP_ROW_CODER(given, given, true);
const struct step_strategy step_strategy_given = {
    .name = "given",
    .needs = STEP_SERIES_FIELD,
    .has_table = true,
    .rows = &given_rows,
};

/* Parameters of `context`: the number of preceding values in the context, 1 to 4; the table's
 * bits. */
static bool context_valid(const uint64_t *parameters)
{
    return parameters[0] >= 1 && parameters[0] <= STEP_CONTEXT_MAX && parameters[1] >= 1 &&
           parameters[1] <= STEP_TABLE_BITS_MAX;
}

struct context {
    struct step_table table;
    struct step_context context;
    bool failed;
};

static inline bool context_begin(struct context *state, uint64_t order, unsigned bits, bool hashed)
{
    (void) hashed;
    state->context = (struct step_context){{0}, (size_t) order, 64 - bits};
    return step_table_start(&state->table, bits);
}

/* Codes the predicted value as 0 and moves smaller ones up by one. */
static inline uint64_t context_code(struct context *state, uint64_t value, uint64_t key)
{
    (void) key;
    uint64_t *guess = &state->table.entries[step_context_entry(&state->context)];
    uint64_t code = step_front_code(value, *guess);
    step_context_push(&state->context, *guess = value);
    return code;
}

static inline uint64_t context_value(struct context *state, uint64_t code, uint64_t key)
{
    (void) key;
    uint64_t *guess = &state->table.entries[step_context_entry(&state->context)];
    uint64_t value = step_front_value(code, *guess);
    step_context_push(&state->context, *guess = value);
    return value;
}

static inline void context_end(struct context *state)
{
    step_table_reset(&state->table);
}

STEP_COLUMN_CODER(context, context, false, parameters[0], parameters[1], false)

static void context_propose(const struct step_trial *trial)
{
    const struct step_coding_hints *hints = trial->hints;
    if (trial->round == STEP_ROUND_TABLES && !trial->thorough &&
        step_hints_name(hints, STEP_CONTEXT))
        step_trial_add(trial, &step_transform_context, hints->parameters[STEP_CONTEXT], trial->bits,
                       0);
    if (trial->round == STEP_ROUND_ORDERS)
        step_trial_add(trial, &step_transform_context, trial->order, trial->bits, 0);
}

const struct step_transform step_transform_context = {
    .id = STEP_TRANSFORM_CONTEXT,
    .name = "context",
    .parameter_count = 2,
    .valid = context_valid,
    .forward = context_forward,
    .inverse = context_inverse,
    .propose = context_propose,
};

/* Strategy `context`: the value after the same preceding values; the parameter is their number. */
STEP_ROW_CODER(context, context, false);
const struct step_strategy step_strategy_context = {
    .name = "context",
    .other_name = "fcm",
    .parameter = STEP_PARAMETER_COUNT,
    .usual_parameter = 2,
    .parameter_max = STEP_CONTEXT_MAX,
    .has_table = true,
    .rows = &context_rows,
};
