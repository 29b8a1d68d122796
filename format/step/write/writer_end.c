/* SPDX-License-Identifier: Apache-2.0 */
/* The end of a trace. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "format/step/write/writer_internal.h"

/* The definition once more, for where the first is damaged.  The index block is not in the index;
 * the footer says where it is. */
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

/* All that was taken is written. */
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
