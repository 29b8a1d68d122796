/* SPDX-License-Identifier: Apache-2.0 */
/* The chains of transforms that are worth a trial for a column. */
#ifndef FORMAT_CODEC_CANDIDATES_H
#define FORMAT_CODEC_CANDIDATES_H

#include "format/codec/choose.h"

enum { STEP_CANDIDATES = 24 };

struct step_candidates {
    size_t count;
    struct step_chain chains[STEP_CANDIDATES];
};

/* Those that the definition wishes for, and some that are cheap; all that could help where
 * `thorough`. */
void step_candidates_gather(const struct step_coding_hints *hints, uint64_t reference,
                            const uint64_t *values, size_t count, bool thorough,
                            struct step_candidates *candidates);

#endif
