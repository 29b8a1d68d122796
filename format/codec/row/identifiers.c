/* SPDX-License-Identifier: Apache-2.0 */
/* Values of identifiers: an array by number, and for writers an index by value. */
#include "format/codec/row/identifiers.h"

#include <stdlib.h>

#include "format/core/grow.h"
#include "format/core/hash.h"

void step_identifiers_reset(struct step_identifiers *identifiers)
{
    free(identifiers->values);
    step_index_reset(&identifiers->places);
    *identifiers = (struct step_identifiers){0};
}

void step_identifiers_clear(struct step_identifiers *identifiers)
{
    identifiers->count = 0;
    step_index_clear(&identifiers->places);
}

uint64_t step_identifiers_find(const struct step_identifiers *identifiers, uint64_t value)
{
    uint32_t place;
    STEP_INDEX_EACH (&identifiers->places, step_hash_half(value), place)
        if (identifiers->values[place] == value)
            return (uint64_t) place + 1;
    return 0;
}

bool step_identifiers_add(struct step_identifiers *identifiers, uint64_t value, bool findable)
{
    if (identifiers->count >= UINT32_MAX)
        return false;
    if (identifiers->count == identifiers->capacity) {
        uint64_t *values = step_grown(identifiers->values, &identifiers->capacity,
                                      identifiers->capacity + 1, sizeof *values);
        if (values == NULL)
            return false;
        identifiers->values = values;
    }
    if (findable &&
        !step_index_add(&identifiers->places, step_hash_half(value), (uint32_t) identifiers->count))
        return false;
    identifiers->values[identifiers->count++] = value;
    return true;
}
