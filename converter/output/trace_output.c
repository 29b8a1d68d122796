/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the records of a trace into a file that appears when it is whole. */
#include "converter/output/trace_output.h"

#include "converter/output/output_file.h"

enum step_status trace_write(const char *output, struct step_writer_options *options,
                             enum step_status (*fill)(void *user, struct step_writer *writer,
                                                      struct step_error *error),
                             void *user, uint64_t *size_bytes, struct step_error *error)
{
    struct output_file file;
    struct step_writer *writer;
    enum step_status status = output_file_open(&file, output, error);
    if (status == STEP_STATUS_OK) {
        options->output = output_file_as_output(&file);
        status = step_writer_create(options, &writer, error);
        if (status == STEP_STATUS_OK) {
            struct step_error closing = {.offset = STEP_NO_OFFSET};
            enum step_status filled = fill(user, writer, error);
            status = step_writer_close(writer, &closing);
            step_writer_destroy(writer);
            if (status != STEP_STATUS_OK)
                *error = closing; /* the writer's first error */
            status = status != STEP_STATUS_OK ? status : filled;
        }
        status = output_file_end(&file, status, error);
        if (size_bytes != NULL)
            *size_bytes = file.size_bytes;
    }
    if (status != STEP_STATUS_OK && error->status == STEP_STATUS_OK)
        step_error_set(error, status, output, STEP_NO_OFFSET, "%s", step_status_text(status));
    return status;
}
