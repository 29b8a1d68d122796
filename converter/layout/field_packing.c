/* SPDX-License-Identifier: Apache-2.0 */
/* Packs fields into gaps. */
#include "converter/layout/class_fields.h"

#include <stdlib.h>
#include <string.h>

void field_packing_init(struct field_packing *packing, const struct object_layout *layout)
{
    packing->layout = layout;
    packing->end = layout->header;
    packing->gap_count = 0;
    packing->failed = false;
}

static uint64_t aligned(uint64_t at, uint64_t size)
{
    return (at + size - 1) & ~(size - 1);
}

/* Inserts a gap at its place in the order of addresses; nothing if it is empty. */
static void add_gap(struct field_packing *packing, uint64_t at, uint64_t end)
{
    if (at == end)
        return;
    if (packing->gap_count == PACKING_GAPS_MOST) {
        packing->failed = true;
        return;
    }
    size_t place = packing->gap_count++;
    for (; place > 0 && packing->gaps[place - 1].at > at; place--)
        packing->gaps[place] = packing->gaps[place - 1];
    packing->gaps[place] = (struct packing_gap){at, end - at};
}

/* Returns the smallest gap for a field, of several the last; NULL: none. */
static struct packing_gap *find_gap(struct field_packing *packing, uint64_t size,
                                    uint64_t alignment)
{
    struct packing_gap *found = NULL;
    for (size_t i = packing->gap_count; i > 0; i--) {
        struct packing_gap *gap = &packing->gaps[i - 1];
        uint64_t skipped = aligned(gap->at, alignment) - gap->at;
        if (gap->size >= skipped + size && (found == NULL || gap->size < found->size))
            found = gap;
    }
    return found;
}

static void fill_gap(struct field_packing *packing, struct packing_gap *gap, uint64_t size,
                     uint64_t alignment)
{
    struct packing_gap whole = *gap;
    uint64_t at = aligned(whole.at, alignment);
    size_t after = (size_t) (packing->gaps + packing->gap_count - (gap + 1));
    memmove(gap, gap + 1, after * sizeof *gap);
    packing->gap_count--;
    add_gap(packing, whole.at, at);
    add_gap(packing, at + size, whole.at + whole.size);
}

/* Adds a field of any size and alignment. */
static void field_packing_add_field(struct field_packing *packing, uint64_t size,
                                    uint64_t alignment)
{
    struct packing_gap *gap = find_gap(packing, size, alignment);
    if (gap != NULL) {
        fill_gap(packing, gap, size, alignment);
        return;
    }
    uint64_t at = aligned(packing->end, alignment);
    add_gap(packing, packing->end, at);
    packing->end = at + size;
}

/* Once a field fits into no gap, none of the same size does. */
static void field_packing_add_fields(struct field_packing *packing, uint64_t size, uint32_t count)
{
    for (; count > 0 && find_gap(packing, size, size) != NULL; count--)
        field_packing_add_field(packing, size, size);
    if (count == 0)
        return;
    field_packing_add_field(packing, size, size);
    packing->end += size * (count - 1);
}

/* ---- JDK 14 and earlier ---- */

/* Takes the fields that go into a gap of so many bytes: the largest first, and then a reference. */
static void take_for_gap(struct field_counts *fields, uint64_t gap, uint64_t reference)
{
    for (unsigned shift = ELEMENT_SHIFTS - 1; shift-- > 0;)
        for (; gap >= UINT64_C(1) << shift && fields->primitives[shift] > 0; gap -= 1u << shift)
            fields->primitives[shift]--;
    if (gap >= reference && fields->references > 0)
        fields->references--;
}

static void add_behind(struct field_packing *packing, const struct field_counts *fields,
                       bool is_fixed)
{
    struct field_counts rest = *fields;
    uint64_t reference = packing->layout->reference, at = aligned(packing->end, reference);
    if (is_fixed) {
        at += reference * rest.references;
        rest.references = 0;
    }
    if (rest.primitives[ELEMENT_SHIFTS - 1] > 0) {
        if (!is_fixed)
            take_for_gap(&rest, aligned(at, 8) - at, reference);
        at = aligned(at, 8);
    }
    for (unsigned shift = ELEMENT_SHIFTS; shift-- > 0;)
        at += (uint64_t) rest.primitives[shift] << shift;
    if (rest.references > 0)
        at = aligned(at, reference) + reference * rest.references;
    packing->end = aligned(at, reference);
}

/* ---- all ---- */

void field_packing_add(struct field_packing *packing, const struct field_counts *fields,
                       bool is_fixed)
{
    if (packing->layout->old_fields) {
        add_behind(packing, fields, is_fixed);
        return;
    }
    for (unsigned shift = ELEMENT_SHIFTS; shift > 0; shift--)
        field_packing_add_fields(packing, UINT64_C(1) << (shift - 1),
                                 fields->primitives[shift - 1]);
    field_packing_add_fields(packing, packing->layout->reference, fields->references);
}

uint64_t field_packing_size(const struct field_packing *packing)
{
    return object_layout_align(packing->layout, aligned(packing->end, 8));
}

#define ATOMIC_MOST 8u /* bytes that the machine can write at once */

/* Large fields first, then references, then fields smaller than a reference. */
static int compare_fields(const void *left, const void *right)
{
    const struct value_field *a = left, *b = right;
    if (a->size != b->size)
        return a->size < b->size ? 1 : -1;
    return a->is_reference - b->is_reference;
}

static uint32_t power_of_two(uint64_t value)
{
    uint32_t power = 1;
    while (power < value)
        power *= 2;
    return power;
}

static uint32_t field_packing_larger(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

/* References come after all larger fields, as those of their size do in the order of the sizes. */
static void field_packing_pack(struct field_packing *packing, struct value_field *fields,
                               size_t count)
{
    uint32_t reference = packing->layout->reference;
    qsort(fields, count, sizeof *fields, compare_fields);
    for (size_t i = 0; i < count && fields[i].size >= reference; i++)
        if (!fields[i].is_reference)
            field_packing_add_field(packing, fields[i].size, fields[i].alignment);
    for (size_t i = 0; i < count; i++)
        if (fields[i].is_reference)
            field_packing_add_field(packing, reference, reference);
    for (size_t i = 0; i < count; i++)
        if (fields[i].size < reference)
            field_packing_add_field(packing, fields[i].size, fields[i].alignment);
}

/* A class without fields has one byte, which is the null marker; in others the marker goes into the
 * first gap, or to the end.  A value that can be written at once is flattened anywhere: its size is
 * rounded up to a power of two, which is its alignment, also of the fields in an object. */
struct value_shape value_shape_of(struct value_field *fields, size_t count,
                                  const struct object_layout *layout)
{
    struct value_shape shape = {.is_value = true, .size = 1, .alignment = 1};
    struct field_packing packing;
    field_packing_init(&packing, layout);
    packing.end = 0;
    for (size_t i = 0; i < count; i++)
        shape.alignment = field_packing_larger(shape.alignment, fields[i].alignment);
    field_packing_pack(&packing, fields, count);
    uint64_t bytes = count == 0 ? 1 : packing.end, with_marker = bytes;
    if (count > 0 && packing.gap_count == 0)
        with_marker++;
    if (packing.failed || with_marker > UINT32_MAX / 4)
        return (struct value_shape){.is_value = false};
    shape.size = (uint32_t) with_marker;
    shape.start = shape.alignment;
    if (power_of_two(bytes) <= ATOMIC_MOST)
        shape.start = field_packing_larger(shape.start, power_of_two(bytes));
    if (power_of_two(with_marker) <= ATOMIC_MOST) {
        shape.atomic = power_of_two(with_marker);
        shape.start = field_packing_larger(shape.start, shape.atomic);
    }
    return shape;
}

uint64_t value_shape_object_size(const struct value_shape *shape,
                                 const struct object_layout *layout)
{
    uint64_t at = aligned(layout->header, shape->start);
    return object_layout_align(layout, at + field_packing_larger(shape->size, shape->atomic));
}

uint64_t value_array_size(uint64_t length, unsigned shift, const struct object_layout *layout)
{
    return object_layout_align(layout, aligned(layout->header + 4, 8) + (length << shift));
}
