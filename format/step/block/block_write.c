/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Encodes blocks: summary, directory and sections, and the header before them.
 *
 * The summary says how many records of which types the block has.  It comes first, with a checksum
 * of its own: an index or a walk reads it without the rest, so a reader knows which blocks it
 * needs.  From the summary follows how many values each column has, so the columns need not say it.
 *
 * With a crew, each column is a part that any thread may encode.  Parts are put together in the
 * order of the columns, and the choice for a column depends on the records of the block alone.  So
 * the bytes are the same for any number of threads.
 */
#include "format/step/block/block_write.h"

#include <stdlib.h>
#include <string.h>

#include "format/core/checksum.h"
#include "format/core/grow.h"

enum {
    TRIAL_RECORDS = 8192,
    ROWS_PAUSE = 15,      /* after rows lost clearly, so many large blocks are not tried as rows, */
    ROWS_PAUSE_MOST = 127 /* at most, when they lose repeatedly */
};

enum step_status step_block_writer_init(struct step_block_writer *writer,
                                        enum step_compression compression, int level)
{
    *writer = (struct step_block_writer){.compression = compression, .level = level};
    return step_compressor_create(compression, level, &writer->encoder.compressor);
}

enum step_status step_block_writer_share(struct step_block_writer *writer, unsigned threads)
{
    if (writer->crew != NULL || threads < 2)
        return STEP_STATUS_OK;
    writer->helpers = calloc(threads - 1, sizeof *writer->helpers);
    if (writer->helpers == NULL)
        return STEP_STATUS_NO_MEMORY;
    enum step_status status = STEP_STATUS_OK;
    for (; writer->helper_count < threads - 1 && status == STEP_STATUS_OK; writer->helper_count++)
        status = step_compressor_create(writer->compression, writer->level,
                                        &writer->helpers[writer->helper_count].compressor);
    if (status == STEP_STATUS_OK)
        writer->crew = step_crew_create(threads);
    return status;
}

static void reset_encoder(struct step_column_encoder *encoder)
{
    step_compressor_destroy(encoder->compressor);
    step_scratch_reset(&encoder->scratch);
    step_buffer_reset(&encoder->out.directory);
    step_buffer_reset(&encoder->out.sections);
}

void step_block_writer_reset(struct step_block_writer *writer)
{
    step_crew_destroy(writer->crew);
    reset_encoder(&writer->encoder);
    for (unsigned i = 0; i < writer->helper_count; i++)
        reset_encoder(&writer->helpers[i]);
    free(writer->helpers);
    for (size_t i = 0; i < writer->part_count; i++) {
        step_buffer_reset(&writer->parts[i].directory);
        step_buffer_reset(&writer->parts[i].sections);
    }
    free(writer->parts);
    step_buffer_reset(&writer->summary);
    step_buffer_reset(&writer->block);
    step_buffer_reset(&writer->other);
    step_row_writer_reset(&writer->rows);
    for (size_t i = 0; i < STEP_RECALLED_STREAMS; i++)
        free(writer->recalled[i].columns);
    *writer = (struct step_block_writer){0};
}

/* The header comes last, as it has lengths and checksums of the rest; its room was left at the
 * start.  Room for the whole block is reserved once, so the appends after that cannot fail.  Both
 * checksums start at the summary: a walk verifies that part alone, and a reader all. */
static enum step_status block_write_put_together(struct step_block_writer *writer,
                                                 struct step_block_header *header)
{
    struct step_buffer *block = &writer->block;
    size_t payload = writer->summary.length + STEP_VARINT_MAX +
                     writer->encoder.out.directory.length + writer->encoder.out.sections.length;
    block->length = 0;
    if (!step_buffer_reserve(block, STEP_BLOCK_HEADER_BYTES + payload))
        return STEP_STATUS_NO_MEMORY;
    block->length = STEP_BLOCK_HEADER_BYTES;
    step_buffer_append(block, writer->summary.data, writer->summary.length);
    if (header->layout == STEP_LAYOUT_COLUMNS)
        step_buffer_append_varint(block, writer->encoder.out.directory.length);
    step_buffer_append(block, writer->encoder.out.directory.data,
                       writer->encoder.out.directory.length);
    step_buffer_append(block, writer->encoder.out.sections.data,
                       writer->encoder.out.sections.length);
    const uint8_t *start = block->data + STEP_BLOCK_HEADER_BYTES;
    header->summary_bytes = (uint32_t) writer->summary.length;
    header->summary_checksum = (uint32_t) step_checksum(start, writer->summary.length);
    header->payload_bytes = block->length - STEP_BLOCK_HEADER_BYTES;
    header->payload_checksum = step_checksum(start, (size_t) header->payload_bytes);
    step_block_header_pack(header, block->data);
    return STEP_STATUS_OK;
}

/* columns->records ascend (count_types()), as readers demand of a summary. */
static bool write_summary(struct step_block_writer *writer, const struct step_columns *columns)
{
    struct step_buffer *out = &writer->summary;
    out->length = 0;
    bool ok = step_buffer_append_varint(out, columns->type_count);
    for (size_t i = 0; ok && i < columns->type_count; i++)
        ok = step_buffer_append_varint(out, columns->records[i]) &&
             step_buffer_append_varint(out, columns->counts[i]);
    return ok;
}

/* Returns the recent choices for the stream's columns, or NULL if there is no memory for them, or
 * no use.  A few streams are kept, by their number modulo: a program may have ten thousand threads,
 * of which few write large blocks at one time.  A stream that takes another's place begins without
 * choices. */
static struct step_choice *recall_stream(struct step_block_writer *writer,
                                         const struct step_columns *columns,
                                         const struct step_block_header *header)
{
    size_t count = columns->plan->column_count + 1u;
    if (header->kind != STEP_BLOCK_DATA || columns->record_count <= TRIAL_RECORDS)
        return NULL;
    struct step_recalled_stream *recalled =
        &writer->recalled[header->stream % STEP_RECALLED_STREAMS];
    if (recalled->columns == NULL)
        recalled->columns = calloc(count, sizeof *recalled->columns);
    else if (recalled->stream != header->stream)
        memset(recalled->columns, 0, count * sizeof *recalled->columns);
    recalled->stream = header->stream;
    return recalled->columns;
}

/* Fills the block's header from its records. */
static void block_write_describe(const struct step_columns *columns,
                                 struct step_block_header *header)
{
    struct step_range time = step_columns_time(columns);
    struct step_range thread = step_columns_thread(columns);
    header->record_count = columns->record_count;
    header->time_min = time.min;
    header->time_max = time.max;
    header->thread_min = thread.min;
    header->thread_max = thread.max;
}

/* The columns of a block that are encoded, in parts: the record types, then each column. */
struct encoding {
    struct step_block_writer *writer;
    const struct step_columns *columns;
    struct step_choice *recalled; /* by column, or NULL */
};

/* Part 0 is the record types: their row is the first of the directory.  Each part has a choice of
 * its own, and only the member that encodes the part touches it, so the crew needs no lock. */
static enum step_status block_write_part(const struct encoding *encoding,
                                         struct step_column_encoder *encoder, size_t part)
{
    const struct step_columns *columns = encoding->columns;
    struct step_choice *recalled = encoding->recalled;
    uint32_t index = part == 0 ? columns->plan->column_count : columns->used[part - 1];
    struct step_choice *choice = recalled != NULL ? &recalled[index] : NULL;
    return part == 0 ? step_types_encode(encoder, columns, choice)
                     : step_column_encode(encoder, columns, index, choice);
}

static void block_write_clear(struct step_encoded *encoded)
{
    encoded->directory.length = 0;
    encoded->sections.length = 0;
}

/* Writes a part to its own place, by one of the crew.  The encoder's buffers and the part's are
 * exchanged, not copied.  Which member takes a part depends on the system, but compressors and
 * scratch buffers carry nothing from one column to the next that would show in the bytes. */
static enum step_status write_apart(void *user, unsigned member, size_t part)
{
    const struct encoding *encoding = user;
    struct step_block_writer *writer = encoding->writer;
    struct step_column_encoder *encoder =
        member == 0 ? &writer->encoder : &writer->helpers[member - 1];
    struct step_encoded before = writer->parts[part];
    block_write_clear(&encoder->out);
    enum step_status status = block_write_part(encoding, encoder, part);
    writer->parts[part] = encoder->out;
    encoder->out = before;
    return status;
}

/* Writes all parts, by the crew, and puts them together in their order. */
static enum step_status write_shared(const struct encoding *encoding, size_t count)
{
    struct step_block_writer *writer = encoding->writer;
    if (!STEP_MAKE_ZEROED_ROOM(writer->parts, writer->part_count, count))
        return STEP_STATUS_NO_MEMORY;
    enum step_status status = step_crew_run(writer->crew, count, write_apart, (void *) encoding);
    struct step_encoded *out = &writer->encoder.out;
    block_write_clear(out);
    for (size_t i = 0; i < count && status == STEP_STATUS_OK; i++) {
        const struct step_encoded *part = &writer->parts[i];
        if (!step_buffer_append(&out->directory, part->directory.data, part->directory.length) ||
            !step_buffer_append(&out->sections, part->sections.data, part->sections.length))
            status = STEP_STATUS_NO_MEMORY;
    }
    return status;
}

/* Without a crew, and for a small block, the caller appends part after part to the same buffers
 * that write_shared() fills in the end.  Both ways keep the order of the parts, so the bytes agree.
 */
enum step_status step_block_write_columns(struct step_block_writer *writer,
                                          const struct step_columns *columns,
                                          struct step_block_header *header)
{
    size_t count = columns->used_count + 1;
    enum step_status status = STEP_STATUS_OK;
    const struct encoding encoding = {writer, columns, recall_stream(writer, columns, header)};
    if (!write_summary(writer, columns))
        return STEP_STATUS_NO_MEMORY;
    block_write_clear(&writer->encoder.out);
    if (writer->crew != NULL && columns->record_count > TRIAL_RECORDS)
        status = write_shared(&encoding, count);
    else
        for (size_t i = 0; i < count && status == STEP_STATUS_OK; i++)
            status = block_write_part(&encoding, &writer->encoder, i);
    if (status != STEP_STATUS_OK)
        return status;
    header->layout = STEP_LAYOUT_COLUMNS;
    block_write_describe(columns, header);
    return block_write_put_together(writer, header);
}

/* Appends the compressed bytes after the summary, if there is one. */
static enum step_status compress_bytes(struct step_block_writer *writer, const uint8_t *bytes,
                                       size_t length, struct step_block_header *header)
{
    struct step_coding coding;
    block_write_clear(&writer->encoder.out);
    enum step_status status = step_column_write_bytes(bytes, length, writer->encoder.compressor,
                                                      &writer->encoder.out.sections, &coding);
    if (status != STEP_STATUS_OK)
        return status;
    if (!step_buffer_append_varint(&writer->encoder.out.directory, coding.method) ||
        !step_buffer_append_varint(&writer->encoder.out.directory, coding.raw_length))
        return STEP_STATUS_NO_MEMORY;
    return block_write_put_together(writer, header);
}

/* Rows are compressed as one stream, unlike columns.  The paper counts on that for what its
 * strategies leave: small records keep more of them in the compressor's window (section 3.3). */
enum step_status step_block_write_rows(struct step_block_writer *writer,
                                       const struct step_columns *columns,
                                       struct step_block_header *header)
{
    if (!write_summary(writer, columns))
        return STEP_STATUS_NO_MEMORY;
    enum step_status status = step_row_write(&writer->rows, columns, SIZE_MAX);
    if (status != STEP_STATUS_OK)
        return status;
    header->layout = STEP_LAYOUT_ROWS;
    block_write_describe(columns, header);
    return compress_bytes(writer, writer->rows.rows.data, writer->rows.rows.length, header);
}

/*
 * Returns false if a sample of the records is so large as rows that encoding all of them is
 * pointless.  The limit is twice the size of columns, because adaptive encodings do badly on a
 * sample.
 *
 * Even the sample takes time.  So after rows have lost, some large blocks are not tried, and more
 * of them each time that rows lose again; one win resets that.  A trace whose nature changes is
 * noticed after ROWS_PAUSE_MOST blocks at the latest.
 */
static bool rows_may_win(struct step_block_writer *writer, const struct step_columns *columns)
{
    size_t count = columns->record_count;
    if (count <= TRIAL_RECORDS)
        return true;
    if (writer->rows_pause > 0) {
        writer->rows_pause--;
        return false;
    }
    if (step_row_write(&writer->rows, columns, TRIAL_RECORDS) != STEP_STATUS_OK)
        return false;
    size_t sample = step_compress_estimate(writer->encoder.compressor,
                                           step_compressor_is_best(writer->encoder.compressor),
                                           writer->rows.rows.data, writer->rows.rows.length);
    bool may_win = sample / 2 < writer->block.length / (count / TRIAL_RECORDS);
    unsigned longer = writer->rows_patience * 2 + 1;
    writer->rows_patience = may_win                    ? 0
                            : longer < ROWS_PAUSE      ? ROWS_PAUSE
                            : longer < ROWS_PAUSE_MOST ? longer
                                                       : ROWS_PAUSE_MOST;
    writer->rows_pause = writer->rows_patience;
    return may_win;
}

static void swap_blocks(struct step_block_writer *writer)
{
    struct step_buffer block = writer->block;
    writer->block = writer->other;
    writer->other = block;
}

/* Columns first: they are the usual winner, and their size is what rows are measured against.  A
 * value that rows cannot store (INVALID) is no failure, since columns can.
 *
 * Rows are encoded into writer->block like everything else, so the columns are set aside in
 * writer->other.  If rows lose, or fail, the two change places again: writer->block and `header`
 * must describe the same layout on each path. */
enum step_status step_block_write_smallest(struct step_block_writer *writer,
                                           const struct step_columns *columns,
                                           struct step_block_header *header)
{
    enum step_status status = step_block_write_columns(writer, columns, header);
    if (status != STEP_STATUS_OK || !rows_may_win(writer, columns))
        return status;
    struct step_block_header rows = *header;
    swap_blocks(writer);
    status = step_block_write_rows(writer, columns, &rows);
    if (status == STEP_STATUS_OK && writer->block.length < writer->other.length)
        *header = rows;
    else
        swap_blocks(writer);
    return status == STEP_STATUS_INVALID ? STEP_STATUS_OK : status;
}

enum step_status step_block_write_bytes(struct step_block_writer *writer, const uint8_t *bytes,
                                        size_t length, struct step_block_header *header)
{
    writer->summary.length = 0;
    header->layout = STEP_LAYOUT_BYTES;
    return compress_bytes(writer, bytes, length, header);
}
