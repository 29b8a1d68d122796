/* SPDX-License-Identifier: Apache-2.0 */
/* The types of the values that a variant may hold. */
#ifndef FORMAT_STEP_PLAN_PLAN_TYPES_H
#define FORMAT_STEP_PLAN_PLAN_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "steptrace/definition.h"

/* What the searches of one definition share.  Zero-initialise. */
struct step_plan_types {
    const struct step_definition *definition;
    uint32_t *memory; /* of the arrays below */
    uint32_t *child;  /* of each record, the first that extends it */
    uint32_t *sibling;
    uint32_t *places; /* records to examine, in the order in which they were found */
    uint32_t *stack;
    uint8_t *marks; /* of each record; 0 between searches */
    size_t count;   /* of `places` */
    uint32_t sought;
    bool found; /* a variant of the searched type was found within one */
};

void step_plan_types_reset(struct step_plan_types *types);
/* Finds the types of a variant of `type`, in ascending order: the type and all that extend it.  If
 * such a variant can hold itself, sets `*is_tree`, and the types are those of all variants within
 * it.  The caller frees `*list`.  Returns false if out of memory. */
bool step_plan_types_find(struct step_plan_types *types, const struct step_definition *definition,
                          uint32_t type, uint32_t **list, size_t *count, bool *is_tree);

#endif
