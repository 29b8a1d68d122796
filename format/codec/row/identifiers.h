/* SPDX-License-Identifier: Apache-2.0 */
/* The values that a field encoded `identifier` has had, numbered from 1. */
#ifndef FORMAT_CODEC_ROW_IDENTIFIERS_H
#define FORMAT_CODEC_ROW_IDENTIFIERS_H

#include "format/codec/row/encoder.h"

void step_identifiers_reset(struct step_identifiers *identifiers); /* frees the storage */
void step_identifiers_clear(struct step_identifiers *identifiers);

/* The number of a value that was added to be found, or 0. */
uint64_t step_identifiers_find(const struct step_identifiers *identifiers, uint64_t value);
/* Gives a value the next number; `findable`, or not; one that is has no number yet.  False when
 * memory runs out. */
bool step_identifiers_add(struct step_identifiers *identifiers, uint64_t value, bool findable);

#endif
