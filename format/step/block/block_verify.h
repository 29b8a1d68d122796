/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A block that was written is read again, before its writer lets it go: what a reader makes of the
 * bytes must be the records that it was made of.
 */
#ifndef FORMAT_STEP_BLOCK_BLOCK_VERIFY_H
#define FORMAT_STEP_BLOCK_BLOCK_VERIFY_H

#include "format/step/block/block_read.h"
#include "format/step/columns/pending_records.h"

struct step_block_verifier;

enum step_status step_block_verifier_create(const struct step_plan *plan,
                                            struct step_block_verifier **out);
void step_block_verifier_destroy(struct step_block_verifier *verifier);

/* `bytes` are those of a whole block of records, header and all, which `columns` were made into.
 * INVALID, with what is wrong, where they do not read as these. */
enum step_status step_block_verify(struct step_block_verifier *verifier,
                                   const struct step_columns *columns,
                                   const struct step_buffer *bytes, struct step_error *error);

#endif
