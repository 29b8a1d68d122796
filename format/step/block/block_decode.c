/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decodes a block: its record types, then its layout.
 *
 * Decoding has three steps.  The summary gives the types and the number of values of each column
 * outside arrays (prepare_types()). The layout gives the columns: in rows all of them, in columns a
 * directory, of which only what is wanted is decoded.  Then each wanted type gets a cursor for each
 * of its slots (decode_type()), and reading a record is taking a value from each
 * (step_block_next()).
 *
 * A type that uses an encoding which this library does not know is skipped with its records; the
 * others are read.  Damage loses the whole block.
 */
#include "format/step/block/block_decode.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/step/block/block_read.h"
#include "format/step/rows/row_read.h"
#include "steptrace/records.h"

enum step_status step_block_reader_init(struct step_block_reader *reader,
                                        const struct step_plan *plan)
{
    *reader = (struct step_block_reader){.plan = plan};
    return step_decompressor_create(&reader->decompressor);
}

void step_block_reader_reset(struct step_block_reader *reader)
{
    step_decompressor_destroy(reader->decompressor);
    step_scratch_reset(&reader->scratch);
    step_arena_reset(&reader->temporary);
    step_row_reader_destroy(reader->rows);
    *reader = (struct step_block_reader){0};
}

/* Indexed by layout; those that contain records. */
static enum step_status (*const layouts[])(struct step_decoding *) = {
    [STEP_LAYOUT_COLUMNS] = step_decoding_columns, [STEP_LAYOUT_ROWS] = step_decoding_rows};

/* Slots that were not requested have a cursor that stands on this. */
static const uint64_t no_value;

static bool block_decode_is_known(uint64_t layout)
{
    return layout < sizeof layouts / sizeof layouts[0] && layouts[layout] != NULL;
}

static const struct step_plan_node *field_node(const struct step_decoding *decoding,
                                               const struct step_block_type *type, uint32_t field)
{
    const struct step_plan_record *record = &decoding->plan->records[type->record];
    return &decoding->plan->nodes[record->field_nodes[field]];
}

/* Skips a field that was not requested; its slots stay 0.  All such slots share one cursor, with
 * step 0 so that it never moves, and without `first`, by which a view recognises it (block_view.c).
 */
static enum step_status leave_out(struct step_decoding *decoding, const struct step_plan_node *node,
                                  struct step_slot_cursor ***slots)
{
    enum step_status status = STEP_STATUS_OK;
    if (decoding->nothing == NULL) {
        decoding->nothing = step_decoding_take(decoding, 1, sizeof *decoding->nothing, &status);
        if (decoding->nothing == NULL)
            return status;
        *decoding->nothing = (struct step_slot_cursor){.next = &no_value};
    }
    for (uint32_t i = 0; i < node->slot_count; i++)
        *(*slots)++ = decoding->nothing;
    return status;
}

/* A type with an unknown encoding is turned into one that is not wanted, and its records are
 * counted as a gap.  The slots that it has so far are overwritten by pass_over(), which runs after
 * all types are decoded.  The message of the first gap stands for all. */
static enum step_status decode_type(struct step_decoding *decoding, struct step_block_type *type,
                                    struct step_block_gap *gap)
{
    struct step_slot_cursor **next = type->slots;
    uint32_t field_count = decoding->plan->records[type->record].field_count;
    const uint8_t *fields = decoding->fields != NULL ? decoding->fields[type->record] : NULL;
    for (uint32_t i = 0; i < field_count; i++) {
        const struct step_plan_node *node = field_node(decoding, type, i);
        enum step_status status = fields == NULL || fields[i] != 0
                                      ? step_decoding_slots(decoding, node, &next)
                                      : leave_out(decoding, node, &next);
        if (status == STEP_STATUS_UNSUPPORTED) {
            type->wanted = false;
            if (gap->records == 0)
                snprintf(gap->message, sizeof gap->message, "%.110s", decoding->error->message);
            gap->records += type->count;
            return STEP_STATUS_OK;
        }
        if (status != STEP_STATUS_OK)
            return status;
    }
    return STEP_STATUS_OK;
}

/* A type that is not wanted may share columns with one that is.  Its records advance the shared
 * cursors, or the other type's values would shift. */
static void pass_over(struct step_decoding *decoding, struct step_block_type *type)
{
    struct step_slot_cursor **next = type->slots;
    uint32_t field_count = decoding->plan->records[type->record].field_count;
    for (uint32_t i = 0; i < field_count; i++)
        step_decoding_moved(decoding, field_node(decoding, type, i), &next);
    type->slot_count = (size_t) (next - type->slots);
}

/* Lists the record types of the block, and computes the number of values of each column.  Types
 * that are not wanted count as well: they may share columns with wanted ones, whose values would be
 * too few without theirs.  The summary was checked, so the numbers are in range and the varints are
 * there (block_summary.c). */
static enum step_status prepare_types(struct step_decoding *decoding,
                                      const struct step_summary *summary, bool *any_wanted)
{
    struct step_block *block = decoding->block;
    struct step_cursor cursor = step_cursor_of(summary->bytes, summary->length);
    enum step_status status = STEP_STATUS_OK;
    size_t most_slots = 1;
    block->type_count = (size_t) summary->count;
    block->block_types =
        step_decoding_take(decoding, summary->count, sizeof *block->block_types, &status);
    decoding->records =
        step_decoding_borrow(decoding, summary->count, sizeof *decoding->records, &status);
    if (block->block_types == NULL || decoding->records == NULL)
        return status;
    for (size_t i = 0; i < block->type_count; i++) {
        uint64_t record = 0;
        uint64_t count = 0;
        step_cursor_varint(&cursor, &record);
        step_cursor_varint(&cursor, &count);
        const struct step_plan_record *planned = &decoding->plan->records[record];
        struct step_block_type *type = &block->block_types[i];
        *type = (struct step_block_type){
            .record = (uint32_t) record,
            .wanted = decoding->fields != NULL
                          ? decoding->fields[record] != NULL
                          : decoding->wanted == NULL || decoding->wanted[record] != 0,
            .count = count,
            .slot_count = planned->slot_count,
        };
        decoding->records[i] = type->record;
        type->slots = step_decoding_take(decoding, planned->slot_count,
                                         sizeof(struct step_slot_cursor *), &status);
        if (type->slots == NULL)
            return status;
        *any_wanted = *any_wanted || type->wanted;
        most_slots = planned->slot_count > most_slots ? planned->slot_count : most_slots;
        for (uint32_t k = 0; k < planned->field_count; k++)
            step_decoding_count(decoding, field_node(decoding, type, k), count);
    }
    block->slots = step_decoding_take(decoding, most_slots, sizeof *block->slots, &status);
    return status;
}

/*
 * The order matters:
 *
 *   states     all columns are ABSENT (0) before the directory lists some
 *   summary    the types and counts, which both layouts need to check what they read
 *   layout     skipped if no type is wanted; the block then costs its summary only
 *   wanted     each wanted type gets its cursors, which decodes the columns it needs
 *   others     last, because pass_over() finds only cursors that exist.  A type that turned out to
 *              be unsupported is among them.
 */
static enum step_status decode(struct step_decoding *decoding, struct step_block_gap *gap)
{
    struct step_block *block = decoding->block;
    size_t column_count = decoding->plan->column_count;
    enum step_status status = STEP_STATUS_OK;
    decoding->columns =
        step_decoding_borrow(decoding, column_count, sizeof *decoding->columns, &status);
    decoding->series =
        step_decoding_borrow(decoding, column_count, sizeof *decoding->series, &status);
    if (decoding->columns == NULL || decoding->series == NULL)
        return status;
    memset(decoding->columns, 0, column_count * sizeof *decoding->columns);
    memset(decoding->series, 0, column_count * sizeof *decoding->series);
    struct step_summary summary;
    const char *fault;
    if (!step_summary_parse(decoding->payload->bytes, decoding->payload->header,
                            decoding->plan->definition->record_count, &summary, &fault))
        return step_decoding_fail(decoding, STEP_STATUS_CORRUPT, NULL, "%s", fault);
    bool any_wanted = false;
    status = prepare_types(decoding, &summary, &any_wanted);
    if (status != STEP_STATUS_OK)
        return status;
    if (!any_wanted) {
        block->at = block->record_count;
        return status;
    }
    status = layouts[decoding->payload->header->layout](decoding);
    for (size_t i = 0; i < block->type_count && status == STEP_STATUS_OK; i++)
        if (block->block_types[i].wanted)
            status = decode_type(decoding, &block->block_types[i], gap);
    for (size_t i = 0; i < block->type_count && status == STEP_STATUS_OK; i++)
        if (!block->block_types[i].wanted)
            pass_over(decoding, &block->block_types[i]);
    return status;
}

/* Whatever fails, the block has no records afterwards, so that a caller who goes on with it sees an
 * empty block and never a half-decoded one. */
enum step_status step_block_decode(struct step_block_reader *reader,
                                   const struct step_payload *payload,
                                   const struct step_block_request *request, uint64_t memory_limit,
                                   struct step_block *block, struct step_block_gap *gap,
                                   struct step_error *error)
{
    struct step_error local;
    struct step_decoding decoding = {
        .reader = reader,
        .plan = reader->plan,
        .payload = payload,
        .wanted = request->wanted,
        .fields = request->fields,
        .block = block,
        .error = error != NULL ? error : &local,
    };
    *gap = (struct step_block_gap){0};
    step_arena_clear(&block->arena, memory_limit);
    step_arena_clear(&reader->temporary, memory_limit);
    block->record_count = payload->header->record_count;
    block->at = 0;
    block->type_count = 0;
    block->types = NULL;
    block->definition = reader->plan->definition;
    enum step_status status = STEP_STATUS_UNSUPPORTED;
    if (block_decode_is_known(payload->header->layout))
        status = decode(&decoding, gap);
    else
        step_decoding_fail(&decoding, status, NULL,
                           "the block's layout %u is not known to this library",
                           payload->header->layout);
    if (status != STEP_STATUS_OK)
        block->record_count = 0;
    return status;
}

enum step_status step_block_decode_bytes(struct step_block_reader *reader,
                                         const struct step_payload *payload, uint64_t most,
                                         struct step_buffer *out, struct step_error *error)
{
    if (payload->header->layout != STEP_LAYOUT_BYTES)
        return step_error_set(error, STEP_STATUS_CORRUPT, payload->file, payload->offset,
                              "the block is damaged");
    return step_block_expand(reader, payload, most, out, error);
}

/* Slots are copied from the cursors, because a caller sees a record as one array; a cursor with
 * step 0 gives the same value each time.  Types share the cursor of a shared column.  Therefore the
 * cursor stands at the value of the current record whatever types came before, provided that
 * skipped records move it, too.  No end is checked: the types agree with the counts (read_types()).
 */
enum step_status step_block_next(struct step_block *block, struct step_record_view *view)
{
    while (block->at < block->record_count) {
        size_t local = block->types != NULL ? block->types[block->at] : 0;
        const struct step_block_type *type = &block->block_types[local];
        block->at++;
        if (!type->wanted) {
            for (size_t i = 0; i < type->slot_count; i++)
                type->slots[i]->next += type->slots[i]->step;
            continue;
        }
        for (size_t i = 0; i < type->slot_count; i++) {
            struct step_slot_cursor *cursor = type->slots[i];
            block->slots[i] = *cursor->next;
            cursor->next += cursor->step;
        }
        view->record = type->record;
        view->slots = block->slots;
        return STEP_STATUS_OK;
    }
    return STEP_STATUS_END;
}

/* Counts the records of the run: those of the local type that come next, while their times are
 * below `before`. */
static size_t run_length(const struct step_block *block, size_t local,
                         const struct step_slot_cursor *time, uint64_t before, size_t most)
{
    const uint16_t *types = block->types != NULL ? block->types + block->at : NULL;
    const uint64_t *times = time->next;
    size_t count = 0;
    while (count < most && (types == NULL || types[count] == local) && *times < before) {
        times += time->step;
        count++;
    }
    return count;
}

/* The cursors are passed over at once; what they passed stays where it is. */
size_t step_block_run(struct step_block *block, uint32_t record, size_t time_slot, uint64_t before,
                      size_t most, struct step_records_run *run)
{
    if (block->at == block->record_count)
        return 0;
    size_t local = block->types != NULL ? block->types[block->at] : 0;
    const struct step_block_type *type = &block->block_types[local];
    if (type->record != record || !type->wanted || time_slot >= type->slot_count ||
        type->slot_count > STEP_RUN_SLOTS)
        return 0;
    uint64_t left = block->record_count - block->at;
    run->record = record;
    run->count = run_length(block, local, type->slots[time_slot], before,
                            left < most ? (size_t) left : most);
    for (size_t i = 0; i < type->slot_count && run->count > 0; i++) {
        struct step_slot_cursor *cursor = type->slots[i];
        run->slots[i].values = cursor->next;
        run->slots[i].step = cursor->step;
        cursor->next += cursor->step * run->count;
    }
    block->at += run->count;
    return run->count;
}

size_t step_block_memory(const struct step_block *block)
{
    return sizeof *block + block->arena.total;
}

void step_block_destroy(struct step_block *block)
{
    if (block == NULL)
        return;
    step_arena_reset(&block->arena);
    free(block);
}
