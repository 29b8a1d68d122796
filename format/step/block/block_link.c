/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Converts the list of all values of a tree to values that contain each other.
 *
 * The writer put the values level by level: after a value come the values that it holds, in order,
 * then those that these hold (pending_records.c). So one pass suffices.  `next` is the first value
 * without a holder; each place for a value in the tree, met in the same order, takes that one.  At
 * the end all must have been taken.  Depths are counted along, so that no later walk over the tree
 * can exhaust the stack.
 *
 * The result is a tree whatever the file says: `next` only grows, so each value gets one holder,
 * and a value is linked only after it was taken (`at < next`), so its holder comes before it.  No
 * circle can be expressed.  The work is bounded by the slots of the values, which are in memory
 * already.
 *
 * slots_fill() leaves the slots of INNER nodes as they are, which may be any memory.  Each is
 * written here, or the block is refused; none is read before.
 */
#include "format/step/block/block_decode.h"

/* The list is in order of levels: the values that a value contains come after it, in order. */
struct linking {
    const struct step_plan *plan;
    const uint64_t *list; /* slots of the variants */
    uint64_t end;
    uint64_t next;    /* the first without a parent so far */
    uint16_t *depths; /* depth of each value in the tree, from 1 */
    uint16_t depth;   /* of the current value */
};

/* Returns NULL, or the reason why it is not valid. */
static const char *link_node(struct linking *linking, const struct step_plan_node *node,
                             uint64_t *slots);

/* The depth is that of the holder, 0 for the tree's first value.  `type` is checked for each place:
 * the list mixes all types of the tree, and fill_types() has checked only that the tree allows
 * them. A caller that was given a value of another type would read slots that it does not have. */
static const char *link_inner(struct linking *linking, uint32_t type, uint64_t *slot)
{
    if (linking->next == linking->end)
        return "a tree whose list is too short";
    if (linking->depth == STEP_MAX_TREE_DEPTH)
        return "a tree that is too deep";
    *slot = linking->list[linking->next];
    uint32_t record = step_slot_variant(*slot)->record;
    if (record != STEP_NO_RECORD && !step_record_extends(linking->plan->definition, record, type))
        return "a value of a type that does not extend its field's type";
    linking->depths[linking->next++] = (uint16_t) (linking->depth + 1);
    return NULL;
}

static const char *link_array(struct linking *linking, const struct step_plan_node *element,
                              const struct step_array *array)
{
    uint64_t *slots = (uint64_t *) (uintptr_t) array->slots; /* allocated with the block */
    const char *fault = NULL;
    for (size_t i = 0; i < array->count && fault == NULL; i++)
        fault = link_node(linking, element, slots + i * element->slot_count);
    return fault;
}

static const char *link_node(struct linking *linking, const struct step_plan_node *node,
                             uint64_t *slots)
{
    const struct step_plan *plan = linking->plan;
    const char *fault = NULL;
    if (!node->holds_inner)
        return NULL;
    if (node->kind == STEP_NODE_INNER)
        return link_inner(linking, node->record, slots);
    if (node->kind == STEP_NODE_ARRAY)
        return link_array(linking, step_node_child(plan, node, 0), step_slot_array(slots[0]));
    for (uint32_t i = 0; i < node->child_count && fault == NULL; i++) {
        const struct step_plan_node *child = step_node_child(plan, node, i);
        fault = link_node(linking, child, slots);
        slots += child->slot_count;
    }
    return fault;
}

/* Links the children of the value at `at` in the list.  The child node exists, since fill_types()
 * refused types that have none. */
static const char *link_value(struct linking *linking, const struct step_plan_node *element,
                              uint64_t at)
{
    const struct step_plan *plan = linking->plan;
    const struct step_variant *variant = step_slot_variant(linking->list[at]);
    if (variant->record == STEP_NO_RECORD)
        return NULL;
    uint32_t place = step_node_variant(plan, element, variant->record);
    linking->depth = linking->depths[at];
    return link_node(linking, step_node_child(plan, element, place),
                     (uint64_t *) (uintptr_t) variant->slots);
}

/* The lists of all trees of the column follow each other in `list`.  A tree ends where its length
 * says: its places must take exactly that many values, or the rest of a list would be linked into
 * the next tree.  `end` is at most `total`, which is the sum of the lengths. */
enum step_status step_decoding_link(struct step_decoding *decoding,
                                    const struct step_plan_node *node, const uint64_t *list,
                                    uint64_t total, uint64_t count, uint64_t *out, size_t stride)
{
    const struct step_plan *plan = decoding->plan;
    const struct step_series *lengths = &decoding->series[node->column];
    const struct step_plan_node *element = step_node_child(plan, node, 0);
    enum step_status status = STEP_STATUS_OK;
    struct linking linking = {.plan = plan, .list = list};
    linking.depths = step_decoding_borrow(decoding, total, sizeof *linking.depths, &status);
    if (linking.depths == NULL)
        return status;
    const char *fault = NULL;
    for (uint64_t i = 0; i < count && fault == NULL; i++) {
        uint64_t at = linking.end;
        linking.end += lengths->values[i * lengths->step];
        linking.depth = 0;
        fault = link_inner(&linking, node->record, &out[i * stride]);
        for (; at < linking.next && fault == NULL; at++)
            fault = link_value(&linking, element, at);
        if (fault == NULL && linking.next != linking.end)
            fault = "a tree whose list is too long";
    }
    return fault == NULL ? status
                         : step_decoding_fail(decoding, STEP_STATUS_CORRUPT,
                                              decoding->columns[node->column].stored, "%s", fault);
}
