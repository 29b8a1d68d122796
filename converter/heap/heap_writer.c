/* SPDX-License-Identifier: Apache-2.0 */
/* Functions common to all heap writers. */
#include "converter/heap/heap_writer.h"

#include <stdlib.h>

#include "converter/base/no_memory.h"

enum step_status heap_writer_create(const struct heap_writer_operations *operations,
                                    const struct step_output *output,
                                    const struct heap_export *options,
                                    const struct heap_sites *sites, struct heap_writer **out,
                                    struct step_error *error)
{
    struct heap_writer *writer = calloc(1, operations->size_bytes);
    if (writer == NULL)
        return no_memory(error);
    writer->operations = operations;
    writer->options = *options;
    writer->sites = sites;
    if (!output_stream_open(&writer->stream, output)) {
        heap_writer_destroy(writer);
        return no_memory(error);
    }
    *out = writer;
    return STEP_STATUS_OK;
}

enum step_status heap_writer_close(struct heap_writer *writer, struct step_error *error)
{
    enum step_status status = writer->operations->close != NULL
                                  ? writer->operations->close(writer, error)
                                  : STEP_STATUS_OK;
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
