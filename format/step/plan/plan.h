/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The plan of a definition: the columns into which its records are split, and the mapping from
 * slots of a record (steptrace/value.h) to them.  Writer and reader derive the same plan from the
 * same definition, by the rules in docs/formats/step.md.
 *
 * It corresponds to the paper's encoders, which are assembled from the definition's attributes and
 * form a tree, records deferring to their fields (section 3.1). The plan is made once for a file
 * and never changes.  Nothing of it is stored: columns are named in blocks by record, field and
 * leaf, so that a reader of another version finds those that it knows.
 */
#ifndef FORMAT_STEP_PLAN_PLAN_H
#define FORMAT_STEP_PLAN_PLAN_H

#include "format/step/plan/field_coding.h"
#include "steptrace/definition.h"

#define STEP_NO_INDEX UINT32_MAX

enum step_column_kind {
    STEP_COLUMN_VALUES,
    STEP_COLUMN_LENGTHS,
    STEP_COLUMN_BYTES,
    STEP_COLUMN_NUMBERS /* of numbered values; a block may lack it */
};

struct step_plan_column {
    enum step_column_kind kind;
    uint32_t record; /* record, field, and index of the column in the field */
    uint32_t field;  /* identify the column in the file */
    uint32_t leaf;
    bool in_array;         /* there may be other than one value per record */
    uint32_t given_field;  /* top-level fields: the other field, or STEP_NO_INDEX */
    uint32_t given_column; /* fields of nested records: the other column, or STEP_NO_INDEX */
    uint32_t stack_record; /* the record type that pushes, or STEP_NO_INDEX */
    uint32_t age_column;   /* column whose latest value is the reference, or STEP_NO_INDEX */
    struct step_links {    /* targets of `linked`; `key` STEP_NO_INDEX: none */
        uint32_t key;      /* a field of the record */
        uint32_t holder;   /* likewise, or STEP_NO_INDEX */
        uint32_t newest;   /* a column, or STEP_NO_INDEX */
    } links;
    bool apart; /* as a column it uses none of these, because it would depend on itself */
    struct step_field_coding field_coding;
};

enum step_node_kind {
    STEP_NODE_VALUE,
    STEP_NODE_BYTES,
    STEP_NODE_ARRAY,
    STEP_NODE_RECORD,
    STEP_NODE_VARIANT,
    STEP_NODE_TREE,    /* a variant that may contain itself */
    STEP_NODE_INNER,   /* a variant within a tree */
    STEP_NODE_NUMBERED /* a value that is stored once in a block, and then referred to by number */
};

/* A node of the tree that describes a field's value.  `column` has the values of a VALUE; the
 * lengths of BYTES and ARRAY (the bytes are in the next column); the record types of a VARIANT; the
 * numbers of a NUMBERED, 0 where the value is stored; it is unused for RECORD and INNER.  A TREE is
 * stored as an array of VARIANTs, whose lengths are in `column`: first the value itself, then all
 * that it contains, level by level.  The last child of these VARIANTs is a RECORD without fields
 * that stands for none, with the number after the last record type. */
struct step_plan_node {
    enum step_node_kind kind;
    uint32_t column;
    uint32_t slot_count;  /* slots of one value */
    uint32_t child_count; /* ARRAY, TREE: 1, the element; NUMBERED: 1, the value; RECORD: its
                             fields; VARIANT: RECORDs */
    uint32_t first_child; /* index in plan->children */
    uint32_t record;      /* RECORD: its type; TREE and INNER: the field's; VARIANT of a TREE: the
                             number of none; else STEP_NO_INDEX */
    bool holds_inner;     /* there is an INNER in this subtree */
    bool constant;        /* the value as a whole never changes (for a VALUE see its column) */
};

struct step_plan_record {
    uint32_t slot_count;
    uint32_t field_count;
    const uint32_t *field_nodes;  /* index of each field's node */
    bool checked;                 /* some values can violate the definition */
    bool flat;                    /* all slots are single values; */
    const uint32_t *slot_columns; /* column of each slot, if flat */
};

struct step_plan {
    const struct step_definition *definition;
    struct step_plan_column *columns;
    uint32_t column_count;
    struct step_plan_node *nodes;
    uint32_t node_count;
    uint32_t *children; /* node indexes */
    uint32_t child_count;
    struct step_plan_record *records;
    uint32_t *storage; /* memory of the arrays in records */
};

static inline const struct step_plan_node *step_node_child(const struct step_plan *plan,
                                                           const struct step_plan_node *node,
                                                           size_t child)
{
    return &plan->nodes[plan->children[node->first_child + child]];
}

/* Returns false for an array whose elements have no values at all. */
static inline bool step_node_has_values(const struct step_plan *plan,
                                        const struct step_plan_node *node)
{
    return node->kind != STEP_NODE_ARRAY || step_node_child(plan, node, 0)->slot_count > 0;
}

static inline bool step_node_has_column(const struct step_plan_node *node)
{
    return node->kind != STEP_NODE_RECORD && node->kind != STEP_NODE_INNER;
}

/* Returns the index of a VARIANT's child for a record type, or STEP_NO_INDEX. */
static inline uint32_t step_node_variant(const struct step_plan *plan,
                                         const struct step_plan_node *node, uint64_t record)
{
    for (uint32_t i = 0; i < node->child_count; i++)
        if (step_node_child(plan, node, i)->record == record)
            return i;
    return STEP_NO_INDEX;
}

/* Builds a plan.  INVALID with the reason: the definition cannot be planned; LIMIT: it is too
 * large. */
enum step_status step_plan_create(const struct step_definition *definition, struct step_plan **out,
                                  struct step_error *error);
/* Builds a plan only to find the fault: its place and reason. */
struct step_plan_place {
    uint32_t record;
    uint32_t field; /* not a field of the record: the record as a whole */
};
enum step_status step_plan_check(const struct step_definition *definition,
                                 struct step_plan_place *place, struct step_error *error);
void step_plan_destroy(struct step_plan *plan);

/* Returns the index of the column of that name, or STEP_NO_INDEX. */
uint32_t step_plan_find_column(const struct step_plan *plan, uint64_t record, uint64_t field,
                               uint64_t leaf);

/* Returns the column with a record's field as a single value, or STEP_NO_INDEX. */
static inline uint32_t step_field_column(const struct step_plan *plan, uint32_t record,
                                         uint64_t field)
{
    const struct step_plan_record *planned = &plan->records[record];
    if (field >= planned->field_count)
        return STEP_NO_INDEX;
    const struct step_plan_node *node = &plan->nodes[planned->field_nodes[field]];
    return node->kind == STEP_NODE_VALUE ? node->column : STEP_NO_INDEX;
}

#endif
