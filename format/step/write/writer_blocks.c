/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Converts pending records to blocks, and writes them to the output.
 *
 * Each block is noted for the index as it is written, with the bytes of its header and summary.  So
 * the index needs no second pass over the file, and says the same as a walk from header to header
 * would find.
 */
#include "format/step/write/writer_internal.h"

/* Limit for storage of all streams, and of a dictionary, that is kept for their next records. */
#define KEPT_MEMORY ((size_t) 64 << 20)
#define KEPT_DICTIONARY_MEMORY ((size_t) 64 << 10)

enum step_status step_writer_output(struct step_writer *writer, const void *data, size_t length)
{
    struct step_error error = {.offset = STEP_NO_OFFSET};
    enum step_status status =
        writer->options.output.write(writer->options.output.user, data, length, &error);
    if (status != STEP_STATUS_OK && writer->error.status == STEP_STATUS_OK) {
        writer->error = error;
        writer->error.status = status;
    }
    writer->offset += status == STEP_STATUS_OK ? length : 0;
    return status;
}

/* Writes the block in blocks.block, and notes it for the index. */
static enum step_status step_writer_output_block(struct step_writer *writer)
{
    const struct step_buffer *block = &writer->blocks.block;
    uint8_t offset[8];
    step_store_u64(offset, writer->offset);
    size_t noted = STEP_BLOCK_HEADER_BYTES + writer->blocks.summary.length;
    if (!step_buffer_append(&writer->index, offset, sizeof offset) ||
        !step_buffer_append(&writer->index, block->data, noted))
        return STEP_STATUS_NO_MEMORY;
    writer->block_count++;
    return step_writer_output(writer, block->data, block->length);
}

enum step_status step_writer_bytes_block(struct step_writer *writer, enum step_block_kind kind,
                                         const uint8_t *bytes, size_t length)
{
    struct step_block_header header = {.kind = (uint8_t) kind};
    enum step_status status = step_block_write_bytes(&writer->blocks, bytes, length, &header);
    return status == STEP_STATUS_OK ? step_writer_output_block(writer) : status;
}

/*
 * Notes the smallest and largest values of a data block's fields, for readers that search for some
 * of them.  Only for unsigned numbers whose attributes relate them to those before them: only these
 * have narrow ranges.
 */
static bool is_listed(const struct step_plan_column *column)
{
    const struct step_coding_hints *hints = &column->field_coding.column;
    return column->kind == STEP_COLUMN_VALUES && !column->in_array && column->leaf == 0 &&
           !column->field_coding.is_time && !column->field_coding.is_thread && !hints->is_signed &&
           (step_hints_name(hints, STEP_DELTA) || step_hints_name(hints, STEP_STRIDE) ||
            step_hints_name(hints, STEP_SEQUENCE) || step_hints_name(hints, STEP_LIVE));
}

static bool writer_blocks_is_single(const struct step_definition *definition,
                                    const struct step_plan_column *column)
{
    const struct step_field *field = &definition->records[column->record].fields[column->field];
    return field->array_depth == 0 && !step_field_is_nested(field) && !step_field_is_variant(field);
}

static bool writer_blocks_note(struct step_buffer *out, const struct step_plan_column *column,
                               struct step_range range)
{
    return step_buffer_append_varint(out, column->record) &&
           step_buffer_append_varint(out, column->field) &&
           step_buffer_append_varint(out, range.min) &&
           step_buffer_append_varint(out, range.max - range.min);
}

/* The number of columns comes before them, so the columns are passed twice.  It is called before
 * the block is written, when the writer's offset still is that of the block: with the offset a
 * reader finds the block that the ranges are of. */
static enum step_status note_ranges(struct step_writer *writer)
{
    const struct step_columns *columns = writer->columns;
    uint64_t count = 0;
    bool good = true;
    for (int pass = 0; pass < 2 && good; pass++) {
        for (size_t i = 0; i < columns->used_count && good; i++) {
            const struct step_plan_column *column = &columns->plan->columns[columns->used[i]];
            if (columns->columns[columns->used[i]].count == 0 || !is_listed(column) ||
                !writer_blocks_is_single(columns->plan->definition, column))
                continue;
            if (pass == 0)
                count++;
            else
                good = writer_blocks_note(&writer->ranges, column,
                                          step_columns_range(columns, columns->used[i]));
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

static enum step_status (*const layouts[])(struct step_block_writer *, const struct step_columns *,
                                           struct step_block_header *) = {
    [STEP_WRITE_SMALLEST] = step_block_write_smallest,
    [STEP_WRITE_ROWS] = step_block_write_rows,
    [STEP_WRITE_COLUMNS] = step_block_write_columns,
};

/* The order is: encode, verify, note, write.  A block that does not decode to its records is never
 * written, and a block that is listed in the index is written next.  If that fails the writer has
 * failed, and gives the file no index. */
static enum step_status write_rows(struct step_writer *writer, enum step_block_kind kind,
                                   uint64_t stream, uint64_t first_record,
                                   struct step_pending *rows)
{
    struct step_block_header header = {
        .kind = (uint8_t) kind, .stream = stream, .first_record = first_record};
    enum step_status status = step_columns_fill(writer->columns, rows);
    if (status == STEP_STATUS_OK)
        status = layouts[writer->options.layout](&writer->blocks, writer->columns, &header);
    if (status == STEP_STATUS_OK && writer->verifier != NULL)
        status = step_block_verify(writer->verifier, writer->columns, &writer->blocks.block,
                                   &writer->error);
    if (status == STEP_STATUS_OK && kind == STEP_BLOCK_DATA)
        status = note_ranges(writer);
    return status == STEP_STATUS_OK ? step_writer_output_block(writer) : status;
}

/* Writes properties and dictionary entries, which must precede the data that uses them.  An entry
 * is given its number when it is defined, and a record may use the number at once, in any stream:
 * hence all dictionaries go out before any block of data. */
enum step_status step_writer_pending(struct step_writer *writer)
{
    enum step_status status = STEP_STATUS_OK;
    if (writer->properties.length > 0) {
        status = step_writer_bytes_block(writer, STEP_BLOCK_PROPERTY, writer->properties.data,
                                         writer->properties.length);
        writer->properties.length = 0;
    }
    if (!writer->dictionaries_pending)
        return status;
    size_t record_count = writer->options.definition->record_count;
    for (size_t i = 0; i < record_count && status == STEP_STATUS_OK; i++) {
        struct step_writer_dictionary *dictionary = &writer->dictionaries[i];
        if (dictionary->rows.record_count == 0)
            continue;
        status = write_rows(writer, STEP_BLOCK_DICTIONARY, i, dictionary->written_count,
                            &dictionary->rows);
        dictionary->written_count += dictionary->rows.record_count;
        if (step_pending_memory(&dictionary->rows) > KEPT_DICTIONARY_MEMORY)
            step_pending_reset(&dictionary->rows);
        else
            step_pending_clear(&dictionary->rows);
    }
    writer->dictionaries_pending = false;
    return status;
}

void step_writer_count_memory(struct step_writer *writer, struct step_stream *stream)
{
    size_t memory = step_pending_memory(&stream->rows);
    writer->memory += memory - stream->memory;
    stream->memory = memory;
}

/* Storage is kept for the stream's next records, as they will need as much, unless all streams
 * together keep too much. */
enum step_status step_writer_flush_rows(struct step_writer *writer, struct step_stream *stream)
{
    if (stream->rows.record_count == 0)
        return STEP_STATUS_OK;
    enum step_status status = step_writer_pending(writer);
    if (status == STEP_STATUS_OK)
        status = write_rows(writer, STEP_BLOCK_DATA, stream->number, stream->written_count,
                            &stream->rows);
    if (status != STEP_STATUS_OK)
        return status;
    stream->written_count += stream->rows.record_count;
    /* a stream that kept more than its limit would write a block after each record */
    if (writer->memory > KEPT_MEMORY || stream->memory > writer->options.memory_bytes / 2)
        step_pending_reset(&stream->rows);
    else
        step_pending_clear(&stream->rows);
    step_writer_count_memory(writer, stream);
    return status;
}

/* The largest is written, because its block compresses best and frees most.  Its storage is freed
 * and not kept: the sum must fall below the limit, or each of the next records would write another
 * small block. */
enum step_status step_writer_flush_largest(struct step_writer *writer)
{
    struct step_stream *largest = NULL;
    for (size_t i = 0; i < writer->streams.count; i++) {
        struct step_stream *stream = writer->streams.streams[i];
        if (largest == NULL || stream->memory > largest->memory)
            largest = stream;
    }
    if (largest == NULL)
        return STEP_STATUS_OK;
    enum step_status status = step_writer_flush_rows(writer, largest);
    step_pending_reset(&largest->rows);
    step_writer_count_memory(writer, largest);
    return status;
}
