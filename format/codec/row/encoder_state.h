/* SPDX-License-Identifier: Apache-2.0 */
/* What putting and getting values share. */
#ifndef FORMAT_CODEC_ROW_ENCODER_STATE_H
#define FORMAT_CODEC_ROW_ENCODER_STATE_H

#include "format/codec/row/encoder.h"
#include "format/codec/row/identifiers.h"
#include "format/codec/strategies/packed_strings.h"
#include "format/codec/strategies/strategy_table.h"

static inline uint64_t step_encoder_unfold(uint64_t value)
{
    return value >> 1 ^ (0 - (value & 1));
}

/* What `context` and `recent` deal with: no negative numbers. */
static inline uint64_t step_encoder_fold(const struct step_encoder *encoder, uint64_t value)
{
    return encoder->policy.is_unsigned ? value : step_zigzag(value);
}

/* The stack of the strategy of that name.  Where it cannot grow, what is pushed is lost, for reader
 * and writer alike: it only foretells worse. */
void step_encoder_push(struct step_encoder *encoder, uint64_t value);

static inline uint64_t step_encoder_pop(struct step_encoder *encoder)
{
    return encoder->depth > 0 ? encoder->stack[--encoder->depth] : 0;
}

#endif
