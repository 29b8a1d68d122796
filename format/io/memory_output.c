/* SPDX-License-Identifier: Apache-2.0 */
/* A step_output that appends to a growing buffer. */
#include "format/io/memory_output.h"

static enum step_status memory_output_append(void *user, const void *data, size_t length,
                                             struct step_error *error)
{
    struct step_buffer *buffer = user;
    if (step_buffer_append(buffer, data, length))
        return STEP_STATUS_OK;
    return step_error_set(error, STEP_STATUS_NO_MEMORY, NULL, buffer->length, "out of memory");
}

struct step_output step_memory_output(struct step_buffer *buffer)
{
    return (struct step_output){buffer, memory_output_append};
}
