/* SPDX-License-Identifier: Apache-2.0 */
/* What all writers of heaps share. */
#include "converter/heap/heap_writer.h"

#include <stdlib.h>

enum step_status heap_writer_no_memory(struct step_error *error)
{
    return step_error_set(error, STEP_STATUS_NO_MEMORY, NULL, STEP_NO_OFFSET, "out of memory");
}

enum step_status heap_writer_create(const struct heap_writer_operations *operations,
                                    const struct step_output *output,
                                    const struct heap_export *options,
                                    const struct heap_sites *sites, struct heap_writer **out,
                                    struct step_error *error)
{
    struct heap_writer *writer = calloc(1, operations->size_bytes);
    if (writer == NULL)
        return heap_writer_no_memory(error);
    writer->operations = operations;
    writer->options = *options;
    writer->sites = sites;
    if (!output_stream_open(&writer->stream, output)) {
        heap_writer_destroy(writer);
        return heap_writer_no_memory(error);
    }
    *out = writer;
    return STEP_STATUS_OK;
}

enum step_status heap_writer_close(struct heap_writer *writer, struct step_error *error)
{
    enum step_status status = writer->operations->close(writer, error);
    if (status != STEP_STATUS_OK)
        return status;
    return output_stream_close(&writer->stream, error);
}

void heap_writer_destroy(struct heap_writer *writer)
{
    if (writer == NULL)
        return;
    if (writer->operations->reset != NULL)
        writer->operations->reset(writer);
    output_stream_reset(&writer->stream);
    free(writer);
}
