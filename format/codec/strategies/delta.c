/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The transform `delta`: the difference to the previous value plus a regular increment.  Serves the
 * strategies `delta`, `stride`, `window`, `sequence` (the first three are those of the paper,
 * Appendix B.2.1).
 *
 * In columns they are one: differences are computed modulo 2^64, so none is too large, and the
 * paper's thresholds decide nothing.  The forms then give small differences few bits, and the rare
 * large ones an escape.
 */
#include "format/codec/strategies/coder.h"

/* parameters: the value before the first; the increment (0 for plain deltas) */
/* parameters: the value before the first; the increment (0 for plain deltas). The loop reads only
 * the input, so the compiler can vectorise it. */
static void subtract(const uint64_t *restrict in, uint64_t *restrict out, size_t count,
                     uint64_t first, uint64_t increment)
{
    if (count > 0)
        out[0] = in[0] - first;
    for (size_t i = 1; i < count; i++)
        out[i] = in[i] - in[i - 1] - increment;
}

/* Transforms after the first work in place: the previous value is then kept aside, as it has been
 * overwritten. */
static enum step_status delta_forward(const uint64_t *parameters, const struct step_series *series,
                                      const uint64_t *in, uint64_t *out, size_t count)
{
    (void) series;
    uint64_t previous = parameters[0];
    uint64_t increment = parameters[1];
    if (in != out) {
        subtract(in, out, count, previous + increment, increment);
        return STEP_STATUS_OK;
    }
    for (size_t i = 0; i < count; i++) {
        uint64_t value = in[i];
        out[i] = value - previous - increment;
        previous = value;
    }
    return STEP_STATUS_OK;
}

static enum step_status delta_inverse(const uint64_t *parameters, const struct step_series *series,
                                      uint64_t *values, size_t count)
{
    (void) series;
    uint64_t previous = parameters[0];
    uint64_t increment = parameters[1];
    for (size_t i = 0; i < count; i++)
        values[i] = previous += values[i] + increment;
    return STEP_STATUS_OK;
}

/* The value before the first is chosen so that the first code is 0: an arbitrary first value, as
 * a time or an address, would otherwise be the largest code of the column, and rule out narrow
 * forms. */
static void propose_increment(const struct step_trial *trial, uint64_t increment)
{
    step_trial_add(trial, &step_transform_delta, trial->values[0] - increment, increment, 0);
}

/* An increment of 1 is tried as well where differences were asked for: identifiers of objects that
 * one thread allocates follow each other, and then become a constant column. */
static void delta_propose(const struct step_trial *trial)
{
    const struct step_coding_hints *hints = trial->hints;
    if (trial->round != STEP_ROUND_CHEAP)
        return;
    bool simple = !hints->identifier && !hints->usual && !step_hints_name(hints, STEP_GIVEN) &&
                  !step_hints_name(hints, STEP_OFFSET);
    bool delta = step_hints_name(hints, STEP_DELTA) || step_hints_name(hints, STEP_WINDOW);
    bool stride = step_hints_name(hints, STEP_STRIDE);
    if (stride)
        propose_increment(trial, hints->parameters[STEP_STRIDE]);
    if (delta || (simple && !stride))
        propose_increment(trial, 0);
    if ((delta || step_hints_name(hints, STEP_SEQUENCE)) && !stride)
        propose_increment(trial, 1);
}

const struct step_transform step_transform_delta = {
    .id = STEP_TRANSFORM_DELTA,
    .name = "delta",
    .parameter_count = 2,
    .forward = delta_forward,
    .inverse = delta_inverse,
    .propose = delta_propose,
};

/* Parameter: the threshold. */
const struct step_strategy step_strategy_delta = {
    .name = "delta",
    .parameter = STEP_PARAMETER_COUNT,
    .usual_parameter = UINT64_MAX,
};

/* Parameter: the increment. */
const struct step_strategy step_strategy_stride = {
    .name = "stride",
    .parameter = STEP_PARAMETER_SIGNED,
    .usual_parameter = 1,
    .is_silent = true,
};

/* Parameter: the threshold. */
const struct step_strategy step_strategy_window = {
    .name = "window",
    .parameter = STEP_PARAMETER_COUNT,
    .usual_parameter = UINT64_MAX,
    .keeps_base = true,
};

/* Strategy `sequence`: a value that follows the previous one, or is near to it. */
static inline uint64_t sequence_code(struct number *state, uint64_t value, uint64_t key)
{
    (void) key;
    uint64_t code = value - state->number - 1;
    state->number = value;
    return code;
}

static inline uint64_t sequence_value(struct number *state, uint64_t code, uint64_t key)
{
    (void) key;
    return state->number += code + 1;
}

STEP_ROW_CODER(sequence, number, true);
const struct step_strategy step_strategy_sequence = {.name = "sequence", .rows = &sequence_rows};
