/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Classes that the user takes for value classes (JEP 401), and the shape that HotSpot gives their
 * values where it flattens them (docs/layout.md).
 */
#ifndef CONVERTER_LAYOUT_VALUE_CLASSES_H
#define CONVERTER_LAYOUT_VALUE_CLASSES_H

#include "converter/layout/field_packing.h"

#define VALUE_FIELDS_MOST 255u /* of a value class; one with more is not flattened */

/* What a value takes. */
struct value_shape {
    bool is_value;      /* false: of no value class, or of one whose shape cannot be told */
    bool is_unsure;     /* of classes that contain each other: which is flattened depends on which
                           is loaded first */
    uint32_t size;      /* bytes of the fields and the null marker: in a field of a value class */
    uint32_t alignment; /* of these */
    uint32_t atomic;    /* bytes in a field of another class, or in an array; 0: a reference */
    uint32_t start;     /* alignment of the fields in an object */
};

/* One field of a value class. */
struct value_field {
    uint32_t size, alignment;
    bool is_reference;
};

/* Returns the shape of a value class with these fields, which it sorts. */
struct value_shape value_shape_of(struct value_field *fields, size_t count,
                                  const struct object_layout *layout);
/* Returns the size in bytes of an object of a value class on the heap. */
uint64_t value_shape_object_size(const struct value_shape *shape,
                                 const struct object_layout *layout);
/* Returns the size in bytes of an array of that many flattened values. */
uint64_t value_array_size(uint64_t length, unsigned shift, const struct object_layout *layout);

#endif
