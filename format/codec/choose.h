/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chooses the chain of transforms and the form for a column in a block.  Candidates are those that
 * the definition requests, and further promising ones; all are tried on a sample, and the smallest
 * wins.
 */
#ifndef FORMAT_CODEC_CHOOSE_H
#define FORMAT_CODEC_CHOOSE_H

#include "format/codec/column.h"

/* The winner for a column, reused for later blocks without a trial.  Zero-initialise for no choice.
 * Each stream has its own, as the same field may behave differently in two threads. */
struct step_choice {
    size_t candidate; /* index among the candidates */
    const struct step_form *form;
    uint64_t form_parameter;
    uint64_t rate;               /* largest size of 65,536 values so far, in bytes */
    unsigned blocks_left;        /* for how many more blocks it is reused */
    unsigned blocks;             /* for how many blocks in all; grows with each trial that confirms
                                    it */
    enum step_series_kind needs; /* kind of series that its chain uses */
};

/* Returns true if step_choose() would reuse `recalled` for that many values; it then needs only the
 * series of recalled->needs. */
bool step_choice_is_recalled(const struct step_choice *recalled, size_t count);

/* Chooses an encoding for `values`; `reference` is the first parameter of `given`.  On return
 * scratch->result has the values after the chain's transforms (`values` itself if there are none),
 * ready for step_column_write().  `recalled` (may be NULL) replaces the trial while it is valid. */
enum step_status step_choose(const struct step_coding_hints *field_coding,
                             const struct step_series *series, uint64_t reference,
                             const uint64_t *values, size_t count,
                             struct step_compressor *compressor, struct step_scratch *scratch,
                             struct step_choice *recalled, struct step_chain *chain);

/* Records the result of a choice.  A choice that is much worse than before is discarded. */
void step_choice_judge(struct step_choice *choice, size_t count, uint64_t stored_bytes);

#endif
