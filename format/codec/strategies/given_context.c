/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Transforms that predict a value from a table of what was seen before: `given` by the value of
 * another column of the same record, `context` by the values before it.
 */
#include <stdlib.h>

#include "format/codec/strategies/predictor.h"
#include "format/codec/strategies/strategy_table.h"

/* Parameters of `given`: the column; 0 to index the table by the key's low bits (identifiers), 1
 * by its hash; the table's bits. */
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

const struct step_transform step_transform_given = {
    .id = STEP_TRANSFORM_GIVEN,
    .name = "given",
    .parameter_count = 3,
    .series = STEP_SERIES_FIELD,
    .valid = given_valid,
    .forward = given_forward,
    .inverse = given_inverse,
};

/* Parameters of `context`: how many values before make the context, 1 to 4; the table's bits. */
static bool context_valid(const uint64_t *parameters)
{
    return parameters[0] >= 1 && parameters[0] <= STEP_CONTEXT_MAX && parameters[1] >= 1 &&
           parameters[1] <= STEP_TABLE_BITS_MAX;
}

/* The predicted value becomes 0; those below it move up by one. */
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
    switch (parameters[0]) { /* a loop for each usual order: its values stay in registers */
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

const struct step_transform step_transform_context = {
    .id = STEP_TRANSFORM_CONTEXT,
    .name = "context",
    .parameter_count = 2,
    .valid = context_valid,
    .forward = context_forward,
    .inverse = context_inverse,
};
