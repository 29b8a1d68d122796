/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which chain of transforms and which form a column gets in a block: those that the definition
 * asks for, and some that are worth a try, are tried on a sample; the smallest wins.
 */
#ifndef FORMAT_CODEC_CHOOSE_H
#define FORMAT_CODEC_CHOOSE_H

#include "format/codec/column.h"

/* What won for a column, so that the blocks that follow need no trial of their own.
 * Zero-initialised is nothing. */
struct step_choice {
    size_t candidate; /* its place among the candidates */
    const struct step_form *form;
    uint64_t form_parameter;
    uint64_t rate;               /* bytes that 65,536 values took, at worst */
    unsigned blocks_left;        /* that it is taken for, */
    unsigned blocks;             /* of so many in all: more each time that a trial confirms it */
    enum step_series_kind needs; /* what its chain goes by */
};

/* Whether step_choose() takes for so many values what `recalled` has; then it needs no series but
 * that of recalled->needs. */
bool step_choice_is_recalled(const struct step_choice *recalled, size_t count);

/* Chooses for `values`; `reference` is the first parameter of `given`.  On return
 * scratch->result is the values after the chain's transforms (`values` themselves where it has
 * none), ready for step_column_write().  What `recalled` has is taken instead of a trial, as long
 * as it may be; it may be NULL. */
enum step_status step_choose(const struct step_coding_hints *field_coding,
                             const struct step_series *series, uint64_t reference,
                             const uint64_t *values, size_t count,
                             struct step_compressor *compressor, struct step_scratch *scratch,
                             struct step_choice *recalled, struct step_chain *chain);

/* Notes how it went: a choice that does much worse than it did is forgotten. */
void step_choice_judge(struct step_choice *choice, size_t count, uint64_t stored_bytes);

#endif
