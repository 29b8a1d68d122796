/* SPDX-License-Identifier: Apache-2.0 */
/* The values that a field encoded `identifier` had so far, numbered from 1. */
#ifndef FORMAT_CODEC_ROW_IDENTIFIERS_H
#define FORMAT_CODEC_ROW_IDENTIFIERS_H

#include "format/codec/row/encoder.h"

void step_identifiers_reset(struct step_identifiers *identifiers); /* frees the storage */
void step_identifiers_clear(struct step_identifiers *identifiers);

/* Returns the number of a value that was added as findable, or 0. */
uint64_t step_identifiers_find(const struct step_identifiers *identifiers, uint64_t value);
/* Assigns the next number to a value.  A `findable` value must not have a number yet.  Returns
 * false if memory runs out. */
bool step_identifiers_add(struct step_identifiers *identifiers, uint64_t value, bool findable);

#endif
