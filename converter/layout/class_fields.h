/* SPDX-License-Identifier: Apache-2.0 */
/* The fields of all classes of a trace, and the sizes of their objects. */
#ifndef CONVERTER_LAYOUT_CLASS_FIELDS_H
#define CONVERTER_LAYOUT_CLASS_FIELDS_H

#include "converter/base/id_table.h"
#include "converter/layout/field_packing.h"
#include "converter/trace/event_selection.h"
#include "converter/trace/event_source.h"
#include "format/core/hash_index.h"

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
