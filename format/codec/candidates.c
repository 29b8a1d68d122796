/* SPDX-License-Identifier: Apache-2.0 */
/* Candidates by what is asked for, and by hope. */
#include "format/codec/candidates.h"

#include "format/codec/strategies/predictor.h"

enum { PREDICTION_WORTH_TRYING = 512, TABLE_BITS = 16, THOROUGH_TABLE_BITS = 20 };

/* The value that most have, if any has a majority. */
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

static void add(struct step_candidates *candidates, const struct step_transform *transform,
                uint64_t first, uint64_t second, uint64_t third)
{
    if (candidates->count == STEP_CANDIDATES)
        return;
    struct step_chain *chain = &candidates->chains[candidates->count++];
    *chain = (struct step_chain){0};
    if (transform != NULL)
        step_chain_append(chain, transform, first, second, third);
}

static void add_delta(struct step_candidates *candidates, uint64_t first, uint64_t increment)
{
    add(candidates, &step_transform_delta, first - increment, increment, 0);
}

/* After a stack, what is pushed is what it was. */
static void add_to_stack(struct step_candidates *candidates, uint64_t reference, uint64_t order,
                         unsigned bits)
{
    size_t before = candidates->count;
    add(candidates, &step_transform_stack, reference, 0, 0);
    if (candidates->count > before)
        step_chain_append(&candidates->chains[before], &step_transform_context, order, bits, 0);
}

/* What takes time, and room for its tables. */
static void gather_predictions(const struct step_coding_hints *hints, uint64_t reference,
                               size_t count, bool thorough, struct step_candidates *candidates)
{
    const uint64_t *parameters = hints->parameters;
    unsigned bits = step_table_bits(count, thorough ? THOROUGH_TABLE_BITS : TABLE_BITS);
    bool context = step_hints_name(hints, STEP_CONTEXT), given = step_hints_name(hints, STEP_GIVEN);
    if (context && !thorough)
        add(candidates, &step_transform_context, parameters[STEP_CONTEXT], bits, 0);
    if (step_hints_name(hints, STEP_DFCM) && !thorough)
        add(candidates, &step_transform_dfcm, parameters[STEP_DFCM], bits, 0);
    if (step_hints_name(hints, STEP_RECENT))
        add(candidates, &step_transform_recent, parameters[STEP_RECENT], 0, 0);
    if (given && (thorough || context))
        add(candidates, &step_transform_keyed, reference, context ? parameters[STEP_CONTEXT] : 1,
            bits);
    if (step_hints_name(hints, STEP_STACK))
        add_to_stack(candidates, reference, 2, bits);
    if (!thorough)
        return;
    if (step_hints_name(hints, STEP_STACK))
        add_to_stack(candidates, reference, 4, bits);
    for (uint64_t order = 1; order <= STEP_CONTEXT_MAX; order++) {
        add(candidates, &step_transform_context, order, bits, 0);
        if (given)
            add(candidates, &step_transform_keyed, reference, order, bits);
        if (order < STEP_CONTEXT_MAX && !hints->identifier)
            add(candidates, &step_transform_dfcm, order, bits, 0);
    }
    add(candidates, &step_transform_recent, 4, 0, 0);
    add(candidates, &step_transform_recent, STEP_RECENT_MAX, 0, 0);
}

static void gather_deltas(const struct step_coding_hints *hints, uint64_t first,
                          struct step_candidates *candidates)
{
    bool simple = !hints->identifier && !hints->usual && !step_hints_name(hints, STEP_GIVEN) &&
                  !step_hints_name(hints, STEP_OFFSET);
    bool delta = step_hints_name(hints, STEP_DELTA) || step_hints_name(hints, STEP_WINDOW);
    bool stride = step_hints_name(hints, STEP_STRIDE);
    if (stride)
        add_delta(candidates, first, hints->parameters[STEP_STRIDE]);
    if (delta || (simple && !stride))
        add_delta(candidates, first, 0);
    if ((delta || step_hints_name(hints, STEP_SEQUENCE)) && !stride)
        add_delta(candidates, first, 1);
}

void step_candidates_gather(const struct step_coding_hints *hints, uint64_t reference,
                            const uint64_t *values, size_t count, bool thorough,
                            struct step_candidates *candidates)
{
    candidates->count = 0;
    gather_deltas(hints, values[0], candidates);
    if (step_hints_name(hints, STEP_GIVEN))
        add(candidates, &step_transform_given, reference, !hints->given_identifier,
            step_table_bits(count, TABLE_BITS));
    if (step_hints_name(hints, STEP_STACK))
        add(candidates, &step_transform_stack, reference, 0, 0);
    if (step_hints_name(hints, STEP_AGE))
        add(candidates, &step_transform_age, reference, 0, 0);
    if (step_hints_name(hints, STEP_LIVE) ||
        (thorough && (step_hints_name(hints, STEP_DELTA) || step_hints_name(hints, STEP_WINDOW))))
        add(candidates, &step_transform_live, 0, 0, 0);
    if (hints->usual)
        add(candidates, &step_transform_front, majority(values, count), 0, 0);
    if (step_hints_name(hints, STEP_OFFSET))
        add(candidates, &step_transform_offset, hints->parameters[STEP_OFFSET], 0, 0);
    add(candidates, NULL, 0, 0, 0);
    if (count >= PREDICTION_WORTH_TRYING)
        gather_predictions(hints, reference, count, thorough, candidates);
}
