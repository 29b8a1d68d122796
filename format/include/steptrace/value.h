/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Representation of a record's values between a program and the STEP writer and reader: an array of
 * 64-bit slots, one field after the other in the record's order (inherited fields first).
 *
 *   int                           one slot, the value (two's complement when signed)
 *   string, data                  one slot, a `const struct step_bytes *`
 *   record, encoded identifier    one slot, the identifier: 0 is "none", the first defined is 1
 *   array                         one slot, a `const struct step_array *`
 *   record by value               the slots of its fields, in place
 *   record by value, encoded type=variable or type=default (its type may extend the field's)
 *                                 one slot, a `const struct step_variant *`.  Writers accept NULL
 *                                 for an empty record of the field's own type.  For a variant that
 *                                 may contain itself (a tree) NULL means none; readers return it as
 *                                 a variant whose record is STEP_NO_RECORD.
 *
 * The functions that accept or return slots document the ownership of the memory behind pointers.
 */
#ifndef STEPTRACE_VALUE_H
#define STEPTRACE_VALUE_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct step_bytes {
    const uint8_t *data; /* not NUL-terminated */
    size_t length;       /* bytes */
};

struct step_array {
    const uint64_t *slots; /* count times the slots of one element */
    size_t count;          /* elements */
};

struct step_variant {
    uint32_t record;       /* the field's type, or one that extends it */
    const uint64_t *slots; /* the slots of that type */
};

/* Wraps a C string; the bytes are borrowed. */
static inline struct step_bytes step_text(const char *string)
{
    struct step_bytes bytes = {(const uint8_t *) string, strlen(string)};
    return bytes;
}

static inline uint64_t step_slot_of_variant(const struct step_variant *variant)
{
    return (uint64_t) (uintptr_t) variant;
}

static inline const struct step_variant *step_slot_variant(uint64_t slot)
{
    return (const struct step_variant *) (uintptr_t) slot;
}

static inline uint64_t step_slot_of_bytes(const struct step_bytes *bytes)
{
    return (uint64_t) (uintptr_t) bytes;
}

static inline const struct step_bytes *step_slot_bytes(uint64_t slot)
{
    return (const struct step_bytes *) (uintptr_t) slot;
}

static inline uint64_t step_slot_of_array(const struct step_array *array)
{
    return (uint64_t) (uintptr_t) array;
}

static inline const struct step_array *step_slot_array(uint64_t slot)
{
    return (const struct step_array *) (uintptr_t) slot;
}

#endif
