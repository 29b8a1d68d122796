/* SPDX-License-Identifier: Apache-2.0 */
/* Candidate chains of transforms for a column; choose.c tries them. */
#ifndef FORMAT_CODEC_STRATEGIES_CANDIDATES_H
#define FORMAT_CODEC_STRATEGIES_CANDIDATES_H

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

enum { STEP_CHAIN_MAX = 4 };

struct step_chain_link {
    const struct step_transform *transform;
    uint64_t parameters[STEP_TRANSFORM_PARAMETERS];
};

struct step_form;

/* A chain of transforms and a form.  `form` NULL: the column is a byte string. */
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

/* Strategies propose candidates in rounds.  Of equally good ones the first wins. */
enum step_round {
    STEP_ROUND_CHEAP,
    STEP_ROUND_TABLES, /* this and later rounds: only if there are enough values; requested
                          strategies with tables */
    STEP_ROUND_KEYED,  /* combinations of two strategies */
    STEP_ROUND_CHAINS, /* combinations of two transforms */
    STEP_ROUND_ORDERS, /* only if thorough, once for each `order` */
    STEP_ROUND_HOPES   /* only if thorough */
};

/* Arguments of a strategy's propose(). */
struct step_trial {
    const struct step_coding_hints *hints;
    uint64_t reference; /* first parameter of transforms that need a series */
    const uint64_t *values;
    size_t count;
    bool thorough; /* propose everything that could help, not only what the definition requests */
    enum step_round round;
    uint64_t order; /* STEP_ROUND_ORDERS: 1 to STEP_CONTEXT_MAX */
    unsigned bits;  /* size of tables */
    struct step_candidates *candidates;
};

/* Appends a chain and returns it, or NULL if there are enough already. */
struct step_chain *step_trial_add(const struct step_trial *trial,
                                  const struct step_transform *transform, uint64_t first,
                                  uint64_t second, uint64_t third);

/* Collects the candidates that the definition requests, and some cheap ones; if `thorough`, all
 * that could help. */
void step_candidates_gather(const struct step_coding_hints *hints, uint64_t reference,
                            const uint64_t *values, size_t count, bool thorough,
                            struct step_candidates *candidates);

#endif
