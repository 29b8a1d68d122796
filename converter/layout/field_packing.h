/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where HotSpot puts the fields of a class: the largest first, references last.
 *   - JDK 15 and later: each into the smallest gap that it fits into, gaps of superclasses
 * included;
 *   - before: behind those of the superclass, at a multiple of a reference's size, with smaller
 *     fields in the gap before the first field of 8 bytes.
 */
#ifndef CONVERTER_LAYOUT_FIELD_PACKING_H
#define CONVERTER_LAYOUT_FIELD_PACKING_H

#include "converter/layout/object_layout.h"

/* A class's own fields: primitive ones by the logarithm of their size, and references. */
struct field_counts {
    uint32_t primitives[ELEMENT_SHIFTS];
    uint32_t references;
};

#define PACKING_GAPS_MOST 256u

struct packing_gap {
    uint64_t at, size;
};

/* State after some classes of a hierarchy. */
struct field_packing {
    const struct object_layout *layout;
    uint64_t end; /* after the last field */
    struct packing_gap gaps[PACKING_GAPS_MOST];
    size_t gap_count;
    bool failed; /* too many gaps */
};

void field_packing_init(struct field_packing *packing, const struct object_layout *layout);
/* Adds a field of any size and alignment. */
void field_packing_add_field(struct field_packing *packing, uint64_t size, uint64_t alignment);
/* Adds the fields of the next class, beginning with the root of the hierarchy.  `is_fixed`: JDK 14
 * and earlier knew its offsets, so that references came first and no field filled a gap. */
void field_packing_add(struct field_packing *packing, const struct field_counts *fields,
                       bool is_fixed);
/* Returns an object's size in bytes. */
uint64_t field_packing_size(const struct field_packing *packing);

#endif
