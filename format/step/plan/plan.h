/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The plan of a definition: which columns its records are cut into, and how the slots of a record
 * (steptrace/value.h) map to them.  Writer and reader derive the same plan from the same
 * definition, by the rules in docs/formats/step.md.
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
    STEP_COLUMN_NUMBERS /* of values that are numbered; a block may lack it */
};

struct step_plan_column {
    enum step_column_kind kind;
    uint32_t record; /* the record, its field, and the number of the column in the field: */
    uint32_t field;  /* together the column's name in the file */
    uint32_t leaf;
    bool in_array;         /* there is not exactly one value for each record */
    uint32_t given_field;  /* top-level fields: the other field, or STEP_NO_INDEX */
    uint32_t given_column; /* fields of nested records: the other column, or STEP_NO_INDEX */
    uint32_t stack_record; /* the type that pushes, or STEP_NO_INDEX */
    uint32_t age_column;   /* whose latest value is the measure, or STEP_NO_INDEX */
    struct step_links {    /* what `linked` names; `key` STEP_NO_INDEX: nothing */
        uint32_t key;      /* a field of the record */
        uint32_t holder;   /* likewise, or STEP_NO_INDEX */
        uint32_t newest;   /* a column, or STEP_NO_INDEX */
    } links;
    bool apart; /* in columns it heeds none of these: it would wait for itself */
    struct step_field_coding field_coding;
};

enum step_node_kind {
    STEP_NODE_VALUE,
    STEP_NODE_BYTES,
    STEP_NODE_ARRAY,
    STEP_NODE_RECORD,
    STEP_NODE_VARIANT,
    STEP_NODE_TREE,    /* a variant that may hold itself */
    STEP_NODE_INNER,   /* a variant within a tree */
    STEP_NODE_NUMBERED /* a value that is given once in a block, and then by its number */
};

/* A field's value as a tree.  `column`: of a VALUE its values, of BYTES and ARRAY the lengths (the
 * bytes are in the column after it); of a VARIANT the record types; of a NUMBERED the
 * numbers, 0 where the value is given; of a RECORD and an INNER nothing. A TREE is stored as an
 * array of VARIANTs, whose lengths `column` has: first the value itself, then all that it holds,
 * level by level; the last child of these is a RECORD without fields that stands for none, and has
 * the number after the last record type. */
struct step_plan_node {
    enum step_node_kind kind;
    uint32_t column;
    uint32_t slot_count;  /* slots of one value */
    uint32_t child_count; /* ARRAY, TREE: 1, the element; NUMBERED: 1, the value; RECORD: its
                             fields; VARIANT: RECORDs */
    uint32_t first_child; /* index into plan->children */
    uint32_t record;      /* of RECORD: its type; of TREE and INNER the field's; of a TREE's VARIANT
                             the number of none; else STEP_NO_INDEX */
    bool holds_inner;     /* there is an INNER at or below it */
    bool constant;        /* the value as a whole never changes (of a VALUE its column tells) */
};

struct step_plan_record {
    uint32_t slot_count;
    uint32_t field_count;
    const uint32_t *field_nodes;  /* index of each field's node */
    bool checked;                 /* some values can be against the definition */
    bool flat;                    /* all slots are single values: */
    const uint32_t *slot_columns; /* then the column of each */
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
    uint32_t *storage; /* of the arrays in records */
};

/* The only child of a node that has one. */
static inline const struct step_plan_node *step_node_child(const struct step_plan *plan,
                                                           const struct step_plan_node *node)
{
    return &plan->nodes[plan->children[node->first_child]];
}

/* False for an array whose elements have no values at all. */
static inline bool step_node_has_values(const struct step_plan *plan,
                                        const struct step_plan_node *node)
{
    return node->kind != STEP_NODE_ARRAY ||
           plan->nodes[plan->children[node->first_child]].slot_count > 0;
}

static inline bool step_node_has_column(const struct step_plan_node *node)
{
    return node->kind != STEP_NODE_RECORD && node->kind != STEP_NODE_INNER;
}

/* The child of a VARIANT for a record type, by its place among them; STEP_NO_INDEX: none. */
static inline uint32_t step_node_variant(const struct step_plan *plan,
                                         const struct step_plan_node *node, uint64_t record)
{
    for (uint32_t i = 0; i < node->child_count; i++)
        if (plan->nodes[plan->children[node->first_child + i]].record == record)
            return i;
    return STEP_NO_INDEX;
}

/* INVALID for a definition that cannot be planned (says why), LIMIT for one too large. */
enum step_status step_plan_create(const struct step_definition *definition, struct step_plan **out,
                                  struct step_error *error);
/* The same, for nothing but what is wrong: where, and why. */
struct step_plan_place {
    uint32_t record;
    uint32_t field; /* none of the record's: the record as a whole */
};
enum step_status step_plan_check(const struct step_definition *definition,
                                 struct step_plan_place *place, struct step_error *error);
void step_plan_destroy(struct step_plan *plan);

/* Index of the column of that name, or STEP_NO_INDEX. */
uint32_t step_plan_find_column(const struct step_plan *plan, uint64_t record, uint64_t field,
                               uint64_t leaf);

/* The column that holds a record's field as a single value, or STEP_NO_INDEX. */
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
