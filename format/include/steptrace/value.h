/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How a record's values travel between a program and the STEP writer and reader: an array of
 * 64-bit slots, one field after the other in the record's order (inherited fields first).
 *
 *   int                           one slot, the value (two's complement when signed)
 *   string, data                  one slot, a `const struct step_bytes *`
 *   record, encoded identifier    one slot, the identifier: 0 is "none", the first defined is 1
 *   array                         one slot, a `const struct step_array *`
 *   record by value               the slots of its fields, in place
 *
 * Who owns what the pointers point to is said where the slots are given or taken.
 */
#ifndef STEPTRACE_VALUE_H
#define STEPTRACE_VALUE_H

#include <stddef.h>
#include <stdint.h>

struct step_bytes {
    const uint8_t *data; /* not NUL-terminated */
    size_t length;       /* bytes */
};

struct step_array {
    const uint64_t *slots; /* count times the slots of one element */
    size_t count;          /* elements */
};

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
