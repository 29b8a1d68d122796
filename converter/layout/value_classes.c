/* SPDX-License-Identifier: Apache-2.0 */
/* Computes the shapes of values: HotSpot's compute_inline_class_layout(). */
#include "converter/layout/value_classes.h"

#include <stdlib.h>

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

static uint32_t larger(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

/* References come after all larger fields, as those of their size do in the order of the sizes. */
static void pack(struct field_packing *packing, struct value_field *fields, size_t count)
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
        shape.alignment = larger(shape.alignment, fields[i].alignment);
    pack(&packing, fields, count);
    uint64_t bytes = count == 0 ? 1 : packing.end, with_marker = bytes;
    if (count > 0 && packing.gap_count == 0)
        with_marker++;
    if (packing.failed || with_marker > UINT32_MAX / 4)
        return (struct value_shape){.is_value = false};
    shape.size = (uint32_t) with_marker;
    shape.start = shape.alignment;
    if (power_of_two(bytes) <= ATOMIC_MOST)
        shape.start = larger(shape.start, power_of_two(bytes));
    if (power_of_two(with_marker) <= ATOMIC_MOST) {
        shape.atomic = power_of_two(with_marker);
        shape.start = larger(shape.start, shape.atomic);
    }
    return shape;
}

static uint64_t aligned(uint64_t at, uint64_t alignment)
{
    return (at + alignment - 1) & ~(alignment - 1);
}

uint64_t value_shape_object_size(const struct value_shape *shape,
                                 const struct object_layout *layout)
{
    uint64_t at = aligned(layout->header, shape->start);
    return object_layout_align(layout, at + larger(shape->size, shape->atomic));
}

uint64_t value_array_size(uint64_t length, unsigned shift, const struct object_layout *layout)
{
    return object_layout_align(layout, aligned(layout->header + 4, 8) + (length << shift));
}
