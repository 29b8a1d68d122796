/* SPDX-License-Identifier: Apache-2.0 */
/* A plan that is being made: what the files that do so share. */
#ifndef FORMAT_STEP_PLAN_PLAN_BUILD_H
#define FORMAT_STEP_PLAN_PLAN_BUILD_H

#include "format/step/plan/plan.h"

/* Where the builder is: inside `field`, at `path` of it ("" is the field itself), which may itself
 * be a field of a record that is the value at `outer`. */
struct step_plan_scope {
    const struct step_field *field;
    const char *path;
    const struct step_plan_scope *outer;
    const struct step_definition *definition;
};

struct step_plan_builder {
    struct step_plan *plan;
    const struct step_definition *definition;
    uint32_t column_capacity;
    uint32_t node_capacity;
    uint32_t child_capacity;
    uint32_t record; /* whose field is being built */
    uint32_t field;
    uint32_t leaf;
    bool in_tree; /* a value of a TREE is being built */
    struct step_error *error;
};

/* Fills builder->error, with the record and the field at hand, and returns `status`. */
enum step_status step_plan_fail(struct step_plan_builder *builder, enum step_status status,
                                const char *what);

/* What the attributes of a field's value, or of the elements of its arrays, ask for: its own,
 * those of modifiers of the field, and those of the fields that hold it.  And the same of lengths.
 */
struct step_field_coding step_plan_value_coding(const struct step_plan_scope *scope,
                                                bool is_signed);
struct step_field_coding step_plan_length_coding(const struct step_plan_scope *scope);
/* Is the value `constant` as a whole: by its own attributes, or as part of a record that is? */
bool step_plan_is_constant(const struct step_plan_scope *scope);
/* Are values given once in a block, and then by their numbers: records, variants and arrays that
 * are `numbered`, arrays that are `default` or `constant` as a whole?  And how the numbers are
 * coded. */
bool step_plan_is_numbered(const struct step_plan_scope *scope, uint32_t array_depth,
                           struct step_field_coding *numbers);
/* Only what is said at the field itself. */
void step_plan_own_coding(const struct step_field *field, const char *path,
                          struct step_field_coding *field_coding);

/* Makes the node of a value, with its columns and all nodes below it. */
enum step_status step_plan_element(struct step_plan_builder *builder,
                                   const struct step_plan_scope *scope, uint32_t array_depth,
                                   bool in_array, uint32_t nesting, uint32_t *index);

/* The types that values within a variant of `type` may have, itself included, as a flag for each
 * record in `*listed`, which the caller frees; it is NULL for a variant that cannot hold itself. */
enum step_status step_plan_find_tree(const struct step_definition *definition, uint32_t type,
                                     uint8_t **listed);

/* Finds the columns that `given` names: for the field at hand, whose record has these nodes; for a
 * field of a record by value, whose nodes are children from `first_child` on. */
void step_plan_resolve_given(struct step_plan_builder *builder, const uint32_t *field_nodes);
void step_plan_resolve_nested(struct step_plan_builder *builder, const struct step_record *record,
                              size_t field, uint32_t first_child);
/* What `stack` and `age` name, when all records are planned; what does not exist is not heeded. */
void step_plan_resolve_followed(struct step_plan *plan, struct step_plan_column *column);
/* Likewise what `linked=KEY+HOLDER+RECORD.FIELD` of the column names, all or nothing. */
void step_plan_resolve_linked(struct step_plan *plan, uint32_t index);
/* The column of RECORD.FIELD, as the column `near` would name it, or STEP_NO_INDEX. */
uint32_t step_plan_column_of(const struct step_plan *plan, uint32_t near, const char *name,
                             size_t length);
/* Sets apart columns that would need themselves, or too many others one after the other. */
enum step_status step_plan_order(struct step_plan *plan);

#endif
