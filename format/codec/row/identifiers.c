/* SPDX-License-Identifier: Apache-2.0 */
/* Identifiers: an array by number, and an open hash table beside it for the writer. */
#include "format/codec/row/identifiers.h"

#include <stdlib.h>
#include <string.h>

#include "format/core/grow.h"
#include "format/core/hash.h"

void step_identifiers_reset(struct step_identifiers *identifiers)
{
    free(identifiers->values);
    free(identifiers->slots);
    *identifiers = (struct step_identifiers){0};
}

void step_identifiers_clear(struct step_identifiers *identifiers)
{
    identifiers->count = 0;
    if (identifiers->slot_count > 0)
        memset(identifiers->slots, 0, identifiers->slot_count * sizeof *identifiers->slots);
}

/* The slot that has the value, or the free one where it belongs. */
static size_t slot_of(const struct step_identifiers *identifiers, uint64_t value)
{
    size_t mask = identifiers->slot_count - 1;
    size_t at = (size_t) (step_hash(value) >> 32) & mask;
    while (identifiers->slots[at] != 0 && identifiers->values[identifiers->slots[at] - 1] != value)
        at = (at + 1) & mask;
    return at;
}

uint64_t step_identifiers_find(const struct step_identifiers *identifiers, uint64_t value)
{
    return identifiers->slot_count > 0 ? identifiers->slots[slot_of(identifiers, value)] : 0;
}

static bool grow_slots(struct step_identifiers *identifiers)
{
    size_t count = identifiers->slot_count > 0 ? identifiers->slot_count * 2 : 64;
    uint32_t *slots = calloc(count, sizeof *slots);
    if (slots == NULL)
        return false;
    free(identifiers->slots);
    identifiers->slots = slots;
    identifiers->slot_count = count;
    for (size_t i = 0; i < identifiers->count; i++)
        slots[slot_of(identifiers, identifiers->values[i])] = (uint32_t) (i + 1);
    return true;
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
    if (findable && (identifiers->count + 1) * 2 > identifiers->slot_count &&
        !grow_slots(identifiers))
        return false;
    identifiers->values[identifiers->count++] = value;
    if (findable)
        identifiers->slots[slot_of(identifiers, value)] = (uint32_t) identifiers->count;
    return true;
}
