/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decodes blocks of layout ROWS to columns.  All bytes are untrusted.
 *
 * Rows are decoded into the same columns that the other layout has, so whatever comes after is
 * shared.  The numbers of values are not known in advance, as they are with columns: each column
 * grows as its values come, and `budget` counts what may still be decoded.  It is checked before
 * each value, since a few bytes can repeat a long string many times.
 *
 * The records must agree with the block's summary: each type as often as it is said there, and no
 * other.
 *
 * A value may take no bytes at all (`constant`, `default`, `stride`), so the end of the bytes does
 * not bound the loop over an array.  The budget does: each value of a column takes 8 bytes from it,
 * and an array of 2^60 default values ends with the limit of memory.
 */
#include "format/step/rows/row_read.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "format/core/grow.h"
#include "format/step/plan/record_series.h"

enum { KEPT_VALUES = 1 << 20 };

/* The following functions return NULL, or the fault. */
static const char memory[] = "out of memory";
static const char too_large[] = "the block passes the limit of memory";

/* Returns what the strategy needs at this value, as row_write_key_of() did when it was written.
 * Both look at the last value of the other column that has passed.  `given` needs the one of this
 * record, and gets it: the directory may only name an earlier field or leaf (read_given()). */
static uint64_t row_read_key_of(const struct step_row_reading *reading, uint32_t index)
{
    const struct step_plan *plan = reading->decoding->plan;
    const struct step_plan_column *column = &plan->columns[index];
    uint64_t reference = reading->reader->columns[index].given;
    enum step_series_kind needs = reading->reader->columns[index].encoder.strategy->needs;
    if (needs == STEP_SERIES_PUSHES)
        return step_record_extends(plan->definition, reading->record, (uint32_t) reference);
    uint32_t other =
        needs == STEP_SERIES_LATEST ? (uint32_t) reference
        : reference & 1 ? step_plan_find_column(plan, column->record, column->field, reference >> 1)
                        : step_field_column(plan, reading->record, reference >> 1);
    if (other == STEP_NO_INDEX)
        return 0;
    const struct step_column_data *data = &reading->reader->columns[other].data;
    return data->count > 0 ? data->values[data->count - 1] : 0;
}

static const char *row_read_push(struct step_row_reading *reading, struct step_column_data *data,
                                 uint64_t value)
{
    if (!step_budget_take(&reading->budget, sizeof value))
        return too_large;
    if (!STEP_MAKE_ROOM(data->values, data->capacity, data->count + 1))
        return memory;
    data->values[data->count++] = value;
    return NULL;
}

/* Reads the next value of a column, after the changes before it are applied. */
static const char *get_value(struct step_row_reading *reading, uint32_t index, uint64_t *value)
{
    struct step_row_reader *reader = reading->reader;
    struct step_encoder *encoder = &reader->columns[index].encoder;
    uint64_t key =
        encoder->strategy->needs != STEP_SERIES_NONE ? row_read_key_of(reading, index) : 0;
    const char *fault = step_encoder_get(encoder, key, &reading->cursor, value);
    return fault == NULL ? row_read_push(reading, &reader->columns[index].data, *value) : fault;
}

/* Bytes exist twice when they are handed over: in the column, and in the block.  Both count. */
static bool take_bytes(struct step_row_reading *reading, uint64_t length)
{
    bool in_column = step_budget_take(&reading->budget, length);
    return in_column && step_budget_take(&reading->budget, length);
}

/* The bytes must be there before the budget is asked: a length beyond the block is damage, and not
 * a matter of memory. */
static const char *get_bytes(struct step_row_reading *reading, uint32_t index, uint64_t length)
{
    const uint8_t *bytes;
    if (!step_cursor_bytes(&reading->cursor, length, &bytes))
        return "a length that passes the end of the block";
    if (!take_bytes(reading, length))
        return too_large;
    return step_buffer_append(&reading->reader->columns[index].data.bytes, bytes, (size_t) length)
               ? NULL
               : memory;
}

/* Copies bytes that the column already contains.  Room is made first: `bytes` may move, and a
 * pointer into it from before would be left behind.  This is where a few bytes of a file become
 * many, so the budget is taken for each copy. */
static const char *repeat_bytes(struct step_row_reading *reading, uint32_t index, size_t start,
                                uint64_t length)
{
    struct step_buffer *bytes = &reading->reader->columns[index].data.bytes;
    if (!take_bytes(reading, length))
        return too_large;
    if (!step_buffer_reserve(bytes, (size_t) length + 1))
        return memory;
    if (length > 0)
        memcpy(bytes->data + bytes->length, bytes->data + start, (size_t) length);
    bytes->length += (size_t) length;
    return NULL;
}

/* Reads a stored string, possibly without the common prefix with the previous one.  The prefix must
 * be within both strings.  `last_length` is 0 at the start, so the first string cannot share. */
static const char *get_given(struct step_row_reading *reading, uint32_t index)
{
    struct step_row_reader *reader = reading->reader;
    struct step_row_strings *strings = &reader->columns[index].strings;
    unsigned flags = reader->columns[index].encoder.policy.strings;
    uint64_t length;
    uint64_t shared = 0;
    size_t start = reader->columns[index + 1].data.bytes.length;
    const char *fault = get_value(reading, index, &length);
    if (fault == NULL && (flags & STEP_STRINGS_SHARED) != 0)
        fault = step_row_number(reading, &shared);
    if (fault == NULL && (shared > length || shared > strings->last_length))
        fault = "a string that shares more than there is";
    if (fault == NULL)
        fault = repeat_bytes(reading, index + 1, strings->last_start, shared);
    if (fault == NULL)
        fault = get_bytes(reading, index + 1, length - shared);
    if (fault != NULL)
        return fault;
    strings->last_start = start;
    strings->last_length = (size_t) length;
    bool numbered = (flags & STEP_STRINGS_NUMBERED) != 0;
    return !numbered || step_string_number_next(&strings->numbers, start, (size_t) length) ? NULL
                                                                                           : memory;
}

/* Reads a string whose encoder has a policy: stored, or by number.  The change before a stored one
 * is valid for one string.  The place of a string is copied from `numbers`, and the column still
 * has its bytes, which are never removed within a block. */
static const char *get_string(struct step_row_reading *reading, uint32_t index)
{
    struct step_row_reader *reader = reading->reader;
    struct step_encoder *encoder = &reader->columns[index].encoder;
    const struct step_string_numbers *numbers = &reader->columns[index].strings.numbers;
    uint64_t number;
    if ((encoder->policy.strings & STEP_STRINGS_NUMBERED) == 0 || encoder->spells) {
        encoder->spells = false;
        return get_given(reading, index);
    }
    const char *fault = step_row_number(reading, &number);
    if (fault == NULL && (number == 0 || number > numbers->count))
        fault = "an identifier that was never defined";
    if (fault != NULL)
        return fault;
    const struct step_string_place place = numbers->places[number - 1];
    fault = row_read_push(reading, &reader->columns[index].data, place.length);
    return fault == NULL ? repeat_bytes(reading, index + 1, place.start, place.length) : fault;
}

/* Reads the next value of a node's column; `value` is the number of children, or the type. */
static const char *get_column(struct step_row_reading *reading, const struct step_plan_node *node,
                              uint64_t *value)
{
    if (reading->decoding->columns[node->column].state != STEP_COLUMN_LISTED)
        return "a field that the directory does not list";
    const char *fault = step_row_settle(reading);
    if (fault != NULL)
        return fault;
    bool bytes = node->kind == STEP_NODE_BYTES;
    if (bytes && reading->reader->columns[node->column].encoder.policy.strings != 0)
        return get_string(reading, node->column);
    fault = get_value(reading, node->column, value);
    return fault == NULL && bytes ? get_bytes(reading, node->column + 1, *value) : fault;
}

static const char *get_node(struct step_row_reading *reading, const struct step_plan_node *node);

/* Reads a numbered value: a stored one, which a change announces, or the number of an earlier one.
 * The change (`spells`) stands before the value's first byte, so changes are applied before it is
 * known which of the two follows. */
static const char *get_numbered(struct step_row_reading *reading, const struct step_plan_node *node)
{
    struct step_row_reader *reader = reading->reader;
    struct step_encoder *encoder = &reader->columns[node->column].encoder;
    struct step_string_numbers *numbers = &reader->columns[node->column].strings.numbers;
    const struct step_plan_node *given = step_node_child(reading->decoding->plan, node, 0);
    uint64_t number;
    if (reading->decoding->columns[node->column].state != STEP_COLUMN_LISTED)
        return get_node(reading, given);
    const char *fault = reading->changes > 0 ? step_row_changes(reading) : NULL;
    if (fault == NULL && encoder->spells) {
        encoder->spells = false;
        if (!step_string_number_next(numbers, 0, 0))
            return memory;
        fault = row_read_push(reading, &reader->columns[node->column].data, 0);
        return fault == NULL ? get_node(reading, given) : fault;
    }
    if (fault == NULL)
        fault = step_row_settle(reading);
    if (fault == NULL)
        fault = get_value(reading, node->column, &number);
    if (fault == NULL && (number == 0 || number > numbers->count))
        fault = "the number of an undefined value";
    return fault;
}

static const char *get_node(struct step_row_reading *reading, const struct step_plan_node *node)
{
    const struct step_plan *plan = reading->decoding->plan;
    uint64_t value = 1;
    const char *fault = NULL;
    if (node->kind == STEP_NODE_NUMBERED)
        return get_numbered(reading, node);
    if (node->kind == STEP_NODE_INNER)
        return step_budget_take(&reading->budget, sizeof value) ? NULL : too_large;
    if (step_node_has_column(node))
        fault = get_column(reading, node, &value);
    if (fault != NULL || node->child_count == 0 || !step_node_has_values(plan, node))
        return fault;
    if (node->kind == STEP_NODE_VARIANT) {
        uint32_t place = step_node_variant(plan, node, value);
        return place != STEP_NO_INDEX ? get_node(reading, step_node_child(plan, node, place))
                                      : "a value of a type that does not extend its field's type";
    }
    for (uint64_t i = 0; i < value && fault == NULL; i++)
        for (uint32_t k = 0; k < node->child_count && fault == NULL; k++)
            fault = get_node(reading, step_node_child(plan, node, k));
    return fault;
}

/* Reads the start of a record: whether it is a meta-record, and its type.  A tag of 0 cannot be a
 * type's number: identifiers begin at 1.  A type that is new in the block stands there as the
 * record's own number, which may be 0, but never first: it is announced by a change, and thus
 * behind a tag. */
static const char *get_type(struct step_row_reading *reading)
{
    uint64_t record;
    const char *fault;
    reading->changes = reading->until = 0;
    if (reading->cursor.at < reading->cursor.end && *reading->cursor.at == STEP_META_TAG) {
        reading->cursor.at++;
        fault = step_row_number(reading, &reading->changes);
        if (fault == NULL)
            fault = step_row_number(reading, &reading->until);
        if (fault == NULL && reading->changes == 0)
            fault = "a meta-record without changes";
        if (fault != NULL)
            return fault;
    }
    fault = step_row_settle(reading);
    if (fault == NULL)
        fault = step_encoder_get(&reading->reader->types, 0, &reading->cursor, &record);
    if (fault != NULL)
        return fault;
    if (record >= reading->decoding->plan->definition->record_count ||
        reading->local_types[record] == 0)
        return "a record type that the block's summary does not list";
    reading->record = (uint32_t) record;
    return NULL;
}

/* Each change of a meta-record must come before a value: one after the last would be a second
 * encoding of the same records. */
static const char *get_record(struct step_row_reading *reading, uint64_t *left)
{
    const struct step_plan *plan = reading->decoding->plan;
    struct step_block *block = reading->decoding->block;
    const char *fault = get_type(reading);
    if (fault != NULL)
        return fault;
    uint16_t local = (uint16_t) (reading->local_types[reading->record] - 1);
    if (left[local]-- == 0)
        return "the record types disagree with their counts";
    if (block->types != NULL)
        block->types[reading->number] = local;
    const struct step_plan_record *planned = &plan->records[reading->record];
    for (uint32_t i = 0; i < planned->field_count && fault == NULL; i++)
        fault = get_node(reading, &plan->nodes[planned->field_nodes[i]]);
    if (fault == NULL && reading->changes > 0)
        fault = "a meta-record with changes after its last value";
    return fault;
}

static enum step_status row_read_refuse(const struct step_row_reading *reading, const char *fault)
{
    const struct step_decoding *decoding = reading->decoding;
    const struct step_definition *definition = decoding->plan->definition;
    enum step_status status = fault == memory      ? STEP_STATUS_NO_MEMORY
                              : fault == too_large ? STEP_STATUS_LIMIT
                                                   : STEP_STATUS_CORRUPT;
    return step_decoding_fail(decoding, status, NULL,
                              "record %" PRIu64 " of the block (%.50s), byte %" PRIu64
                              " of its rows: %s",
                              reading->number, definition->records[reading->record].name,
                              (uint64_t) (reading->cursor.at - reading->start), fault);
}

/* Local numbers are stored plus 1, so that 0 means a type that the summary does not list; a record
 * of such a type would have no place to be counted (get_record()). */
static enum step_status row_read_prepare(struct step_row_reading *reading, uint64_t **left)
{
    struct step_decoding *decoding = reading->decoding;
    struct step_block *block = decoding->block;
    enum step_status status = STEP_STATUS_OK;
    size_t record_count = decoding->plan->definition->record_count;
    *left = step_decoding_borrow(decoding, block->type_count, sizeof **left, &status);
    reading->local_types =
        step_decoding_borrow(decoding, record_count, sizeof *reading->local_types, &status);
    if (status != STEP_STATUS_OK)
        return status;
    memset(reading->local_types, 0, record_count * sizeof *reading->local_types);
    for (size_t i = 0; i < block->type_count; i++) {
        (*left)[i] = block->block_types[i].count;
        reading->local_types[block->block_types[i].record] = (uint16_t) (i + 1);
    }
    block->types = NULL;
    if (block->type_count > 1)
        block->types =
            step_decoding_take(decoding, block->record_count, sizeof *block->types, &status);
    return status;
}

/* Hands the decoded columns to the block.  They are copied, since the block outlives the reader's
 * storage; storage that has grown very large is given back.  The bytes of strings pass as a section
 * that is not compressed, as a column of the other layout would have them. */
static enum step_status hand_over(struct step_row_reading *reading)
{
    struct step_decoding *decoding = reading->decoding;
    enum step_status status = STEP_STATUS_OK;
    for (size_t i = 0; i < reading->reader->listed_count && status == STEP_STATUS_OK; i++) {
        uint32_t index = reading->reader->listed[i];
        struct step_column_data *data = &reading->reader->columns[index].data;
        uint64_t *values = step_decoding_take(decoding, data->count, sizeof *values, &status);
        if (values != NULL && data->count > 0)
            memcpy(values, data->values, data->count * sizeof *values);
        if (data->capacity > KEPT_VALUES) {
            free(data->values);
            data->values = NULL;
            data->capacity = 0;
        }
        decoding->series[index] = (struct step_series){values, 1, NULL};
        decoding->columns[index].state = STEP_COLUMN_DECODED;
        if (index + 1 == decoding->plan->column_count ||
            decoding->plan->columns[index + 1].kind != STEP_COLUMN_BYTES)
            continue;
        const struct step_buffer *bytes = &reading->reader->columns[index + 1].data.bytes;
        struct step_decoding_column *column = &decoding->columns[index + 1];
        column->state = STEP_COLUMN_LISTED;
        column->stored = bytes->data;
        column->coding = (struct step_coding){.method = STEP_COMPRESSION_NONE,
                                              .raw_length = bytes->length,
                                              .stored_length = bytes->length};
    }
    return status;
}

/* Unlike columns, rows are decoded as a whole even if one type is wanted: no value can be found
 * without reading those before it.  The decompressed bytes count against the limit, and the budget
 * is what they leave.  For the same reason nothing of a damaged block can be kept: after a wrong
 * byte every encoder may be in another state than the writer's. */
enum step_status step_decoding_rows(struct step_decoding *decoding)
{
    struct step_block_reader *blocks = decoding->reader;
    if (blocks->rows == NULL)
        blocks->rows = step_row_reader_create(decoding->plan->column_count);
    if (blocks->rows == NULL)
        return step_decoding_no_memory(decoding);
    struct step_buffer *rows = &blocks->rows->rows;
    struct step_row_reading reading = {.decoding = decoding, .reader = blocks->rows};
    uint64_t most = decoding->block->arena.limit;
    uint64_t *left;
    rows->length = 0;
    enum step_status status =
        step_block_expand(blocks, decoding->payload, most, rows, decoding->error);
    if (status != STEP_STATUS_OK)
        return status;
    reading.budget = step_budget_of(most - rows->length, 0, 0);
    reading.cursor = step_cursor_of(rows->data, rows->length);
    reading.start = rows->data;
    status = step_row_directory(&reading);
    if (status == STEP_STATUS_OK)
        status = row_read_prepare(&reading, &left);
    const char *fault = NULL;
    for (; status == STEP_STATUS_OK && reading.number < decoding->block->record_count;
         reading.number++) {
        fault = get_record(&reading, left);
        if (fault != NULL)
            return row_read_refuse(&reading, fault);
    }
    if (status == STEP_STATUS_OK && step_cursor_left(&reading.cursor) > 0)
        return row_read_refuse(&reading, "there are bytes after the last record");
    return status == STEP_STATUS_OK ? hand_over(&reading) : status;
}
