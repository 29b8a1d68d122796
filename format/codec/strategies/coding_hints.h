/* SPDX-License-Identifier: Apache-2.0 */
/* Hints from a field's encoding attributes for its columns (docs/formats/step.md). */
#ifndef FORMAT_CODEC_STRATEGIES_CODING_HINTS_H
#define FORMAT_CODEC_STRATEGIES_CODING_HINTS_H

#include "format/codec/strategies/strategy_table.h"

struct step_coding_hints {
    bool is_signed;
    bool identifier;
    bool usual;            /* `default`: most values are equal */
    bool given_identifier; /* the other field of `given` is an identifier */
    uint32_t targeted;     /* the named strategies, as bits by number; those that need a series only
                              if it exists */
    uint64_t parameters[STEP_TARGETED_COUNT];
    bool is_linked;
    uint64_t linked[2]; /* the first parameters of `linked` */
};

_Static_assert(STEP_TARGETED_COUNT <= 32, "a bit each");

static inline bool step_hints_name(const struct step_coding_hints *hints,
                                   enum step_targeted targeted)
{
    return (hints->targeted >> targeted & 1) != 0;
}

static inline void step_hints_add(struct step_coding_hints *hints, enum step_targeted targeted,
                                  uint64_t parameter)
{
    hints->targeted |= UINT32_C(1) << targeted;
    hints->parameters[targeted] = parameter;
}

static inline void step_hints_remove(struct step_coding_hints *hints, enum step_targeted targeted)
{
    hints->targeted &= ~(UINT32_C(1) << targeted);
}

#endif
