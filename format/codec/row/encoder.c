/* SPDX-License-Identifier: Apache-2.0 */
/* Encoders: their storage, and the start of a block. */
#include "format/codec/row/encoder.h"

#include <stdlib.h>
#include <string.h>

#include "format/codec/row/encoder_state.h"
#include "format/core/grow.h"

enum { STACK_MOST = 1 << 20 };

void step_encoder_reset(struct step_encoder *encoder)
{
    free(encoder->table);
    free(encoder->stack);
    step_departures_reset(&encoder->live);
    step_identifiers_reset(&encoder->identifiers);
    *encoder = (struct step_encoder){0};
}

static bool make_table(struct step_encoder *encoder)
{
    size_t size = (size_t) 1 << encoder->bits;
    if (size > encoder->table_capacity) {
        free(encoder->table);
        encoder->table = calloc(size, sizeof *encoder->table);
        encoder->table_capacity = encoder->table != NULL ? size : 0;
        return encoder->table != NULL;
    }
    memset(encoder->table, 0, size * sizeof *encoder->table);
    return true;
}

enum step_status step_encoder_start(struct step_encoder *encoder, const struct step_policy *policy,
                                    unsigned bits, bool hashed)
{
    struct step_encoder fresh = {
        .policy = *policy,
        .targeted = step_policy_row(policy),
        .bits = bits,
        .hashed = hashed,
        .width = policy->bytes,
        .table = encoder->table,
        .table_capacity = encoder->table_capacity,
        .identifiers = encoder->identifiers,
        .stack = encoder->stack,
        .stack_capacity = encoder->stack_capacity,
        .live = encoder->live,
    };
    *encoder = fresh;
    step_departures_clear(&encoder->live);
    if (policy->resolution > 1)
        encoder->scale = step_scale_of(policy->resolution);
    step_identifiers_clear(&encoder->identifiers);
    encoder->context.shift = 64 - bits;
    encoder->context.order = (size_t) policy->parameter;
    encoder->recent.size = (size_t) policy->parameter;
    return !fresh.targeted->has_table || make_table(encoder) ? STEP_STATUS_OK
                                                             : STEP_STATUS_NO_MEMORY;
}

void step_encoder_push(struct step_encoder *encoder, uint64_t value)
{
    if (encoder->depth == STACK_MOST)
        return;
    if (encoder->depth == encoder->stack_capacity) {
        uint64_t *stack = step_grown(encoder->stack, &encoder->stack_capacity,
                                     encoder->stack_capacity + 1, sizeof *stack);
        if (stack == NULL) {
            encoder->lacks_memory = true;
            return;
        }
        encoder->stack = stack;
    }
    encoder->stack[encoder->depth++] = value;
}
