/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Verifies each block before the writer outputs it: decoding its bytes must give the records that
 * it was made of.
 *
 * It guards against faults of this library where a trace is written to replace another, as `pack`
 * does: what was written wrongly could never be read again.  Comparing columns, not bytes, leaves
 * the choice of encodings out of it.
 */
#ifndef FORMAT_STEP_BLOCK_BLOCK_VERIFY_H
#define FORMAT_STEP_BLOCK_BLOCK_VERIFY_H

#include "format/step/block/block_read.h"
#include "format/step/columns/pending_records.h"

struct step_block_verifier;

enum step_status step_block_verifier_create(const struct step_plan *plan,
                                            struct step_block_verifier **out);
void step_block_verifier_destroy(struct step_block_verifier *verifier);

/* Verifies `bytes`, a whole block of records with its header, against `columns`, from which it was
 * made.  INVALID with the reason: they differ. */
enum step_status step_block_verify(struct step_block_verifier *verifier,
                                   const struct step_columns *columns,
                                   const struct step_buffer *bytes, struct step_error *error);

#endif
