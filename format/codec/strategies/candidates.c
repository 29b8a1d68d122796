/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Collects candidate chains: requested ones, and those that a strategy proposes on its own.
 *
 * Each strategy is asked in each round, so none needs to know the others, and the order of
 * candidates is that of the rounds first, of the table second.  It decides ties (choose.c): what
 * the definition names comes before what was only hoped for, and simple chains before long ones.
 * The chain without transforms follows the cheap round.
 *
 * A block with few values is not worth a table: predictions need values to learn from, so the later
 * rounds are left out.  The number of candidates has a limit, beyond which proposals are dropped;
 * the last rounds have the least promising ones.
 */
#include "format/codec/strategies/candidates.h"

#include "format/codec/strategies/predictor.h"

enum { PREDICTION_WORTH_TRYING = 512, TABLE_BITS = 16, THOROUGH_TABLE_BITS = 20 };

void step_chain_append(struct step_chain *chain, const struct step_transform *transform,
                       uint64_t first, uint64_t second, uint64_t third)
{
    chain->links[chain->length++] = (struct step_chain_link){transform, {first, second, third}};
}

/* Adds the chain without transforms. */
static struct step_chain *add_empty(struct step_candidates *candidates)
{
    if (candidates->count == STEP_CANDIDATES)
        return NULL;
    struct step_chain *chain = &candidates->chains[candidates->count++];
    *chain = (struct step_chain){0};
    return chain;
}

struct step_chain *step_trial_add(const struct step_trial *trial,
                                  const struct step_transform *transform, uint64_t first,
                                  uint64_t second, uint64_t third)
{
    struct step_chain *chain = add_empty(trial->candidates);
    if (chain != NULL)
        step_chain_append(chain, transform, first, second, third);
    return chain;
}

static void play_round(struct step_trial *trial, enum step_round round)
{
    const struct step_transform *row;
    trial->round = round;
    for (size_t i = 0; (row = step_transform_row(i)) != NULL; i++)
        if (row->propose != NULL)
            row->propose(trial);
}

void step_candidates_gather(const struct step_coding_hints *hints, uint64_t reference,
                            const uint64_t *values, size_t count, bool thorough,
                            struct step_candidates *candidates)
{
    struct step_trial trial = {.hints = hints,
                               .reference = reference,
                               .values = values,
                               .count = count,
                               .thorough = thorough,
                               .bits = step_table_bits(count, TABLE_BITS),
                               .candidates = candidates};
    candidates->count = 0;
    play_round(&trial, STEP_ROUND_CHEAP);
    add_empty(candidates);
    if (count < PREDICTION_WORTH_TRYING)
        return;
    trial.bits = step_table_bits(count, thorough ? THOROUGH_TABLE_BITS : TABLE_BITS);
    for (enum step_round round = STEP_ROUND_TABLES; round <= STEP_ROUND_CHAINS; round++)
        play_round(&trial, round);
    if (!thorough)
        return;
    for (trial.order = 1; trial.order <= STEP_CONTEXT_MAX; trial.order++)
        play_round(&trial, STEP_ROUND_ORDERS);
    play_round(&trial, STEP_ROUND_HOPES);
}
