/* SPDX-License-Identifier: Apache-2.0 */
/* State and functions shared by the files that build a plan. */
#ifndef FORMAT_STEP_PLAN_PLAN_BUILD_H
#define FORMAT_STEP_PLAN_PLAN_BUILD_H

#include "format/step/plan/plan.h"
#include "format/step/plan/plan_types.h"

/* Position of the builder: at `path` inside `field` ("" is the field itself).  The field may belong
 * to a record that is the value at `outer`. */
struct step_plan_scope {
    const struct step_field *field;
    const char *path;
    const struct step_plan_scope *outer;
    const struct step_definition *definition;
};

struct step_plan_builder {
    struct step_plan *plan;
    const struct step_definition *definition;
    struct step_plan_types types;
    size_t column_capacity;
    size_t node_capacity;
    size_t child_capacity;
    uint32_t record; /* record that has the field */
    uint32_t field;
    uint32_t leaf;
    bool in_tree; /* inside a value of a TREE */
    struct step_error *error;
    enum step_status status; /* the first failure */
};

/* Keeps the first failure, in the current record and field.  `what` may be NULL if out of memory.
 * Returns 0. */
uint32_t step_plan_fail(struct step_plan_builder *builder, enum step_status status,
                        const char *what);

/* Return the coding that attributes request for a field's value or array elements: its own, those
 * of modifiers, and those of fields that contain it; and the coding of lengths. */
struct step_field_coding step_plan_value_coding(const struct step_plan_scope *scope,
                                                bool is_signed);
struct step_field_coding step_plan_length_coding(const struct step_plan_scope *scope);
/* Returns true if the value is `constant` as a whole: by its own attributes, or as part of a
 * constant record. */
bool step_plan_is_constant(const struct step_plan_scope *scope);
/* Returns true if values are stored once in a block, and then by number: `numbered` records,
 * variants and arrays, and arrays that are `default` or `constant` as a whole.  Sets the coding of
 * the numbers. */
bool step_plan_is_numbered(const struct step_plan_scope *scope, uint32_t array_depth,
                           struct step_field_coding *numbers);
/* Adds to `field_coding` what the attributes of the field itself say, or those of the part at
 * `path` if it has some. */
void step_plan_own_coding(const struct step_field *field, const char *path,
                          struct step_field_coding *field_coding);

/* Makes the node of a value, with its columns and all nodes below it.  Returns its index, or 0
 * after a failure, which the builder keeps. */
uint32_t step_plan_element(struct step_plan_builder *builder, const struct step_plan_scope *scope,
                           uint32_t array_depth, bool in_array, uint32_t nesting);

/* Find the columns that `given` names: for the current field, whose record has these nodes; and for
 * a field of a record by value, whose nodes are children from `first_child` on. */
void step_plan_resolve_given(struct step_plan_builder *builder, const uint32_t *field_nodes);
void step_plan_resolve_nested(struct step_plan_builder *builder, const struct step_record *record,
                              size_t field, uint32_t first_child);
/* Finds the targets of `stack` and `age` after all records are planned; nonexistent ones are
 * ignored. */
void step_plan_resolve_followed(struct step_plan *plan, struct step_plan_column *column);
/* Finds the targets of `linked=KEY+HOLDER+RECORD.FIELD` of the column, all or none. */
void step_plan_resolve_linked(struct step_plan *plan, uint32_t index);
/* Returns the column of RECORD.FIELD, as named from the column `near`, or STEP_NO_INDEX. */
uint32_t step_plan_column_of(const struct step_plan *plan, uint32_t near, const char *name,
                             size_t length);
/* Sets columns `apart` that would depend on themselves, or on a long chain of others. */
enum step_status step_plan_order(struct step_plan *plan);

#endif
