/* SPDX-License-Identifier: Apache-2.0 */
/* The chains of transforms that are worth a trial for a column. */
#ifndef FORMAT_CODEC_STRATEGIES_CANDIDATES_H
#define FORMAT_CODEC_STRATEGIES_CANDIDATES_H

#include "format/codec/strategies/coding_hints.h"

enum { STEP_CHAIN_MAX = 4 };

struct step_chain_link {
    const struct step_transform *transform;
    uint64_t parameters[STEP_TRANSFORM_PARAMETERS];
};

struct step_form;

/* `form` NULL: the column is a run of bytes and not of values. */
struct step_chain {
    size_t length;
    struct step_chain_link links[STEP_CHAIN_MAX];
    const struct step_form *form;
    uint64_t form_parameter;
};

void step_chain_append(struct step_chain *chain, const struct step_transform *transform,
                       uint64_t first, uint64_t second, uint64_t third);

enum { STEP_CANDIDATES = 24 };

struct step_candidates {
    size_t count;
    struct step_chain chains[STEP_CANDIDATES];
};

/* Strategies propose in rounds; what is equally good is taken from the first. */
enum step_round {
    STEP_ROUND_CHEAP,
    STEP_ROUND_TABLES, /* from here on: where there are values enough; asked for, with tables */
    STEP_ROUND_KEYED,  /* of two strategies at once */
    STEP_ROUND_CHAINS, /* of two transforms */
    STEP_ROUND_ORDERS, /* thorough, once for each `order` */
    STEP_ROUND_HOPES   /* thorough */
};

/* What a strategy is asked. */
struct step_trial {
    const struct step_coding_hints *hints;
    uint64_t reference; /* the first parameter of transforms that need a series */
    const uint64_t *values;
    size_t count;
    bool thorough; /* all that could help, not only what the definition asks for */
    enum step_round round;
    uint64_t order; /* of STEP_ROUND_ORDERS: 1 to STEP_CONTEXT_MAX */
    unsigned bits;  /* that tables should have */
    struct step_candidates *candidates;
};

/* Returns the chain, to append to; NULL if there are enough already. */
struct step_chain *step_trial_add(const struct step_trial *trial,
                                  const struct step_transform *transform, uint64_t first,
                                  uint64_t second, uint64_t third);

/* Those that the definition asks for, and some that are cheap; all that could help where
 * `thorough`. */
void step_candidates_gather(const struct step_coding_hints *hints, uint64_t reference,
                            const uint64_t *values, size_t count, bool thorough,
                            struct step_candidates *candidates);

#endif
