/* SPDX-License-Identifier: Apache-2.0 */
/* Creation of row encoders, and their state at the start of a block. */
#include "format/codec/row/encoder.h"

#include <stdlib.h>

#include "format/codec/row/encoder_state.h"

static void drop_state(struct step_encoder *encoder)
{
    if (encoder->state != NULL && encoder->strategy->rows.reset != NULL)
        encoder->strategy->rows.reset(encoder->state);
    free(encoder->state);
    encoder->state = NULL;
}

void step_encoder_reset(struct step_encoder *encoder)
{
    drop_state(encoder);
    step_identifiers_reset(&encoder->identifiers);
    *encoder = (struct step_encoder){0};
}

/* Takes over the state that the strategy had in its last block, if any. */
static bool start_strategy(struct step_encoder *encoder, const struct step_strategy *strategy,
                           unsigned bits, bool hashed)
{
    const struct step_row_coder *rows = &strategy->rows;
    if (encoder->strategy != strategy)
        drop_state(encoder);
    encoder->strategy = strategy;
    if (encoder->state == NULL && rows->state_size > 0)
        encoder->state = calloc(1, rows->state_size);
    if (encoder->state == NULL && rows->state_size > 0)
        return false;
    return rows->start == NULL || rows->start(encoder->state, &encoder->policy, bits, hashed);
}

enum step_status step_encoder_start(struct step_encoder *encoder, const struct step_policy *policy,
                                    unsigned bits, bool hashed)
{
    *encoder = (struct step_encoder){
        .policy = *policy,
        .strategy = encoder->strategy,
        .state = encoder->state,
        .width = policy->bytes,
        .identifiers = encoder->identifiers,
    };
    if (policy->resolution > 1)
        encoder->scale = step_scale_of(policy->resolution);
    step_identifiers_clear(&encoder->identifiers);
    return start_strategy(encoder, step_policy_strategy(policy), bits, hashed)
               ? STEP_STATUS_OK
               : STEP_STATUS_NO_MEMORY;
}
