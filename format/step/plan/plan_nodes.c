/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Builds the trees of nodes of fields, and their columns.
 *
 * A tree of nodes follows the type of a field; each node that has values gets a column.  The order
 * in which columns are added is their number in the field (leaf), which is part of the format: a
 * change of the order would make old files unreadable.
 *
 * A variant that may contain itself would have a tree of nodes without end.  It is recognised first
 * (step_plan_types_find()) and becomes a list of all values in it, level by level, in which a
 * value's place says whose child it is.  Within that list variants need no columns.
 *
 * This is the tree of encoders of the paper (section 3.1): a record's node defers to the nodes of
 * its fields.  The paper assembles encoders at run time from the attributes; here that is done once
 * for a file.  Definitions are read from files, so the size of the tree has limits.  Depth is
 * limited by STEP_MAX_NESTING, and the number of nodes, children and columns by STEP_MAX_NODES and
 * STEP_MAX_COLUMNS: if each record has two fields of the record before it, the tree doubles with
 * each level, and a definition of some hundred bytes would need 2^32 nodes within the depth.
 *
 * Arrays of the plan grow while the tree is built and may move.  Functions therefore pass indexes;
 * a pointer to a node is valid only until the next one is added.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/codec/strategies/packed_strings.h"
#include "format/core/grow.h"
#include "format/step/layout.h"
#include "format/step/plan/plan_build.h"

enum { PATH_BYTES = 512 };

/* Numbers of dictionary entries are identifiers already.  The paper's `identifier` (section 3.3)
 * maps values to compact numbers; here the dictionary has done so, so the numbers themselves are
 * encoded. */
static void settle_identifier(struct step_field_coding *field_coding)
{
    struct step_policy *policy = &field_coding->policy;
    if (policy->general == STEP_IDENTIFIER)
        policy->general = STEP_GENERAL_NONE;
    policy->size = STEP_SIZE_CREEP;
    policy->is_unsigned = true;
    policy->resolution = field_coding->resolution = 0;
}

/* The first failure is kept: what follows it is a consequence, or never was. */
uint32_t step_plan_fail(struct step_plan_builder *builder, enum step_status status,
                        const char *what)
{
    const struct step_record *record = &builder->definition->records[builder->record];
    const char *field =
        builder->field < record->field_count ? record->fields[builder->field].name : NULL;
    if (builder->status == STEP_STATUS_OK && what != NULL)
        step_error_set(builder->error, status, NULL, STEP_NO_OFFSET, "record %s%s%s: %s",
                       record->name, field != NULL ? ", field " : "", field != NULL ? field : "",
                       what);
    if (builder->status == STEP_STATUS_OK)
        builder->status = status;
    return 0;
}

/* ---- nodes, by index ----
 * The functions return it. After a failure, which the builder keeps, they return 0. */

static uint32_t plan_nodes_add_column(struct step_plan_builder *builder, enum step_column_kind kind,
                                      bool in_array, const struct step_field_coding *field_coding)
{
    struct step_plan *plan = builder->plan;
    if (builder->status != STEP_STATUS_OK)
        return 0;
    if (plan->column_count >= STEP_MAX_COLUMNS)
        return step_plan_fail(builder, STEP_STATUS_LIMIT,
                              "the definition needs more than 65,536 columns");
    if (!STEP_MAKE_ROOM(plan->columns, builder->column_capacity, plan->column_count + 1))
        return step_plan_fail(builder, STEP_STATUS_NO_MEMORY, NULL);
    plan->columns[plan->column_count] = (struct step_plan_column){
        .kind = kind,
        .record = builder->record,
        .field = builder->field,
        .leaf = builder->leaf++,
        .in_array = in_array,
        .given_field = STEP_NO_INDEX,
        .given_column = STEP_NO_INDEX,
        .stack_record = STEP_NO_INDEX,
        .age_column = STEP_NO_INDEX,
        .links = {STEP_NO_INDEX, STEP_NO_INDEX, STEP_NO_INDEX},
        .field_coding = *field_coding,
    };
    return plan->column_count++;
}

static uint32_t add_node(struct step_plan_builder *builder, struct step_plan_node node)
{
    struct step_plan *plan = builder->plan;
    if (builder->status != STEP_STATUS_OK)
        return 0;
    if (plan->node_count >= STEP_MAX_NODES)
        return step_plan_fail(builder, STEP_STATUS_LIMIT, "the definition has too many fields");
    if (!STEP_MAKE_ROOM(plan->nodes, builder->node_capacity, plan->node_count + 1))
        return step_plan_fail(builder, STEP_STATUS_NO_MEMORY, NULL);
    plan->nodes[plan->node_count] = node;
    return plan->node_count++;
}

/* Reserves `count` consecutive children, for set_child().  They are reserved before any child is
 * built, because building one adds children of its own: otherwise those of one node would not be
 * consecutive, and `first_child` could not describe them. */
static uint32_t add_children(struct step_plan_builder *builder, uint32_t count)
{
    struct step_plan *plan = builder->plan;
    uint32_t first = plan->child_count;
    for (uint32_t i = 0; i < count && builder->status == STEP_STATUS_OK; i++) {
        if (plan->child_count >= STEP_MAX_NODES)
            return step_plan_fail(builder, STEP_STATUS_LIMIT, "the definition has too many fields");
        if (!STEP_MAKE_ROOM(plan->children, builder->child_capacity, plan->child_count + 1))
            return step_plan_fail(builder, STEP_STATUS_NO_MEMORY, NULL);
        plan->children[plan->child_count++] = 0;
    }
    return first;
}

/* Returns the child's node, or an empty one after a failure. */
static const struct step_plan_node *set_child(struct step_plan_builder *builder, uint32_t place,
                                              uint32_t child)
{
    static const struct step_plan_node none;
    if (builder->status != STEP_STATUS_OK)
        return &none;
    builder->plan->children[place] = child;
    return &builder->plan->nodes[child];
}

/* The lengths get their column before the element is built, so they have the lower leaf.  The path
 * grows by `element` with each dimension, which is how modifiers name it (paper, Appendix B). */
static uint32_t build_array(struct step_plan_builder *builder, const struct step_plan_scope *scope,
                            uint32_t array_depth, bool in_array, uint32_t nesting)
{
    struct step_plan_node node = {
        STEP_NODE_ARRAY, 0, 1, 1, 0, STEP_NO_INDEX, false, step_plan_is_constant(scope)};
    struct step_field_coding field_coding = step_plan_length_coding(scope);
    node.column = plan_nodes_add_column(builder, STEP_COLUMN_LENGTHS, in_array, &field_coding);
    node.first_child = add_children(builder, 1);
    char path[PATH_BYTES];
    int length =
        snprintf(path, sizeof path, "%s%selement", scope->path, scope->path[0] != '\0' ? "." : "");
    if (length < 0 || length >= PATH_BYTES)
        return step_plan_fail(builder, STEP_STATUS_LIMIT, "nested too deeply");
    struct step_plan_scope inner = {scope->field, path, scope->outer, scope->definition};
    uint32_t element = step_plan_element(builder, &inner, array_depth - 1, true, nesting + 1);
    node.holds_inner = set_child(builder, node.first_child, element)->holds_inner;
    return add_node(builder, node);
}

/* Makes the node of a record of type `type` by value.  A field's `given` is resolved as soon as the
 * field is built: it may name only an earlier field, whose node is there by then. */
static uint32_t build_record(struct step_plan_builder *builder, const struct step_plan_scope *scope,
                             uint32_t type, bool in_array, uint32_t nesting)
{
    const struct step_definition *definition = builder->definition;
    if (type >= definition->record_count)
        return step_plan_fail(builder, STEP_STATUS_INVALID, "its record does not exist");
    const struct step_record *record = &definition->records[type];
    if (record->field_count > STEP_MAX_NODES)
        return step_plan_fail(builder, STEP_STATUS_LIMIT, "the definition has too many fields");
    struct step_plan_node node = {STEP_NODE_RECORD,
                                  0,
                                  0,
                                  (uint32_t) record->field_count,
                                  0,
                                  type,
                                  false,
                                  step_plan_is_constant(scope)};
    node.first_child = add_children(builder, node.child_count);
    for (uint32_t i = 0; i < node.child_count && builder->status == STEP_STATUS_OK; i++) {
        struct step_plan_scope inner = {&record->fields[i], "", scope, definition};
        uint32_t index = step_plan_element(builder, &inner, record->fields[i].array_depth, in_array,
                                           nesting + 1);
        const struct step_plan_node *child = set_child(builder, node.first_child + i, index);
        node.slot_count += child->slot_count;
        node.holds_inner = node.holds_inner || child->holds_inner;
        if (builder->status == STEP_STATUS_OK)
            step_plan_resolve_nested(builder, record, i, node.first_child);
    }
    return add_node(builder, node);
}

/* Adds the types of a variant's values according to its attributes.  The paper has the type tagged
 * so that the object is not sliced to the field's type (B.4): `variable` is based on `identifier`,
 * and without it the types are expected to be uniform, as with `default`. */
static uint32_t add_types(struct step_plan_builder *builder, const struct step_plan_scope *scope,
                          bool in_array)
{
    struct step_field_coding field_coding = {.column = {.identifier = true}};
    struct step_field_coding own = {0};
    step_plan_own_coding(scope->field, scope->path, &own);
    field_coding.policy.general = own.type_varies ? STEP_IDENTIFIER : STEP_DEFAULT;
    field_coding.policy.is_unsigned = true;
    return plan_nodes_add_column(builder, STEP_COLUMN_VALUES, in_array, &field_coding);
}

/* Adds the record without fields that stands for none, as a tree's last type. */
static uint32_t add_none(struct step_plan_builder *builder)
{
    struct step_plan_node none = {.kind = STEP_NODE_RECORD,
                                  .record = (uint32_t) builder->definition->record_count};
    return add_node(builder, none);
}

/* The types of a variant's values. */
struct type_list {
    uint32_t *items;
    size_t count;
    bool is_tree; /* it may also be none */
};

/* Makes a column of the types, and the columns of each type, and of a tree none.  The columns of
 * each type are as if they were in an array: a value has one type, so each type has a value for
 * some of the records only. */
static uint32_t build_types(struct step_plan_builder *builder, const struct step_plan_scope *scope,
                            const struct type_list *list, bool in_array, uint32_t nesting)
{
    uint32_t record_count = (uint32_t) builder->definition->record_count;
    struct step_plan_node node = {.kind = STEP_NODE_VARIANT,
                                  .slot_count = 1,
                                  .child_count = (uint32_t) list->count + list->is_tree,
                                  .record = list->is_tree ? record_count : STEP_NO_INDEX,
                                  .holds_inner = list->is_tree,
                                  .constant = !list->is_tree && step_plan_is_constant(scope)};
    node.column = add_types(builder, scope, in_array);
    node.first_child = add_children(builder, node.child_count);
    uint32_t next = node.first_child;
    for (size_t i = 0; i < list->count && builder->status == STEP_STATUS_OK; i++)
        set_child(builder, next++, build_record(builder, scope, list->items[i], true, nesting + 1));
    if (list->is_tree)
        set_child(builder, next, add_none(builder));
    return add_node(builder, node);
}

/* Makes the node of a variant that may contain itself: an array of all that it contains.  While the
 * types in the list are built, `in_tree` makes an INNER of each variant that they contain, and that
 * ends the recursion: an INNER has no columns and no children.  A variant of another type within
 * the tree becomes an INNER as well, so `in_tree` is never set twice and need not be counted. */
static uint32_t build_tree(struct step_plan_builder *builder, const struct step_plan_scope *scope,
                           const struct type_list *list, bool in_array, uint32_t nesting)
{
    struct step_plan_node node = {.kind = STEP_NODE_TREE,
                                  .slot_count = 1,
                                  .child_count = 1,
                                  .record = scope->field->record,
                                  .constant = step_plan_is_constant(scope)};
    struct step_field_coding field_coding = {.policy = {.is_unsigned = true}};
    node.column = plan_nodes_add_column(builder, STEP_COLUMN_LENGTHS, in_array, &field_coding);
    node.first_child = add_children(builder, 1);
    builder->in_tree = true;
    set_child(builder, node.first_child, build_types(builder, scope, list, true, nesting + 1));
    builder->in_tree = false;
    return add_node(builder, node);
}

/* Makes the node of a variant: a record of the field's type, or of a type that extends it. */
static uint32_t build_variant(struct step_plan_builder *builder,
                              const struct step_plan_scope *scope, bool in_array, uint32_t nesting)
{
    struct step_plan_node inner = {.kind = STEP_NODE_INNER,
                                   .slot_count = 1,
                                   .record = scope->field->record,
                                   .holds_inner = true};
    if (builder->in_tree)
        return add_node(builder, inner);
    struct type_list list;
    if (!step_plan_types_find(&builder->types, builder->definition, scope->field->record,
                              &list.items, &list.count, &list.is_tree))
        return step_plan_fail(builder, STEP_STATUS_NO_MEMORY, NULL);
    uint32_t index = list.is_tree ? build_tree(builder, scope, &list, in_array, nesting)
                                  : build_types(builder, scope, &list, in_array, nesting);
    free(list.items);
    return index;
}

/* Two columns that belong together: the bytes always have the index after that of the lengths, and
 * readers rely on it (may_spell() in row_directory.c).  Strings with a general strategy of the
 * paper (B.1) are stored by number: `constant` and `default` ones repeat a value, as identifiers
 * do. */
static uint32_t build_bytes(struct step_plan_builder *builder, const struct step_plan_scope *scope,
                            bool in_array)
{
    struct step_plan_node node = {
        STEP_NODE_BYTES, 0, 1, 0, 0, STEP_NO_INDEX, false, step_plan_is_constant(scope)};
    struct step_field_coding field_coding = step_plan_length_coding(scope);
    struct step_field_coding own = step_plan_value_coding(scope, false);
    field_coding.charset = scope->field->kind == STEP_TYPE_STRING ? own.charset : STEP_CHARSET_ANY;
    field_coding.policy.strings = own.policy.strings;
    if (own.policy.general != STEP_GENERAL_NONE) /* a repeated value is a number */
        field_coding.policy.strings |= STEP_STRINGS_NUMBERED;
    node.column = plan_nodes_add_column(builder, STEP_COLUMN_LENGTHS, in_array, &field_coding);
    struct step_field_coding none = {.policy = {.strings = field_coding.policy.strings}};
    plan_nodes_add_column(builder, STEP_COLUMN_BYTES, in_array, &none);
    return add_node(builder, node);
}

/* Makes the node of a value with several columns, or with columns for its elements. */
static uint32_t build_compound(struct step_plan_builder *builder,
                               const struct step_plan_scope *scope, uint32_t array_depth,
                               bool in_array, uint32_t nesting)
{
    if (array_depth > 0)
        return build_array(builder, scope, array_depth, in_array, nesting);
    return step_field_is_variant(scope->field)
               ? build_variant(builder, scope, in_array, nesting)
               : build_record(builder, scope, scope->field->record, in_array, nesting);
}

/* The column of numbers is placed after those of the value, because older files lack it: the leaves
 * of the others must not move. */
static uint32_t build_numbered(struct step_plan_builder *builder,
                               const struct step_plan_scope *scope, uint32_t array_depth,
                               const struct step_field_coding *numbers, bool in_array,
                               uint32_t nesting)
{
    struct step_plan_node node = {
        .kind = STEP_NODE_NUMBERED, .child_count = 1, .record = STEP_NO_INDEX};
    node.first_child = add_children(builder, 1);
    uint32_t child = build_compound(builder, scope, array_depth, true, nesting);
    node.slot_count = set_child(builder, node.first_child, child)->slot_count;
    if (node.slot_count == 0)
        return child;
    node.column = plan_nodes_add_column(builder, STEP_COLUMN_NUMBERS, in_array, numbers);
    return add_node(builder, node);
}

/* Decides what a value is.  The depth of nesting has a limit, since nodes are built, written and
 * read by recursion. */
uint32_t step_plan_element(struct step_plan_builder *builder, const struct step_plan_scope *scope,
                           uint32_t array_depth, bool in_array, uint32_t nesting)
{
    if (builder->status != STEP_STATUS_OK)
        return 0;
    if (nesting > STEP_MAX_NESTING)
        return step_plan_fail(builder, STEP_STATUS_INVALID,
                              "records by value and arrays are nested more than 32 deep");
    struct step_field_coding numbers, field_coding = {0};
    if (array_depth == 0)
        field_coding = step_plan_value_coding(scope, scope->field->kind == STEP_TYPE_INT);
    bool names_entry = field_coding.column.identifier && scope->field->kind == STEP_TYPE_RECORD;
    bool is_compound = array_depth > 0 || (scope->field->kind == STEP_TYPE_RECORD && !names_entry);
    if (is_compound && !builder->in_tree && step_plan_is_numbered(scope, array_depth, &numbers))
        return build_numbered(builder, scope, array_depth, &numbers, in_array, nesting);
    if (is_compound)
        return build_compound(builder, scope, array_depth, in_array, nesting);
    if (!names_entry && scope->field->kind != STEP_TYPE_INT)
        return build_bytes(builder, scope, in_array);
    struct step_plan_node node = {STEP_NODE_VALUE, 0, 1, 0, 0, STEP_NO_INDEX, false, false};
    field_coding.policy.strings = 0;
    if (scope->field->kind != STEP_TYPE_INT)
        settle_identifier(&field_coding);
    node.column = plan_nodes_add_column(builder, STEP_COLUMN_VALUES, in_array, &field_coding);
    return add_node(builder, node);
}
