/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Coders: strategies that code values one at a time, for rows and for columns alike.  The coder
 * NAME has a state, `struct NAME` with a member `failed` (memory ran out), and the inline functions
 *
 *     bool     NAME_begin(state, parameter, bits, hashed)   at the start of a block; the state is
 *                                                           zeroed, or that of an earlier block
 *     uint64_t NAME_code(state, value, key)
 *     uint64_t NAME_value(state, code, key)
 *     void     NAME_end(state)                              frees its memory
 *
 * Two rules make a reader arrive at the writer's values.  NAME_value() undoes NAME_code() for any
 * value in the same state: all 64-bit numbers have a code, and no two have the same.  And both
 * leave the same state behind, which may depend on nothing but what the other side knows, too: the
 * values so far, and the key.  So no state is ever stored.
 *
 * The macros below make the functions of tables out of them.  Coders whose state is one number
 * share `struct number`.
 */
#ifndef FORMAT_CODEC_STRATEGIES_CODER_H
#define FORMAT_CODEC_STRATEGIES_CODER_H

#include <stdlib.h>

#include "format/codec/strategies/candidates.h"
#include "format/codec/strategies/policy.h"
#include "format/codec/strategies/predictor.h"

struct number {
    uint64_t number; /* initially the parameter */
    bool failed;
};

static inline bool number_begin(struct number *state, uint64_t parameter, unsigned bits,
                                bool hashed)
{
    (void) bits, (void) hashed;
    *state = (struct number){.number = parameter};
    return true;
}

static inline void number_end(struct number *state)
{
    (void) state;
}

/* NAME_forward() and NAME_inverse() of a column, without a series or with one of keys.  The last
 * three arguments are those of begin, made of `parameters`. */
#define STEP_COLUMN_LOOP(name, coder, function, keyed, parameter, bits, hashed, in, out)           \
    struct coder state = {.failed = false};                                                        \
    const uint64_t none = 0, *key = (keyed) ? series->values : &none;                              \
    size_t step = (keyed) ? series->step : 0;                                                      \
    (void) parameters, (void) series;                                                              \
    if (!coder##_begin(&state, (parameter), (unsigned) (bits), (hashed)))                          \
        return STEP_STATUS_NO_MEMORY;                                                              \
    for (size_t i = 0; i < count && !state.failed; i++, key += step)                               \
        (out)[i] = name##_##function(&state, (in)[i], (keyed) ? *key : 0);                         \
    coder##_end(&state);                                                                           \
    return state.failed ? STEP_STATUS_NO_MEMORY : STEP_STATUS_OK

#define STEP_COLUMN_CODER(name, coder, keyed, parameter, bits, hashed)                             \
    static enum step_status name##_forward(const uint64_t *parameters,                             \
                                           const struct step_series *series, const uint64_t *in,   \
                                           uint64_t *out, size_t count)                            \
    {                                                                                              \
        STEP_COLUMN_LOOP(name, coder, code, keyed, parameter, bits, hashed, in, out);              \
    }                                                                                              \
    STEP_COLUMN_INVERSE(name, coder, keyed, parameter, bits, hashed)

#define STEP_COLUMN_INVERSE(name, coder, keyed, parameter, bits, hashed)                           \
    static enum step_status name##_inverse(const uint64_t *parameters,                             \
                                           const struct step_series *series, uint64_t *values,     \
                                           size_t count)                                           \
    {                                                                                              \
        STEP_COLUMN_LOOP(name, coder, value, keyed, parameter, bits, hashed, values, values);      \
    }

/* NAME_rows: the same for rows. */
#define STEP_ROW_CODER(name, coder, is_difference)                                                 \
    static bool name##_row_start(void *state, const struct step_policy *policy, unsigned bits,     \
                                 bool hashed)                                                      \
    {                                                                                              \
        return coder##_begin(state, policy->parameter, bits, hashed);                              \
    }                                                                                              \
    static bool name##_row_code(void *state, uint64_t value, uint64_t key, uint64_t *code)         \
    {                                                                                              \
        *code = name##_code(state, value, key);                                                    \
        return !((struct coder *) state)->failed;                                                  \
    }                                                                                              \
    static bool name##_row_value(void *state, uint64_t code, uint64_t key, uint64_t *value)        \
    {                                                                                              \
        *value = name##_value(state, code, key);                                                   \
        return !((struct coder *) state)->failed;                                                  \
    }                                                                                              \
    static void name##_row_reset(void *state)                                                      \
    {                                                                                              \
        coder##_end(state);                                                                        \
    }                                                                                              \
    static const struct step_row_coder name##_rows = {sizeof(struct coder), name##_row_start,      \
                                                      name##_row_code,      name##_row_value,      \
                                                      name##_row_reset,     is_difference}

#endif
