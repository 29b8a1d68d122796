/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The STEP writer: assigns records to blocks, and decides when to write a block.
 *
 * A block ends for one of four reasons: it has enough records, its stream has taken half of the
 * memory, all streams together have taken all of it (then the largest goes), or a reader would need
 * too much memory for it.  Larger blocks compress better; smaller ones lose less when a file is
 * cut, and let a reader merge more streams.  The definition comes first in the file and, as a copy,
 * last, so that damage in one place cannot take it.
 *
 * The first failure is kept, and later calls return it: a file with a gap in the middle would look
 * whole.  A record that is refused, in contrast, changes nothing; the writer goes on without it.
 */
#include "steptrace/writer.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/core/step_no_memory.h"
#include "format/step/write/run.h"
#include "format/step/write/writer_internal.h"

enum { DEFAULT_BLOCK_RECORDS = 250000 };
/* Memory limit of all streams, beyond which the largest is flushed; a single stream is flushed
 * beyond half of it. */
#define MOST_MEMORY ((size_t) 256 << 20)

/*
 * Limit for the memory that a reader may need for a stream's records, beyond which they become a
 * block.  A nested record adds up to STEP_MAX_RECORD_DECODED. Readers then accept each block,
 * however small its file is (STEP_MAX_READER_MEMORY).
 *
 * Before a nested record a lower limit holds: the record may be so large that with others it would
 * pass what a reader accepts.
 */
#define MOST_DECODED (STEP_MAX_BLOCK_MEMORY / 2)
#define MOST_DECODED_BEFORE_NESTED (STEP_MAX_BLOCK_MEMORY / 8)

void step_writer_options_init(struct step_writer_options *options)
{
    *options = (struct step_writer_options){.compression = STEP_COMPRESSION_ZSTD};
}

/* The plan is first, because it is what refuses a definition: nothing is written for one that
 * cannot be used.  File header and definition are written at once and not with the first block, so
 * that a file that is cut has what its blocks need. */
static enum step_status writer_start(struct step_writer *writer, struct step_error *error)
{
    const struct step_writer_options *options = &writer->options;
    enum step_status status = step_plan_create(options->definition, &writer->plan, error);
    if (status != STEP_STATUS_OK)
        return status;
    writer->dictionaries = calloc(options->definition->record_count, sizeof *writer->dictionaries);
    status = writer->dictionaries == NULL ? STEP_STATUS_NO_MEMORY
                                          : step_columns_create(writer->plan, &writer->columns);
    if (status == STEP_STATUS_OK)
        status = step_block_writer_init(&writer->blocks, options->compression, options->level);
    if (status == STEP_STATUS_OK && options->verify)
        status = step_block_verifier_create(writer->plan, &writer->verifier);
    uint8_t header[STEP_FILE_HEADER_BYTES];
    step_file_header_pack(header);
    if (status == STEP_STATUS_OK)
        status = step_writer_output(writer, header, sizeof header);
    if (status == STEP_STATUS_OK)
        status = step_writer_bytes_block(writer, STEP_BLOCK_DEFINITION,
                                         (const uint8_t *) options->definition->text,
                                         options->definition->text_length);
    if (status != STEP_STATUS_OK && error != NULL) {
        *error = writer->error;
        if (error->status == STEP_STATUS_OK)
            step_error_set(error, status, NULL, STEP_NO_OFFSET, "%s", step_status_text(status));
    }
    return status;
}

/* The definition needs its text, since the text is what the file stores.  `finish` is set last: a
 * writer that could not be made leaves the output to its caller, and destroying it here must not
 * finish what was not begun. */
enum step_status step_writer_create(const struct step_writer_options *options,
                                    struct step_writer **out, struct step_error *error)
{
    *out = NULL;
    if (options->definition == NULL || options->output.write == NULL ||
        options->definition->text == NULL ||
        options->definition->text_length > STEP_MAX_DEFINITION_BYTES ||
        options->block_records > STEP_MAX_BLOCK_RECORDS || options->layout > STEP_WRITE_COLUMNS)
        return step_error_set(error, STEP_STATUS_INVALID, NULL, STEP_NO_OFFSET,
                              "a writer needs a definition, an output and blocks of at most %u "
                              "records",
                              (unsigned) STEP_MAX_BLOCK_RECORDS);
    struct step_writer *writer = calloc(1, sizeof *writer);
    if (writer == NULL)
        return step_no_memory(error, NULL);
    writer->options = *options;
    writer->options.finish = NULL;
    writer->error.offset = STEP_NO_OFFSET;
    if (writer->options.block_records == 0)
        writer->options.block_records = DEFAULT_BLOCK_RECORDS;
    if (writer->options.memory_bytes == 0)
        writer->options.memory_bytes = MOST_MEMORY;
    enum step_status status = writer_start(writer, error);
    if (status != STEP_STATUS_OK) {
        step_writer_destroy(writer);
        return status;
    }
    writer->options.finish = options->finish;
    *out = writer;
    return status;
}

enum step_status step_writer_use_threads(struct step_writer *writer, unsigned threads)
{
    return step_block_writer_share(&writer->blocks, threads > 0 ? threads : step_crew_processors());
}

enum step_status step_writer_property(struct step_writer *writer, const char *key,
                                      const char *value)
{
    if (step_writer_ready(writer) != STEP_STATUS_OK)
        return writer->status;
    struct step_buffer *out = &writer->properties;
    size_t length = strlen(key) + strlen(value) + 20; /* two varints */
    enum step_status status = STEP_STATUS_OK;
    if (length > STEP_MAX_PROPERTY_BYTES) {
        struct step_error error;
        step_error_set(&error, STEP_STATUS_LIMIT, NULL, STEP_NO_OFFSET,
                       "a property %.60s is too long", key);
        return step_writer_refuse(writer, &error);
    }
    if (out->length + length > STEP_MAX_PROPERTY_BYTES)
        status = step_writer_pending(writer);
    if (status != STEP_STATUS_OK)
        return step_writer_keep(writer, status, NULL);
    bool ok = step_buffer_append_varint(out, strlen(key)) &&
              step_buffer_append(out, key, strlen(key)) &&
              step_buffer_append_varint(out, strlen(value)) &&
              step_buffer_append(out, value, strlen(value));
    return ok ? STEP_STATUS_OK : step_writer_keep(writer, STEP_STATUS_NO_MEMORY, NULL);
}

/* Called after records were added to a stream: writes its block if it is full, or the largest
 * stream's if memory is.  The limit of a single stream is lower, so that one busy stream leaves
 * room for the others to grow to blocks worth writing.
 */
static enum step_status writer_settle(struct step_writer *writer, struct step_stream *stream)
{
    enum step_status status = STEP_STATUS_OK;
    step_writer_count_memory(writer, stream);
    if (stream->rows.record_count >= writer->options.block_records ||
        stream->memory > writer->options.memory_bytes / 2 ||
        step_pending_decoded_bytes(&stream->rows) > MOST_DECODED)
        status = step_writer_flush_rows(writer, stream);
    else if (writer->memory > writer->options.memory_bytes)
        status = step_writer_flush_largest(writer);
    return status == STEP_STATUS_OK ? status : step_writer_keep(writer, status, NULL);
}

enum step_status step_writer_put(struct step_writer *writer, uint64_t number, uint32_t record,
                                 const uint64_t *slots)
{
    if (writer->closed || writer->status != STEP_STATUS_OK)
        return step_writer_ready(writer);
    if (record >= writer->options.definition->record_count)
        return step_writer_refuse_record(writer, record);
    /* Fast path: most records are plain, and follow another of the same stream.  It refuses the
     * record that fills the block, and rows that would have to grow.  So writer_settle() is called
     * for each of these, and its limits hold although most records do not compare them. */
    struct step_stream *last = writer->streams.last;
    const struct step_plan_record *planned = &writer->plan->records[record];
    if (last != NULL && last->number == number && planned->flat && !planned->checked &&
        step_pending_append_flat(&last->rows, planned, record, slots,
                                 writer->options.block_records))
        return STEP_STATUS_OK;
    struct step_stream *stream = step_stream_get(&writer->streams, number);
    if (stream == NULL)
        return step_writer_keep(writer, STEP_STATUS_NO_MEMORY, NULL);
    enum step_status status = STEP_STATUS_OK;
    if (!planned->flat && step_pending_decoded_bytes(&stream->rows) > MOST_DECODED_BEFORE_NESTED)
        status = step_writer_keep(writer, step_writer_flush_rows(writer, stream), NULL);
    if (status == STEP_STATUS_OK)
        status = step_writer_append(writer, &stream->rows, record, slots);
    if (status != STEP_STATUS_OK)
        return status;
    return writer_settle(writer, stream);
}

uint32_t step_writer_run_column(const struct step_writer *writer, uint32_t record, size_t slots,
                                size_t slot)
{
    const struct step_plan_record *planned = &writer->plan->records[record];
    bool fits = record < writer->options.definition->record_count && planned->flat &&
                !planned->checked && planned->slot_count == slots && slot < slots;
    return fits ? planned->slot_columns[slot] : STEP_NO_INDEX;
}

/* A run is the fast way for records without checks: the caller writes values where they will be
 * encoded.  A stream that has nested records cannot have runs until its block is written; `most` is
 * 0 then, and the caller puts records one by one.
 *
 * Columns are stored in pages, so each has room for another number of values.  `most` shrinks with
 * each column that is asked, and in the end is what all of them have; room that was asked for in
 * vain stays for the next run.  `left` is never 0: a full block is written as soon as it is full.
 */
enum step_status step_writer_begin_run(struct step_writer *writer, uint64_t number,
                                       const struct step_run_layout *layout, size_t wanted,
                                       struct step_run *run)
{
    run->most = 0;
    if (step_writer_ready(writer) != STEP_STATUS_OK)
        return writer->status;
    struct step_stream *stream = step_stream_get(&writer->streams, number);
    if (stream == NULL)
        return step_writer_keep(writer, STEP_STATUS_NO_MEMORY, NULL);
    struct step_pending *rows = &stream->rows;
    enum step_status status = step_pending_to_columns(rows, writer->plan, &writer->pages);
    if (status != STEP_STATUS_OK)
        return status == STEP_STATUS_INVALID ? STEP_STATUS_OK
                                             : step_writer_keep(writer, status, NULL);
    size_t left = writer->options.block_records - rows->record_count;
    size_t most = wanted < STEP_RUN_RECORDS ? wanted : STEP_RUN_RECORDS;
    most = most < left ? most : left;
    bool room = step_pending_reserve_types(rows, most);
    for (size_t i = 0; i < layout->count && room; i++) {
        run->counts[i] = 0;
        run->values[i] = NULL;
        if (!layout->columns[i].same && layout->columns[i].column != STEP_NO_INDEX)
            room = (run->values[i] = step_pending_columns_room(
                        &rows->columns, layout->columns[i].column, most, &most)) != NULL;
    }
    if (!room)
        return step_writer_keep(writer, STEP_STATUS_NO_MEMORY, NULL);
    run->types = rows->types + rows->record_count;
    run->most = most;
    return STEP_STATUS_OK;
}

enum step_status step_writer_end_run(struct step_writer *writer,
                                     const struct step_run_layout *layout,
                                     const struct step_run *run, size_t records)
{
    struct step_stream *stream = writer->streams.last;
    struct step_pending_columns *columns = &stream->rows.columns;
    for (size_t i = 0; i < layout->count; i++) {
        uint32_t column = layout->columns[i].column;
        if (column == STEP_NO_INDEX)
            continue;
        if (!layout->columns[i].same)
            step_pending_columns_take(columns, column, run->counts[i], layout->columns[i].ascends);
        else if (!step_pending_columns_repeat(columns, column, run->same_values[i], run->counts[i]))
            return step_writer_keep(writer, STEP_STATUS_NO_MEMORY, NULL);
    }
    stream->rows.record_count += records;
    return writer_settle(writer, stream);
}

uint64_t step_writer_put_count(const struct step_writer *writer, uint64_t number)
{
    const struct step_stream *stream = step_stream_find(&writer->streams, number);
    return stream != NULL ? stream->written_count + stream->rows.record_count : 0;
}

uint64_t step_writer_written_count(const struct step_writer *writer, uint64_t number)
{
    const struct step_stream *stream = step_stream_find(&writer->streams, number);
    return stream != NULL ? stream->written_count : 0;
}

/* Numbers of records go on where an earlier file ended.  Once records wait, some callers may
 * already know their numbers (step_writer_put_count()), and it is too late. */
enum step_status step_writer_resume_stream(struct step_writer *writer, uint64_t number,
                                           uint64_t count)
{
    if (step_writer_ready(writer) != STEP_STATUS_OK)
        return writer->status;
    struct step_stream *stream = step_stream_get(&writer->streams, number);
    if (stream == NULL)
        return step_writer_keep(writer, STEP_STATUS_NO_MEMORY, NULL);
    if (stream->rows.record_count > 0)
        return step_writer_keep(writer, STEP_STATUS_INVALID,
                                "a stream was resumed after records were put");
    stream->written_count = count;
    return STEP_STATUS_OK;
}

enum step_status step_writer_flush_stream(struct step_writer *writer, uint64_t number)
{
    if (step_writer_ready(writer) != STEP_STATUS_OK)
        return writer->status;
    struct step_stream *stream = step_stream_find(&writer->streams, number);
    enum step_status status = step_writer_pending(writer);
    if (status == STEP_STATUS_OK && stream != NULL)
        status = step_writer_flush_rows(writer, stream);
    return step_writer_keep(writer, status, NULL);
}

enum step_status step_writer_flush(struct step_writer *writer)
{
    if (step_writer_ready(writer) != STEP_STATUS_OK)
        return writer->status;
    enum step_status status = step_writer_pending(writer);
    for (size_t i = 0; i < writer->streams.count && status == STEP_STATUS_OK; i++)
        status = step_writer_flush_rows(writer, writer->streams.streams[i]);
    return step_writer_keep(writer, status, NULL);
}

const struct step_definition *step_writer_borrow_definition(const struct step_writer *writer)
{
    return writer->options.definition;
}

uint64_t step_writer_pending_bytes(const struct step_writer *writer)
{
    return writer->memory + writer->pages.bytes;
}

uint64_t step_writer_size(const struct step_writer *writer)
{
    return writer->offset;
}

uint64_t step_writer_refused_count(const struct step_writer *writer)
{
    return writer->refused_count;
}

/* Writes the ranges of fields, a copy of the definition, the index and the footer, in this order.
 * The index lists all blocks before it; the block of the index is not in the index, and the footer
 * has its position.  The footer is last: its being there says that all of the rest is. */
static enum step_status write_end(struct step_writer *writer)
{
    const struct step_definition *definition = writer->options.definition;
    enum step_status copied = step_writer_ranges_block(writer);
    if (copied == STEP_STATUS_OK)
        copied =
            step_writer_bytes_block(writer, STEP_BLOCK_DEFINITION,
                                    (const uint8_t *) definition->text, definition->text_length);
    if (copied != STEP_STATUS_OK)
        return copied;
    uint64_t index_offset = writer->offset;
    struct step_block_header header = {.kind = STEP_BLOCK_INDEX,
                                       .record_count = writer->block_count};
    enum step_status status =
        step_block_write_bytes(&writer->blocks, writer->index.data, writer->index.length, &header);
    if (status == STEP_STATUS_OK)
        status = step_writer_output(writer, writer->blocks.block.data, writer->blocks.block.length);
    uint8_t footer[STEP_FOOTER_BYTES];
    step_footer_pack(index_offset, writer->offset + sizeof footer, footer);
    return status == STEP_STATUS_OK ? step_writer_output(writer, footer, sizeof footer) : status;
}

static void step_writer_finish(struct step_writer *writer, bool complete)
{
    struct step_error error = {.offset = STEP_NO_OFFSET};
    if (writer->options.finish == NULL)
        return;
    enum step_status status = writer->options.finish(writer->options.output.user, complete, &error);
    writer->options.finish = NULL;
    if (status != STEP_STATUS_OK && writer->status == STEP_STATUS_OK) {
        writer->status = status;
        writer->error = error;
    }
}

/* Reports refused records; all that was accepted is written. */
static enum step_status report_refusals(const struct step_writer *writer, struct step_error *error)
{
    char context[64];
    if (error != NULL)
        *error = writer->refusal;
    snprintf(context, sizeof context, "%" PRIu64 " records were refused; the first",
             writer->refused_count);
    if (writer->refused_count > 1)
        step_error_prefix(error, context);
    return writer->refusal.status;
}

/* A trace that failed is not ended with an index: without one, readers see that it was cut. */
enum step_status step_writer_close(struct step_writer *writer, struct step_error *error)
{
    if (!writer->closed && step_writer_flush(writer) == STEP_STATUS_OK)
        step_writer_keep(writer, write_end(writer), NULL);
    writer->closed = true;
    step_writer_finish(writer, writer->status == STEP_STATUS_OK);
    if (writer->status == STEP_STATUS_OK && writer->refused_count > 0)
        return report_refusals(writer, error);
    if (writer->status != STEP_STATUS_OK && error != NULL)
        *error = writer->error;
    return writer->status;
}

void step_writer_destroy(struct step_writer *writer)
{
    if (writer == NULL)
        return;
    step_writer_finish(writer, false);
    step_stream_table_reset(&writer->streams);
    step_page_pool_reset(&writer->pages);
    for (size_t i = 0; writer->dictionaries != NULL && i < writer->options.definition->record_count;
         i++)
        step_pending_reset(&writer->dictionaries[i].rows);
    free(writer->dictionaries);
    step_check_reset(&writer->check);
    step_columns_destroy(writer->columns);
    step_block_verifier_destroy(writer->verifier);
    step_block_writer_reset(&writer->blocks);
    step_plan_destroy(writer->plan);
    step_buffer_reset(&writer->properties);
    step_buffer_reset(&writer->index);
    step_buffer_reset(&writer->ranges);
    free(writer);
}
