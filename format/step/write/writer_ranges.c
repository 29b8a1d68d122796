/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Least and greatest values of a data block's fields, for readers that look for some of them.  Told
 * of are unsigned numbers that go with those before them, as their attributes say: only these have
 * narrow ranges.
 */
#include "format/step/write/writer_internal.h"

static bool is_told_of(const struct step_plan_column *column)
{
    const struct step_coding_hints *hints = &column->field_coding.column;
    return column->kind == STEP_COLUMN_VALUES && !column->in_array && column->leaf == 0 &&
           !column->field_coding.is_time && !column->field_coding.is_thread && !hints->is_signed &&
           (step_hints_name(hints, STEP_DELTA) || step_hints_name(hints, STEP_STRIDE) ||
            step_hints_name(hints, STEP_SEQUENCE) || step_hints_name(hints, STEP_LIVE));
}

static bool is_single(const struct step_definition *definition,
                      const struct step_plan_column *column)
{
    const struct step_field *field = &definition->records[column->record].fields[column->field];
    return field->array_depth == 0 && !step_field_is_nested(field) && !step_field_is_variant(field);
}

static bool note(struct step_buffer *out, const struct step_plan_column *column,
                 struct step_range range)
{
    return step_buffer_append_varint(out, column->record) &&
           step_buffer_append_varint(out, column->field) &&
           step_buffer_append_varint(out, range.min) &&
           step_buffer_append_varint(out, range.max - range.min);
}

enum step_status step_writer_note_ranges(struct step_writer *writer)
{
    const struct step_columns *columns = writer->columns;
    uint64_t count = 0;
    bool good = true;
    for (int pass = 0; pass < 2 && good; pass++) {
        for (size_t i = 0; i < columns->used_count && good; i++) {
            const struct step_plan_column *column = &columns->plan->columns[columns->used[i]];
            if (columns->columns[columns->used[i]].count == 0 || !is_told_of(column) ||
                !is_single(columns->plan->definition, column))
                continue;
            if (pass == 0)
                count++;
            else
                good = note(&writer->ranges, column, step_columns_range(columns, columns->used[i]));
        }
        if (count == 0)
            return STEP_STATUS_OK;
        if (pass == 0)
            good =
                step_buffer_append_varint(&writer->ranges, writer->offset - writer->range_offset) &&
                step_buffer_append_varint(&writer->ranges, count);
    }
    writer->range_offset = writer->offset;
    writer->range_count++;
    return good ? STEP_STATUS_OK : STEP_STATUS_NO_MEMORY;
}

enum step_status step_writer_ranges_block(struct step_writer *writer)
{
    return writer->range_count > 0
               ? step_writer_bytes_block(writer, STEP_BLOCK_RANGES, writer->ranges.data,
                                         writer->ranges.length)
               : STEP_STATUS_OK;
}
