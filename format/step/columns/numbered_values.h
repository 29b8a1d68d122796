/* SPDX-License-Identifier: Apache-2.0 */
/* Values of numbered fields: finds those that occurred before in the block. */
#ifndef FORMAT_STEP_COLUMNS_NUMBERED_VALUES_H
#define FORMAT_STEP_COLUMNS_NUMBERED_VALUES_H

#include "format/step/plan/plan.h"

/* Position from which the next record's words and bytes are read (pending_records.h). */
struct step_word_source {
    const uint64_t *words;
    const uint8_t *bytes;
};

struct step_numbered_values; /* an array, by column of the plan */

/* Returns false if memory runs out. */
bool step_numbered_create(uint32_t column_count, struct step_numbered_values **out);
void step_numbered_destroy(struct step_numbered_values *values, uint32_t column_count);
void step_numbered_clear(struct step_numbered_values *values, uint32_t column);

/* Takes the next value of a NUMBERED node from the source.  Sets `*number` to the number of an
 * equal earlier value, or to 0.  A new value gets the next number, from 1 on, if it is one of the
 * first STEP_STRINGS_MOST.  Returns false if memory runs out. */
bool step_numbered_find(struct step_numbered_values *values, const struct step_plan *plan,
                        const struct step_plan_node *node, struct step_word_source *source,
                        uint64_t *number);

/* Returns true if a value was repeated. */
bool step_numbered_repeats(const struct step_numbered_values *values, uint32_t column);

#endif
