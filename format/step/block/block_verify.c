/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Verifies an encoded block: decodes it and compares it column by column.
 *
 *   bytes -> block -> records -> pending rows -> columns, compared with the writer's columns
 *
 * The way back ends where the writer began, with the functions that the writer used.  So the
 * comparison needs no rules of its own: rounding, the numbers of equal values, and the types of the
 * block come from the same code on both sides.  The block is read as any reader would do it, with
 * no knowledge of how it was made.
 */
#include "format/step/block/block_verify.h"

#include <stdlib.h>
#include <string.h>

#include "format/core/checksum.h"
#include "format/core/step_no_memory.h"

struct step_block_verifier {
    struct step_block_reader reader;
    struct step_block block;
    struct step_pending rows;
    struct step_columns *columns;
};

enum step_status step_block_verifier_create(const struct step_plan *plan,
                                            struct step_block_verifier **out)
{
    struct step_block_verifier *verifier = *out = calloc(1, sizeof *verifier);
    if (verifier == NULL)
        return STEP_STATUS_NO_MEMORY;
    enum step_status status = step_block_reader_init(&verifier->reader, plan);
    return status == STEP_STATUS_OK ? step_columns_create(plan, &verifier->columns) : status;
}

void step_block_verifier_destroy(struct step_block_verifier *verifier)
{
    if (verifier == NULL)
        return;
    step_arena_reset(&verifier->block.arena);
    step_block_reader_reset(&verifier->reader);
    step_pending_reset(&verifier->rows);
    step_columns_destroy(verifier->columns);
    free(verifier);
}

/* Reads the block into rows, like those given to a writer.
 *
 * The checksum is compared, too, although this process has just made it: the bytes are what will be
 * in the file, and an error in them must be found before a trace is replaced.  The limit of memory
 * is the one that a reader has for the smallest file (reader_room.c), so a block that passes here
 * fits a reader that holds nothing else.  A gap is a failure, since other readers would skip its
 * records. */
static enum step_status read_back(struct step_block_verifier *verifier,
                                  const struct step_buffer *bytes, struct step_error *error)
{
    struct step_block_header header;
    struct step_block_gap gap = {0};
    struct step_record_view view;
    struct step_payload payload = {&header, bytes->data + STEP_BLOCK_HEADER_BYTES, STEP_NO_OFFSET,
                                   NULL};
    if (!step_block_header_unpack(bytes->data, &header) ||
        step_checksum(payload.bytes, (size_t) header.payload_bytes) != header.payload_checksum)
        return step_error_set(error, STEP_STATUS_INVALID, NULL, STEP_NO_OFFSET,
                              "the block is damaged");
    const struct step_block_request all = {0};
    enum step_status status = step_block_decode(
        &verifier->reader, &payload, &all, STEP_MAX_READER_MEMORY, &verifier->block, &gap, error);
    if (status == STEP_STATUS_OK && gap.records > 0)
        return step_error_set(error, STEP_STATUS_INVALID, NULL, STEP_NO_OFFSET, "%s", gap.message);
    step_pending_clear(&verifier->rows);
    while (status == STEP_STATUS_OK && step_block_next(&verifier->block, &view) == STEP_STATUS_OK)
        status =
            step_pending_append(&verifier->rows, verifier->reader.plan, view.record, view.slots);
    return status;
}

/* One side may have a single value for all (`step` 0) and the other an array of equal ones: the
 * writer's rows may be held by columns, and those read back are not. */
static bool same_series(const struct step_series *left, const struct step_series *right,
                        size_t count)
{
    bool same = true;
    for (size_t i = 0; i < count && same; i++)
        same = left->values[i * left->step] == right->values[i * right->step];
    return same;
}

/* Counts first, as they bound the comparison.  The bytes of NUMBERS are the stored values
 * themselves; their length is compared, and their contents are in the other columns. */
static bool same_column(const struct step_columns *left, const struct step_columns *right,
                        uint32_t column)
{
    const struct step_column_data *a = &left->columns[column], *b = &right->columns[column];
    if (a->count != b->count || a->bytes.length != b->bytes.length)
        return false;
    if (left->plan->columns[column].kind == STEP_COLUMN_BYTES)
        return a->bytes.length == 0 || memcmp(a->bytes.data, b->bytes.data, a->bytes.length) == 0;
    return same_series(&left->series[column], &right->series[column], a->count);
}

/* With one type, `local_types` is not filled (number_types()), and there is nothing to compare. */
static bool same_types(const struct step_columns *left, const struct step_columns *right)
{
    bool same = left->record_count == right->record_count && left->type_count == right->type_count;
    for (size_t i = 0; same && i < left->type_count; i++)
        same = left->records[i] == right->records[i] && left->counts[i] == right->counts[i];
    return same &&
           (left->type_count < 2 || memcmp(left->local_types, right->local_types,
                                           left->record_count * sizeof *left->local_types) == 0);
}

/* The columns in use are compared before their contents: both lists are sorted, so the same columns
 * are at the same places.  A failure of the reader keeps its message behind the common prefix.  The
 * status is always INVALID, as the fault is in this library and not in a file. */
enum step_status step_block_verify(struct step_block_verifier *verifier,
                                   const struct step_columns *columns,
                                   const struct step_buffer *bytes, struct step_error *error)
{
    enum step_status status = read_back(verifier, bytes, error);
    if (status == STEP_STATUS_OK)
        status = step_columns_fill(verifier->columns, &verifier->rows);
    if (status == STEP_STATUS_NO_MEMORY)
        return step_no_memory(error, NULL);
    bool same = status == STEP_STATUS_OK && same_types(columns, verifier->columns) &&
                columns->used_count == verifier->columns->used_count;
    for (size_t i = 0; same && i < columns->used_count; i++)
        same = columns->used[i] == verifier->columns->used[i] &&
               same_column(columns, verifier->columns, columns->used[i]);
    if (same)
        return STEP_STATUS_OK;
    if (status == STEP_STATUS_OK)
        step_error_set(error, STEP_STATUS_INVALID, NULL, STEP_NO_OFFSET, "it reads as others");
    step_error_prefix(error, "records that were written cannot be read again");
    error->status = STEP_STATUS_INVALID;
    error->offset = STEP_NO_OFFSET;
    return STEP_STATUS_INVALID;
}
