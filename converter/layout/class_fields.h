/* SPDX-License-Identifier: Apache-2.0 */
/* The fields of all classes of a trace, and the sizes of their objects. */
#ifndef CONVERTER_LAYOUT_CLASS_FIELDS_H
#define CONVERTER_LAYOUT_CLASS_FIELDS_H

#include "converter/containers/id_table.h"
#include "converter/layout/object_layout.h"
#include "converter/trace/event_selection.h"
#include "converter/trace/event_source.h"
#include "format/core/hash_index.h"

/*
 * Where HotSpot puts the fields of a class: the largest first, references last.
 *   - JDK 15 and later: each into the smallest gap that it fits into, gaps of superclasses
 * included;
 *   - before: behind those of the superclass, at a multiple of a reference's size, with smaller
 *     fields in the gap before the first field of 8 bytes.
 */

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
/* Adds the fields of the next class, beginning with the root of the hierarchy.  `is_fixed`: JDK 14
 * and earlier knew its offsets, so that references came first and no field filled a gap. */
void field_packing_add(struct field_packing *packing, const struct field_counts *fields,
                       bool is_fixed);
/* Returns an object's size in bytes. */
uint64_t field_packing_size(const struct field_packing *packing);

/*
 * Classes that the user takes for value classes (JEP 401), and the shape that HotSpot gives their
 * values where it flattens them (docs/layout.md).
 */

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

struct class_fields {
    struct id_table classes; /* struct class_field_entry */
    /* classes that are taken for value classes */
    const struct selected_globs *value_globs; /* borrowed */
    struct step_index value_names;            /* their ids, by name */
    uint32_t *value_fields;                   /* fields of their types: the ids */
    size_t value_field_count, value_field_capacity;
};

void class_fields_init(struct class_fields *fields, const struct selected_globs *value_globs);
void class_fields_reset(struct class_fields *fields);

/* Takes a class's name and its superclass: of all classes, before the first layout and the first
 * question.  Returns false if out of memory. */
bool class_fields_put_name(struct class_fields *fields, const struct trace_layout *layout);
/* Takes a class's layout.  Text that is no descriptor leaves the class unknown.  Returns false if
 * out of memory. */
bool class_fields_put(struct class_fields *fields, const struct trace_layout *layout);

/* Returns the size in bytes of an object of the class under a layout; 0: the fields of the class,
 * or of one of its superclasses, are not known.  Sets `is_unsure` if the shape of a value class
 * among them is; else leaves it as it is. */
uint64_t class_fields_size(const struct class_fields *fields, uint32_t class_id,
                           const struct object_layout *layout, bool *is_unsure);

/* Returns the id of the value class with that name; 0: none. */
uint32_t class_fields_find_value(const struct class_fields *fields, struct step_bytes name);
/* Advances `*class_id` to the first named class at or after it; false if there is none. */
bool class_fields_next_value(const struct class_fields *fields, uint32_t *class_id);
/* Returns what its values take. */
struct value_shape class_fields_value(const struct class_fields *fields, uint32_t class_id,
                                      const struct object_layout *layout);

#endif
