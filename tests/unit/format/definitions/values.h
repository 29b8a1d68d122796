/* SPDX-License-Identifier: Apache-2.0 */
/* Values for records of any definition, and their comparison. */
#ifndef TESTS_UNIT_FORMAT_DEFINITIONS_VALUES_H
#define TESTS_UNIT_FORMAT_DEFINITIONS_VALUES_H

#include "steptrace/definition.h"
#include "steptrace/value.h"

/* Values of a record, made of `seed`; they live until values_release(). */
uint64_t *values_make(const struct step_definition *definition, uint32_t record, uint64_t seed);
void values_release(void);

/* Are all slots of two records, and what they point to, the same? */
bool values_same(const struct step_definition *definition, uint32_t record, const uint64_t *left,
                 const uint64_t *right);
bool same_bytes(const struct step_bytes *left, uint64_t slot);
/* Of a field that is an array, `depth` arrays below it. */
bool values_same_elements(const struct step_definition *definition, const struct step_field *field,
                          uint32_t depth, const struct step_array *left,
                          const struct step_array *right);

#endif
