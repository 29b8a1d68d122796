/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Encodes records as rows: the directory of encoders, the values, and the meta-records around them.
 *
 * A change of policy must reach the reader after the values before it and before its own value
 * (paper, section 3.2). A writer knows that there is one only when it encodes the value.  So a
 * record is encoded in full first, and the changes are noted with their places in the bytes.  If
 * there are none, which is the usual case, nothing more is done.  Else add_changes() cuts the bytes
 * at these places and puts the meta-record together.
 *
 * Values are taken from columns, which both layouts start from; a position in each says what comes
 * next.  Values are encoded in the order of the fields, and the reader's walk over the nodes must
 * be the same (get_node() in row_read.c): nothing in the bytes says which field a value belongs to.
 */
#include "format/step/rows/row_write.h"

#include <stdlib.h>
#include <string.h>

#include "format/codec/row/encoder.h"
#include "format/core/grow.h"
#include "format/step/layout.h"
#include "format/step/plan/record_series.h"

/* The input of one block. */
struct rowing {
    struct step_row_writer *writer;
    const struct step_columns *columns;
    const struct step_plan *plan;
    uint32_t record; /* type of the current record */
};

void step_row_writer_reset(struct step_row_writer *writer)
{
    for (size_t i = 0; i < writer->column_count; i++) {
        step_encoder_reset(&writer->columns[i].encoder);
        step_string_numbers_reset(&writer->columns[i].strings.numbers);
    }
    free(writer->columns);
    step_encoder_reset(&writer->types);
    step_encoder_reset(&writer->events);
    free(writer->changes);
    step_buffer_reset(&writer->segments);
    step_buffer_reset(&writer->field);
    step_buffer_reset(&writer->rows);
    *writer = (struct step_row_writer){0};
}

/* Writes an entry of the directory, and starts its encoder.  What a reader needs to start the same
 * encoder is in the entry: the policy, and as far as the strategy has them the reference, the way
 * of hashing, and the size of the table, which depends on how many values the block has. */
static enum step_status list_encoder(struct rowing *rowing, uint32_t index)
{
    const struct step_plan_column *column = &rowing->plan->columns[index];
    const struct step_policy *policy = &column->field_coding.policy;
    const struct step_strategy *strategy = step_policy_strategy(policy);
    struct step_row_writer *writer = rowing->writer;
    struct step_buffer *out = &writer->rows;
    unsigned bits = step_table_bits(rowing->columns->columns[index].count, 16);
    bool hashed = !column->field_coding.column.given_identifier;
    bool ok = step_buffer_append_varint(out, column->record) &&
              step_buffer_append_varint(out, column->field) &&
              step_buffer_append_varint(out, column->leaf) && step_policy_print(policy, out);
    if (ok && strategy->needs == STEP_SERIES_PUSHES)
        ok = step_buffer_append_varint(out, column->stack_record);
    if (ok && strategy->needs == STEP_SERIES_LATEST)
        ok =
            step_buffer_append_varint(out, step_follow_reference(rowing->plan, column->age_column));
    if (ok && strategy->needs == STEP_SERIES_FIELD)
        ok = step_buffer_append_varint(out, step_given_reference(rowing->plan, index)) &&
             step_buffer_append_varint(out, hashed);
    if (ok && strategy->has_table)
        ok = step_buffer_append_varint(out, bits);
    writer->columns[index].position = 0;
    step_string_numbers_clear(&writer->columns[index].strings.numbers);
    writer->columns[index].strings.last_start = writer->columns[index].strings.last_length = 0;
    return ok ? step_encoder_start(&writer->columns[index].encoder, policy, bits, hashed)
              : STEP_STATUS_NO_MEMORY;
}

/* Encoders are numbered in the order of the directory: meta-events name them by these numbers,
 * which are small.  The bytes of a string have no encoder; they follow its length. */
static enum step_status write_directory(struct rowing *rowing)
{
    const struct step_columns *columns = rowing->columns;
    struct step_row_writer *writer = rowing->writer;
    uint64_t count = 0;
    for (size_t i = 0; i < columns->used_count; i++)
        if (rowing->plan->columns[columns->used[i]].kind != STEP_COLUMN_BYTES)
            writer->columns[columns->used[i]].number = ++count;
    if (!step_buffer_append_varint(&writer->rows, count))
        return STEP_STATUS_NO_MEMORY;
    enum step_status status = STEP_STATUS_OK;
    for (size_t i = 0; i < columns->used_count && status == STEP_STATUS_OK; i++) {
        writer->columns[columns->used[i]].position = 0;
        if (rowing->plan->columns[columns->used[i]].kind != STEP_COLUMN_BYTES)
            status = list_encoder(rowing, columns->used[i]);
    }
    return status;
}

/* Places are positions in writer->rows.  They stay valid until the record is complete, because its
 * bytes are only appended to until then.  Changes are noted in the order of their values, which
 * add_changes() relies on. */
static enum step_status note_changes(struct step_row_writer *writer, uint64_t encoder, size_t at,
                                     const struct step_change *changes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (!STEP_MAKE_ROOM(writer->changes, writer->change_capacity, writer->change_count + 1))
            return STEP_STATUS_NO_MEMORY;
        writer->changes[writer->change_count++] =
            (struct step_row_change){at, writer->values, encoder, changes[i]};
    }
    return STEP_STATUS_OK;
}

/* Encodes a value of the current record.  The changes are noted with the place before its bytes,
 * and the number of values before it: a reader applies them before it reads the value. */
static enum step_status row_write_put(struct step_row_writer *writer, struct step_encoder *encoder,
                                      uint64_t number, uint64_t value, uint64_t key)
{
    struct step_change changes[STEP_CHANGES_MAX];
    size_t count;
    size_t at = writer->rows.length;
    enum step_status status = step_encoder_put(encoder, value, key, &writer->rows, changes, &count);
    if (status == STEP_STATUS_OK && count > 0)
        status = note_changes(writer, number, at, changes, count);
    writer->values++;
    return status;
}

static uint64_t row_write_value_at(const struct rowing *rowing, uint32_t column, size_t position)
{
    const struct step_series *series = &rowing->columns->series[column];
    return series->values[position * series->step];
}

/* Returns what the strategy needs at this value: whether the record pushes (`stack`), or the last
 * value that the other column had (`age`, `given`). Only values before the current one count, as a
 * reader has no others. */
static uint64_t row_write_key_of(const struct rowing *rowing, uint32_t index)
{
    const struct step_plan_column *column = &rowing->plan->columns[index];
    uint32_t other = column->given_column;
    if (column->stack_record != STEP_NO_INDEX)
        return step_record_extends(rowing->plan->definition, rowing->record, column->stack_record);
    if (column->age_column != STEP_NO_INDEX)
        other = column->age_column;
    if (column->given_field != STEP_NO_INDEX)
        other = step_field_column(rowing->plan, rowing->record, column->given_field);
    if (other == STEP_NO_INDEX)
        return 0;
    if (!rowing->columns->columns[other].used)
        return 0;
    size_t position = rowing->writer->columns[other].position;
    return position > 0 ? row_write_value_at(rowing, other, position - 1) : 0;
}

static enum step_status row_write_put_column(struct rowing *rowing, uint32_t index, uint64_t *value)
{
    struct step_row_writer *writer = rowing->writer;
    struct step_encoder *encoder = &writer->columns[index].encoder;
    uint64_t key =
        encoder->strategy->needs != STEP_SERIES_NONE ? row_write_key_of(rowing, index) : 0;
    *value = row_write_value_at(rowing, index, writer->columns[index].position++);
    return row_write_put(writer, encoder, writer->columns[index].number, *value, key);
}

/* Stores a string whose encoder has a policy, possibly without the common prefix with the previous
 * one.  The previous one is the last that was stored, not the last that occurred: one that was a
 * number has left no bytes near. */
static enum step_status put_given(struct rowing *rowing, uint32_t index, const uint8_t *bytes,
                                  size_t start)
{
    struct step_row_writer *writer = rowing->writer;
    struct step_row_strings *strings = &writer->columns[index].strings;
    uint64_t length;
    size_t shared = 0;
    enum step_status status = row_write_put_column(rowing, index, &length);
    if (status == STEP_STATUS_OK &&
        (writer->columns[index].encoder.policy.strings & STEP_STRINGS_SHARED) != 0) {
        if (length > 0 && strings->last_length > 0)
            shared = step_shared_prefix(bytes + strings->last_start, strings->last_length,
                                        bytes + start, (size_t) length);
        if (!step_buffer_append_varint(&writer->rows, shared))
            return STEP_STATUS_NO_MEMORY;
    }
    strings->last_start = start;
    strings->last_length = (size_t) length;
    if (status == STEP_STATUS_OK && length > shared &&
        !step_buffer_append(&writer->rows, bytes + start + shared, (size_t) length - shared))
        return STEP_STATUS_NO_MEMORY;
    return status;
}

/* Writes a string, or its number if it occurred before.  Either way it counts as one value, and the
 * positions of lengths and bytes move: columns have each string in full, also a repeated one. */
static enum step_status row_write_put_string(struct rowing *rowing, uint32_t index)
{
    static const struct step_change spell = {STEP_CHANGE_SPELL, 0};
    struct step_row_writer *writer = rowing->writer;
    const uint8_t *bytes = rowing->columns->columns[index + 1].bytes.data;
    size_t start = writer->columns[index + 1].position;
    size_t length = (size_t) row_write_value_at(rowing, index, writer->columns[index].position);
    writer->columns[index + 1].position += length;
    if ((writer->columns[index].encoder.policy.strings & STEP_STRINGS_NUMBERED) == 0)
        return put_given(rowing, index, bytes, start);
    uint64_t number;
    if (!step_string_number(&writer->columns[index].strings.numbers, bytes, start, length, &number))
        return STEP_STATUS_NO_MEMORY;
    if (number != 0) {
        writer->columns[index].position++;
        writer->values++;
        return step_buffer_append_varint(&writer->rows, number) ? STEP_STATUS_OK
                                                                : STEP_STATUS_NO_MEMORY;
    }
    enum step_status status =
        note_changes(writer, writer->columns[index].number, writer->rows.length, &spell, 1);
    return status == STEP_STATUS_OK ? put_given(rowing, index, bytes, start) : status;
}

static enum step_status put_node(struct rowing *rowing, const struct step_plan_node *node);

/* Writes the number of a value that was stored in the block before.  A stored value has no number
 * in the bytes: `spell` stands there instead, and is no value, so writer->values does not count it.
 * The reader must not count it either (get_numbered() in row_read.c). */
static enum step_status put_numbered(struct rowing *rowing, const struct step_plan_node *node)
{
    static const struct step_change spell = {STEP_CHANGE_SPELL, 0};
    struct step_row_writer *writer = rowing->writer;
    const struct step_plan_node *value = step_node_child(rowing->plan, node, 0);
    uint64_t number;
    if (!rowing->columns->columns[node->column].used)
        return put_node(rowing, value);
    if (row_write_value_at(rowing, node->column, writer->columns[node->column].position) != 0)
        return row_write_put_column(rowing, node->column, &number);
    writer->columns[node->column].position++;
    enum step_status status =
        note_changes(writer, writer->columns[node->column].number, writer->rows.length, &spell, 1);
    return status == STEP_STATUS_OK ? put_node(rowing, value) : status;
}

static enum step_status put_node(struct rowing *rowing, const struct step_plan_node *node)
{
    const struct step_plan *plan = rowing->plan;
    uint64_t value = 1;
    enum step_status status = STEP_STATUS_OK;
    if (node->kind == STEP_NODE_NUMBERED)
        return put_numbered(rowing, node);
    if (node->kind == STEP_NODE_BYTES &&
        rowing->writer->columns[node->column].encoder.policy.strings != 0)
        return row_write_put_string(rowing, node->column);
    if (step_node_has_column(node))
        status = row_write_put_column(rowing, node->column, &value);
    if (status == STEP_STATUS_OK && node->kind == STEP_NODE_BYTES) {
        size_t *at = &rowing->writer->columns[node->column + 1].position;
        const uint8_t *bytes = rowing->columns->columns[node->column + 1].bytes.data;
        if (value > 0 && !step_buffer_append(&rowing->writer->rows, bytes + *at, (size_t) value))
            return STEP_STATUS_NO_MEMORY;
        *at += (size_t) value;
    }
    if (status != STEP_STATUS_OK || node->child_count == 0 || !step_node_has_values(plan, node))
        return status;
    if (node->kind == STEP_NODE_VARIANT)
        return put_node(rowing, step_node_child(plan, node, step_node_variant(plan, node, value)));
    for (uint64_t i = 0; i < value; i++)
        for (uint32_t k = 0; k < node->child_count && status == STEP_STATUS_OK; k++)
            status = put_node(rowing, step_node_child(plan, node, k));
    return status;
}

/* Appends a meta-event to writer->rows, as a meta-record if its own encoder changes.  That is where
 * the paper's recursion (section 3.2: meta-meta-events) ends: the inner changes name the one
 * encoder of the field `encoder` by a plain number, so they need no changes themselves. */
static enum step_status row_write_put_event(struct step_row_writer *writer,
                                            const struct step_row_change *change)
{
    struct step_change inner[STEP_CHANGES_MAX];
    size_t count;
    struct step_buffer *out = &writer->rows;
    writer->field.length = 0;
    enum step_status status =
        step_encoder_put(&writer->events, change->encoder, 0, &writer->field, inner, &count);
    if (status != STEP_STATUS_OK)
        return status;
    bool ok = true;
    if (count > 0)
        ok = step_buffer_append_varint(out, STEP_META_TAG) &&
             step_buffer_append_varint(out, count) && step_buffer_append_varint(out, 1);
    ok = ok && step_buffer_append_varint(out, change->change.kind);
    for (size_t i = 0; i < count && ok; i++)
        ok = (i == 0 || step_buffer_append_varint(out, 0)) &&
             step_buffer_append_varint(out, inner[i].kind) &&
             step_buffer_append_varint(out, STEP_META_ENCODER);
    ok = ok && step_buffer_append(out, writer->field.data, writer->field.length);
    if (ok && (change->change.kind == STEP_CHANGE_GROW || change->change.kind == STEP_CHANGE_WIDEN))
        ok = step_buffer_append_varint(out, change->change.bytes);
    return ok ? STEP_STATUS_OK : STEP_STATUS_NO_MEMORY;
}

/* Makes the record that begins at `start` a meta-record.  Its bytes are set aside and put back in
 * segments, with the changes between them.  `values` counts the values of a segment from the change
 * before, as the reader counts them down. */
static enum step_status add_changes(struct step_row_writer *writer, size_t start)
{
    struct step_buffer *out = &writer->rows;
    size_t length = out->length - start;
    writer->segments.length = 0;
    if (!step_buffer_append(&writer->segments, out->data + start, length))
        return STEP_STATUS_NO_MEMORY;
    out->length = start;
    const uint8_t *segments = writer->segments.data;
    size_t at = 0;
    uint64_t values = 0;
    bool ok = step_buffer_append_varint(out, STEP_META_TAG) &&
              step_buffer_append_varint(out, writer->change_count);
    for (size_t i = 0; i < writer->change_count && ok; i++) {
        const struct step_row_change *change = &writer->changes[i];
        size_t end = change->at - start;
        ok = step_buffer_append_varint(out, change->values - values) &&
             step_buffer_append(out, segments + at, end - at);
        enum step_status status = ok ? row_write_put_event(writer, change) : STEP_STATUS_NO_MEMORY;
        if (status != STEP_STATUS_OK)
            return status;
        values = change->values;
        at = end;
    }
    return ok && step_buffer_append(out, segments + at, length - at) ? STEP_STATUS_OK
                                                                     : STEP_STATUS_NO_MEMORY;
}

/* The record's type is its first value, so a type that is new in the block makes a meta-record like
 * any other change. */
static enum step_status row_write_put_record(struct rowing *rowing)
{
    struct step_row_writer *writer = rowing->writer;
    const struct step_plan_record *planned = &rowing->plan->records[rowing->record];
    size_t start = writer->rows.length;
    writer->values = 0;
    writer->change_count = 0;
    enum step_status status = row_write_put(writer, &writer->types, 0, rowing->record, 0);
    for (uint32_t i = 0; i < planned->field_count && status == STEP_STATUS_OK; i++)
        status = put_node(rowing, &rowing->plan->nodes[planned->field_nodes[i]]);
    return status == STEP_STATUS_OK && writer->change_count > 0 ? add_changes(writer, start)
                                                                : status;
}

/* Everything starts anew in each block, but storage is kept.  `most` limits a trial.
 *
 * The encoder of the field `encoder` is eager: changes often come in pairs of one encoder, and the
 * usual value then follows the first at once (encoder_put.c).  It is a choice of the writer alone:
 * a reader follows whichever change it finds. */
enum step_status step_row_write(struct step_row_writer *writer, const struct step_columns *columns,
                                size_t most)
{
    struct rowing rowing = {.writer = writer, .columns = columns, .plan = columns->plan};
    struct step_policy types = step_meta_type_policy();
    struct step_policy events = step_meta_event_policy();
    writer->rows.length = 0;
    if (writer->columns == NULL) {
        writer->columns = calloc(columns->plan->column_count + 1u, sizeof *writer->columns);
        if (writer->columns == NULL)
            return STEP_STATUS_NO_MEMORY;
        writer->column_count = columns->plan->column_count;
    }
    enum step_status status = step_encoder_start(&writer->types, &types, 1, false);
    if (status == STEP_STATUS_OK)
        status = step_encoder_start(&writer->events, &events, 1, false);
    writer->events.eager = true;
    if (status == STEP_STATUS_OK)
        status = write_directory(&rowing);
    for (size_t i = 0; i < columns->record_count && i < most && status == STEP_STATUS_OK; i++) {
        size_t local = columns->type_count > 1 ? columns->local_types[i] : 0;
        rowing.record = columns->records[local];
        status = row_write_put_record(&rowing);
    }
    return status;
}
