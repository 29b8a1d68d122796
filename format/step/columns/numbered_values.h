/* SPDX-License-Identifier: Apache-2.0 */
/* Values of the fields that are numbered: which of them were there before in the block. */
#ifndef FORMAT_STEP_COLUMNS_NUMBERED_VALUES_H
#define FORMAT_STEP_COLUMNS_NUMBERED_VALUES_H

#include "format/step/plan/plan.h"

/* Where the next record's words and bytes are read from (pending_records.h). */
struct step_word_source {
    const uint64_t *words;
    const uint8_t *bytes;
};

struct step_numbered_values; /* an array, by column of the plan */

/* False when memory runs out. */
bool step_numbered_create(uint32_t column_count, struct step_numbered_values **out);
void step_numbered_destroy(struct step_numbered_values *values, uint32_t column_count);
void step_numbered_clear(struct step_numbered_values *values, uint32_t column);

/* Takes the next value of a NUMBERED node off the source.  `*number` is that of the equal value
 * that was given before, or 0: then this one is given, and gets the next number, from 1 on, if it
 * is one of the first STEP_STRINGS_MOST.  False when memory runs out. */
bool step_numbered_find(struct step_numbered_values *values, const struct step_plan *plan,
                        const struct step_plan_node *node, struct step_word_source *source,
                        uint64_t *number);

/* Did any value come again? */
bool step_numbered_repeats(const struct step_numbered_values *values, uint32_t column);

#endif
