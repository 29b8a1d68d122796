/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A decoded block as columns: borrowed if only the rows use a column, else gathered.
 *
 * A caller who wants a field of some record types as an array can mostly have the decoded column as
 * it is.  That is not possible if another type has values between the rows', if the types use
 * different columns, or if some have no such field.  Then one walk over the records copies the
 * values.
 *
 * Views and step_block_next() do not disturb each other: a walk starts from `first` of the cursors
 * and moves copies in `moved`, and `next` is left alone.  What is copied lives in the block's arena
 * and counts against its limit, until the next load.
 */
#include <string.h>

#include "format/step/columns/decoding.h"

/* How a local type takes part in a column. */
struct part {
    struct step_slot_cursor *cursor; /* of the requested slot; NULL: the type has no such slot */
    uint32_t moved;                  /* index in `moved` of the cursor that it shares, */
    bool moves;                      /* if there is one */
    bool is_row;
};

struct gathering {
    struct step_block *block;
    struct part *parts;           /* by local type */
    const uint64_t **moved;       /* by distinct cursor: its next value, */
    struct step_slot_cursor **of; /* and the cursor */
    size_t moved_count;
    size_t rows;
    bool all_have;   /* each row has the slot */
    bool one_cursor; /* all rows use the same column */
    bool others;     /* records that are not rows use the same column */
};

static enum step_status block_view_refuse(struct step_error *error, const char *message)
{
    return step_error_set(error, STEP_STATUS_INVALID, NULL, STEP_NO_OFFSET, "%s", message);
}

static void *block_view_take(struct step_block *block, uint64_t count, size_t size,
                             enum step_status *status, struct step_error *error)
{
    void *memory = step_arena_take(&block->arena, count, size);
    if (memory == NULL)
        *status = step_error_set(
            error, block->arena.limited ? STEP_STATUS_LIMIT : STEP_STATUS_NO_MEMORY, NULL,
            STEP_NO_OFFSET,
            block->arena.limited ? "the block passes the limit of memory" : "out of memory");
    return memory;
}

/* A type that was not wanted, or could not be decoded, has no rows.  Each view of a block uses the
 * same rule, so that row i is the same record in all of them. */
static bool is_row(const struct step_block *block, const struct step_block_type *type,
                   uint32_t record)
{
    return type->wanted && step_record_extends(block->definition, type->record, record);
}

static enum step_status block_view_start(struct gathering *gathering, struct step_block *block,
                                         struct step_error *error)
{
    enum step_status status = STEP_STATUS_OK;
    *gathering = (struct gathering){.block = block, .all_have = true, .one_cursor = true};
    gathering->parts =
        block_view_take(block, block->type_count, sizeof *gathering->parts, &status, error);
    gathering->moved =
        block_view_take(block, block->type_count, sizeof *gathering->moved, &status, error);
    gathering->of =
        block_view_take(block, block->type_count, sizeof *gathering->of, &status, error);
    if (status == STEP_STATUS_OK)
        memset(gathering->parts, 0, block->type_count * sizeof *gathering->parts);
    return status;
}

/* Finds the rows' cursors of the slot.  Types that inherited the field unchanged have the same
 * cursor, so comparing addresses shows which of them share a column.  The search is linear, as
 * there is one cursor for each variation of the field at most. */
static enum step_status find_rows(struct gathering *gathering, uint32_t record, uint32_t owner,
                                  size_t slot, struct step_error *error)
{
    struct step_block *block = gathering->block;
    for (size_t i = 0; i < block->type_count; i++) {
        const struct step_block_type *type = &block->block_types[i];
        struct part *part = &gathering->parts[i];
        part->is_row = is_row(block, type, record);
        if (!part->is_row)
            continue;
        gathering->rows += (size_t) type->count;
        if (!step_record_extends(block->definition, type->record, owner)) {
            gathering->all_have = false;
            continue;
        }
        if (slot >= type->slot_count)
            return block_view_refuse(error, "the record has no such slot");
        part->cursor = type->slots[slot];
        if (part->cursor->first == NULL)
            return block_view_refuse(error, "the field was not requested");
        size_t at = 0;
        while (at < gathering->moved_count && gathering->of[at] != part->cursor)
            at++;
        if (at == gathering->moved_count) {
            gathering->of[at] = part->cursor;
            gathering->moved[at] = part->cursor->first;
            gathering->moved_count++;
        }
        part->moved = (uint32_t) at;
        part->moves = true;
    }
    gathering->one_cursor = gathering->moved_count <= 1;
    return STEP_STATUS_OK;
}

/* Finds records without the slot of `owner` whose values are in the same columns, between the
 * rows'. They make the difference between borrowing and gathering, and their values must be passed
 * over. */
static void find_others(struct gathering *gathering)
{
    struct step_block *block = gathering->block;
    for (size_t i = 0; i < block->type_count; i++) {
        const struct step_block_type *type = &block->block_types[i];
        struct part *part = &gathering->parts[i];
        for (size_t at = 0; part->cursor == NULL && at < gathering->moved_count; at++)
            for (size_t k = 0; k < type->slot_count && !part->moves; k++) {
                if (type->slots[k] != gathering->of[at])
                    continue;
                part->moves = true;
                part->moved = (uint32_t) at;
                gathering->others = gathering->others || gathering->of[at]->step != 0;
            }
    }
}

/* A column has the values of all types that share it, in the order of the records.  So its cursor
 * moves for each record that has a value in it, whether that is a row or not; a record that were
 * passed over would shift all values after it by one.  Types that share a column share the cursor's
 * copy in `moved` for the same reason.  A cursor with step 0 stands: all values are equal. */
static void block_view_gather(const struct gathering *gathering, uint64_t *out, uint8_t *validity)
{
    const struct step_block *block = gathering->block;
    size_t row = 0;
    for (uint64_t i = 0; i < block->record_count; i++) {
        const struct part *part = &gathering->parts[block->types != NULL ? block->types[i] : 0];
        const uint64_t *value = NULL;
        if (part->moves) {
            value = gathering->moved[part->moved];
            gathering->moved[part->moved] += gathering->of[part->moved]->step;
        }
        if (!part->is_row)
            continue;
        out[row] = part->cursor != NULL ? *value : 0;
        if (validity != NULL && part->cursor != NULL)
            validity[row / 8] |= (uint8_t) (1u << row % 8);
        row++;
    }
}

/* The bits of validity exist only if some row lacks the field.  Arena memory is not zeroed, and
 * block_view_gather() only sets bits. */
static enum step_status block_view_copy(const struct gathering *gathering,
                                        struct step_column_view *view, struct step_error *error)
{
    enum step_status status = STEP_STATUS_OK;
    uint8_t *validity = NULL;
    uint64_t *values =
        block_view_take(gathering->block, view->count, sizeof *values, &status, error);
    if (!gathering->all_have && status == STEP_STATUS_OK) {
        validity = block_view_take(gathering->block, view->count / 8 + 1, 1, &status, error);
        if (validity != NULL)
            memset(validity, 0, view->count / 8 + 1);
    }
    if (status != STEP_STATUS_OK)
        return status;
    block_view_gather(gathering, values, validity);
    view->values = values;
    view->step = 1;
    view->validity = validity;
    return status;
}

/* The arguments are checked before the empty block, so that a wrong call fails for each block and
 * not only for those with records.  A column is borrowed if three things hold: each row has the
 * slot, all rows use one cursor, and nothing between them does. */
enum step_status step_block_column(struct step_block *block, uint32_t record, uint32_t owner,
                                   size_t slot, struct step_column_view *view,
                                   struct step_error *error)
{
    struct gathering gathering;
    *view = (struct step_column_view){0};
    if (block->definition == NULL || record >= block->definition->record_count ||
        owner >= block->definition->record_count)
        return block_view_refuse(error, "there is no such record");
    if (!step_record_extends(block->definition, owner, record))
        return block_view_refuse(error, "the record does not extend the other");
    if (block->record_count == 0) /* nothing was decoded */
        return STEP_STATUS_OK;
    enum step_status status = block_view_start(&gathering, block, error);
    if (status == STEP_STATUS_OK)
        status = find_rows(&gathering, record, owner, slot, error);
    if (status != STEP_STATUS_OK)
        return status;
    view->count = gathering.rows;
    if (view->count == 0)
        return STEP_STATUS_OK;
    find_others(&gathering);
    if (!gathering.all_have || !gathering.one_cursor || gathering.others)
        return block_view_copy(&gathering, view, error);
    view->values = gathering.of[0]->first;
    view->step = gathering.of[0]->step;
    return STEP_STATUS_OK;
}

/* One record type for all rows needs one value.  It is common: a caller who asks for a type that
 * nothing extends has no other case. */
enum step_status step_block_types(struct step_block *block, uint32_t record,
                                  struct step_column_view *view, struct step_error *error)
{
    enum step_status status = STEP_STATUS_OK;
    *view = (struct step_column_view){0};
    if (block->definition == NULL || record >= block->definition->record_count)
        return block_view_refuse(error, "there is no such record");
    if (block->record_count == 0)
        return STEP_STATUS_OK;
    size_t kinds = 0;
    uint32_t only = 0;
    uint8_t *rows = block_view_take(block, block->type_count, 1, &status, error);
    for (size_t i = 0; rows != NULL && i < block->type_count; i++) {
        rows[i] = is_row(block, &block->block_types[i], record);
        if (rows[i] == 0)
            continue;
        view->count += (size_t) block->block_types[i].count;
        only = block->block_types[i].record;
        kinds++;
    }
    uint64_t *values =
        block_view_take(block, kinds > 1 ? view->count : 1, sizeof *values, &status, error);
    if (status != STEP_STATUS_OK)
        return status;
    values[0] = only;
    for (uint64_t i = 0, row = 0; kinds > 1 && i < block->record_count; i++) {
        size_t local = block->types != NULL ? block->types[i] : 0;
        if (rows[local] != 0)
            values[row++] = block->block_types[local].record;
    }
    view->values = values;
    view->step = kinds > 1;
    return status;
}
