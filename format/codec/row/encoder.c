/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Creation of row encoders, their state at the start of a block, and the values of identifiers.
 *
 * All state begins anew with each block, as in columns: a reader may begin with any block, and a
 * damaged one loses its own records only.  Memory is kept, since the next block needs as much.
 */
#include "format/codec/row/encoder.h"

#include <stdlib.h>

#include "format/core/grow.h"
#include "format/core/hash.h"

static void step_identifiers_reset(struct step_identifiers *identifiers)
{
    free(identifiers->values);
    step_index_reset(&identifiers->places);
    *identifiers = (struct step_identifiers){0};
}

static void step_identifiers_clear(struct step_identifiers *identifiers)
{
    identifiers->count = 0;
    step_index_clear(&identifiers->places);
}

uint64_t step_identifiers_find(const struct step_identifiers *identifiers, uint64_t value)
{
    uint32_t place;
    STEP_INDEX_EACH (&identifiers->places, step_hash_half(value), place)
        if (identifiers->values[place] == value)
            return (uint64_t) place + 1;
    return 0;
}

/* The number of a value is its place in order of first use, which a reader counts as well.  Only a
 * writer needs the other direction (`findable`). */
bool step_identifiers_add(struct step_identifiers *identifiers, uint64_t value, bool findable)
{
    if (identifiers->count >= UINT32_MAX)
        return false;
    if (!STEP_MAKE_ROOM(identifiers->values, identifiers->capacity, identifiers->count + 1))
        return false;
    if (findable &&
        !step_index_add(&identifiers->places, step_hash_half(value), (uint32_t) identifiers->count))
        return false;
    identifiers->values[identifiers->count++] = value;
    return true;
}

static void drop_state(struct step_encoder *encoder)
{
    if (encoder->state != NULL)
        encoder->strategy->rows->reset(encoder->state);
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
    const struct step_row_coder *rows = strategy->rows;
    if (encoder->strategy != strategy)
        drop_state(encoder);
    encoder->strategy = strategy;
    if (rows == NULL)
        return true;
    if (encoder->state == NULL)
        encoder->state = calloc(1, rows->state_size);
    return encoder->state != NULL && rows->start(encoder->state, &encoder->policy, bits, hashed);
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
