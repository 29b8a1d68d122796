/* SPDX-License-Identifier: Apache-2.0 */
/* Candidates by wish, and by hope. */
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
static void gather_predictions(const struct step_coding_hints *field_coding, uint64_t reference,
                               size_t count, bool thorough, struct step_candidates *candidates)
{
    unsigned bits = step_table_bits(count, thorough ? THOROUGH_TABLE_BITS : TABLE_BITS);
    if (field_coding->order > 0 && !thorough)
        add(candidates, &step_transform_context, field_coding->order, bits, 0);
    if (field_coding->dfcm_order > 0 && !thorough)
        add(candidates, &step_transform_dfcm, field_coding->dfcm_order, bits, 0);
    if (field_coding->recent > 0)
        add(candidates, &step_transform_recent, field_coding->recent, 0, 0);
    if (field_coding->given && (thorough || field_coding->order > 0))
        add(candidates, &step_transform_keyed, reference,
            field_coding->order > 0 ? field_coding->order : 1, bits);
    if (field_coding->stack)
        add_to_stack(candidates, reference, 2, bits);
    if (!thorough)
        return;
    if (field_coding->stack)
        add_to_stack(candidates, reference, 4, bits);
    for (uint64_t order = 1; order <= STEP_CONTEXT_MAX; order++) {
        add(candidates, &step_transform_context, order, bits, 0);
        if (field_coding->given)
            add(candidates, &step_transform_keyed, reference, order, bits);
        if (order < STEP_CONTEXT_MAX && !field_coding->identifier)
            add(candidates, &step_transform_dfcm, order, bits, 0);
    }
    add(candidates, &step_transform_recent, 4, 0, 0);
    add(candidates, &step_transform_recent, STEP_RECENT_MAX, 0, 0);
}

void step_candidates_gather(const struct step_coding_hints *field_coding, uint64_t reference,
                            const uint64_t *values, size_t count, bool thorough,
                            struct step_candidates *candidates)
{
    candidates->count = 0;
    bool simple = !field_coding->identifier && !field_coding->given && !field_coding->usual &&
                  !field_coding->offset;
    if (field_coding->stride)
        add_delta(candidates, values[0], field_coding->increment);
    if (field_coding->delta || (simple && !field_coding->stride))
        add_delta(candidates, values[0], 0);
    if ((field_coding->delta || field_coding->sequence) && !field_coding->stride)
        add_delta(candidates, values[0], 1);
    if (field_coding->given)
        add(candidates, &step_transform_given, reference, !field_coding->given_identifier,
            step_table_bits(count, TABLE_BITS));
    if (field_coding->stack)
        add(candidates, &step_transform_stack, reference, 0, 0);
    if (field_coding->age)
        add(candidates, &step_transform_age, reference, 0, 0);
    if (field_coding->live || (thorough && field_coding->delta))
        add(candidates, &step_transform_live, 0, 0, 0);
    if (field_coding->usual)
        add(candidates, &step_transform_front, majority(values, count), 0, 0);
    if (field_coding->offset)
        add(candidates, &step_transform_offset, field_coding->base, 0, 0);
    add(candidates, NULL, 0, 0, 0);
    if (count >= PREDICTION_WORTH_TRYING)
        gather_predictions(field_coding, reference, count, thorough, candidates);
}
