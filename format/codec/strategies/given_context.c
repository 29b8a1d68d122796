/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Transforms that predict a value by table look-up: `given` by the value of another column in the
 * same record, `context` by the preceding values.
 */
#include <stdlib.h>

#include "format/codec/strategies/candidates.h"
#include "format/codec/strategies/policy.h"
#include "format/codec/strategies/predictor.h"

/* Parameters of `given`: the column; 0 to index the table by the key's low bits (for identifiers),
 * 1 by its hash; the table's bits. */
static bool given_valid(const uint64_t *parameters)
{
    return parameters[1] <= 1 && parameters[2] >= 1 && parameters[2] <= STEP_TABLE_BITS_MAX;
}

static inline void given_forward_loop(const struct step_series *series, const uint64_t *in,
                                      uint64_t *out, size_t count, uint64_t *table, bool hashed,
                                      unsigned bits)
{
    const uint64_t *key = series->values;
    for (size_t i = 0; i < count; i++, key += series->step) {
        uint64_t *last = &table[step_given_entry(*key, hashed, bits)];
        uint64_t value = in[i];
        out[i] = value - *last;
        *last = value;
    }
}

static inline void given_inverse_loop(const struct step_series *series, uint64_t *values,
                                      size_t count, uint64_t *table, bool hashed, unsigned bits)
{
    const uint64_t *key = series->values;
    for (size_t i = 0; i < count; i++, key += series->step) {
        uint64_t *last = &table[step_given_entry(*key, hashed, bits)];
        values[i] = *last += values[i];
    }
}

static enum step_status given_forward(const uint64_t *parameters, const struct step_series *series,
                                      const uint64_t *in, uint64_t *out, size_t count)
{
    unsigned bits = (unsigned) parameters[2];
    uint64_t *table = calloc((size_t) 1 << bits, sizeof *table);
    if (table == NULL)
        return STEP_STATUS_NO_MEMORY;
    if (parameters[1] == 0)
        given_forward_loop(series, in, out, count, table, false, bits);
    else
        given_forward_loop(series, in, out, count, table, true, bits);
    free(table);
    return STEP_STATUS_OK;
}

static enum step_status given_inverse(const uint64_t *parameters, const struct step_series *series,
                                      uint64_t *values, size_t count)
{
    unsigned bits = (unsigned) parameters[2];
    uint64_t *table = calloc((size_t) 1 << bits, sizeof *table);
    if (table == NULL)
        return STEP_STATUS_NO_MEMORY;
    if (parameters[1] == 0)
        given_inverse_loop(series, values, count, table, false, bits);
    else
        given_inverse_loop(series, values, count, table, true, bits);
    free(table);
    return STEP_STATUS_OK;
}

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

struct given {
    struct step_table table;
    bool hashed;
};

static bool given_start(void *state, const struct step_policy *policy, unsigned bits, bool hashed)
{
    struct given *given = state;
    (void) policy;
    given->hashed = hashed;
    return step_table_start(&given->table, bits);
}

static bool given_code(void *state, uint64_t value, uint64_t key, uint64_t *code)
{
    const struct given *given = state;
    const struct step_table *table = &given->table;
    uint64_t *entry = &table->entries[step_given_entry(key, given->hashed, table->bits)];
    *code = step_zigzag(value - *entry);
    *entry = value;
    return true;
}

static bool given_value(void *state, uint64_t code, uint64_t key, uint64_t *value)
{
    const struct given *given = state;
    const struct step_table *table = &given->table;
    uint64_t *entry = &table->entries[step_given_entry(key, given->hashed, table->bits)];
    *value = *entry += step_unzigzag(code);
    return true;
}

static void given_reset(void *state)
{
    struct given *given = state;
    step_table_reset(&given->table);
}

/* Strategy `given`: the last value for the same value of another field. */
const struct step_strategy step_strategy_given = {
    .name = "given",
    .needs = STEP_SERIES_FIELD,
    .has_table = true,
    .rows = {.state_size = sizeof(struct given),
             .start = given_start,
             .code = given_code,
             .value = given_value,
             .reset = given_reset},
};

/* Parameters of `context`: the number of preceding values in the context, 1 to 4; the table's
 * bits. */
static bool context_valid(const uint64_t *parameters)
{
    return parameters[0] >= 1 && parameters[0] <= STEP_CONTEXT_MAX && parameters[1] >= 1 &&
           parameters[1] <= STEP_TABLE_BITS_MAX;
}

/* Codes the predicted value as 0 and moves smaller ones up by one. */
static inline void context_forward_loop(size_t order, unsigned shift, const uint64_t *in,
                                        uint64_t *out, size_t count, uint64_t *table)
{
    struct step_context context = {{0}, order, shift};
    for (size_t i = 0; i < count; i++) {
        uint64_t *guess = &table[step_context_entry(&context)];
        uint64_t value = in[i];
        out[i] = step_front_code(value, *guess);
        *guess = value;
        step_context_push(&context, value);
    }
}

static inline void context_inverse_loop(struct step_context context, uint64_t *values, size_t count,
                                        uint64_t *table)
{
    for (size_t i = 0; i < count; i++) {
        uint64_t *guess = &table[step_context_entry(&context)];
        uint64_t value = step_front_value(values[i], *guess);
        values[i] = *guess = value;
        step_context_push(&context, value);
    }
}

static enum step_status context_forward(const uint64_t *parameters,
                                        const struct step_series *series, const uint64_t *in,
                                        uint64_t *out, size_t count)
{
    (void) series;
    uint64_t *table = calloc((size_t) 1 << parameters[1], sizeof *table);
    if (table == NULL)
        return STEP_STATUS_NO_MEMORY;
    unsigned shift = 64 - (unsigned) parameters[1];
    switch (parameters[0]) { /* a loop for each common order keeps its values in registers */
    case 1:
        context_forward_loop(1, shift, in, out, count, table);
        break;
    case 2:
        context_forward_loop(2, shift, in, out, count, table);
        break;
    default:
        context_forward_loop((size_t) parameters[0], shift, in, out, count, table);
    }
    free(table);
    return STEP_STATUS_OK;
}

static enum step_status context_inverse(const uint64_t *parameters,
                                        const struct step_series *series, uint64_t *values,
                                        size_t count)
{
    (void) series;
    uint64_t *table = calloc((size_t) 1 << parameters[1], sizeof *table);
    if (table == NULL)
        return STEP_STATUS_NO_MEMORY;
    struct step_context context = {{0}, (size_t) parameters[0], 64 - (unsigned) parameters[1]};
    context_inverse_loop(context, values, count, table);
    free(table);
    return STEP_STATUS_OK;
}

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

struct context_row {
    struct step_table table;
    struct step_context context;
    bool is_unsigned;
};

static bool context_start(void *state, const struct step_policy *policy, unsigned bits, bool hashed)
{
    struct context_row *row = state;
    (void) hashed;
    row->is_unsigned = policy->is_unsigned;
    row->context = (struct step_context){{0}, (size_t) policy->parameter, 64 - bits};
    return step_table_start(&row->table, bits);
}

static bool context_code(void *state, uint64_t value, uint64_t key, uint64_t *code)
{
    struct context_row *row = state;
    uint64_t folded = step_fold(value, row->is_unsigned);
    uint64_t *entry = &row->table.entries[step_context_entry(&row->context)];
    (void) key;
    *code = step_front_code(folded, *entry);
    step_context_push(&row->context, *entry = folded);
    return true;
}

static bool context_value(void *state, uint64_t code, uint64_t key, uint64_t *value)
{
    struct context_row *row = state;
    uint64_t *entry = &row->table.entries[step_context_entry(&row->context)];
    uint64_t folded = step_front_value(code, *entry);
    (void) key;
    step_context_push(&row->context, *entry = folded);
    *value = step_unfold(folded, row->is_unsigned);
    return true;
}

static void context_reset(void *state)
{
    struct context_row *row = state;
    step_table_reset(&row->table);
}

/* Strategy `context`: the value after the same preceding values; the parameter is their number. */
const struct step_strategy step_strategy_context = {
    .name = "context",
    .other_name = "fcm",
    .parameter = STEP_PARAMETER_COUNT,
    .usual_parameter = 2,
    .parameter_max = STEP_CONTEXT_MAX,
    .has_table = true,
    .rows = {.state_size = sizeof(struct context_row),
             .start = context_start,
             .code = context_code,
             .value = context_value,
             .reset = context_reset},
};
