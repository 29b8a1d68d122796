/* SPDX-License-Identifier: Apache-2.0 */
/* Hands what is printed on, through a packer if it is to be compressed. */
#include "converter/output/output_stream.h"

#include <errno.h>
#include <stdio.h>

#include "converter/containers/no_memory.h"

static ssize_t write_some(void *cookie, const char *data, size_t length)
{
    struct output_stream *stream = cookie;
    if (stream->error.status == STEP_STATUS_OK)
        stream->error.status = stream->to.write(stream->to.user, data, length, &stream->error);
    if (stream->error.status == STEP_STATUS_OK)
        return (ssize_t) length;
    errno = EIO;
    return 0;
}

enum step_status output_pack(struct step_output *output, enum step_packing packing, int level,
                             struct step_packed_output **packed, struct step_error *error)
{
    if (packing == STEP_PACKING_NONE)
        return STEP_STATUS_OK;
    enum step_status status = step_packed_output_create(packing, level, output, packed, error);
    if (status == STEP_STATUS_OK)
        status = step_packed_output_use_thread(*packed, error);
    if (status == STEP_STATUS_OK)
        *output = step_packed_output_as_output(*packed);
    return status;
}

enum step_status output_stream_open(struct output_stream *stream, const struct step_output *to,
                                    enum step_packing packing, int level, struct step_error *error)
{
    *stream = (struct output_stream){.to = *to, .error = {.offset = STEP_NO_OFFSET}};
    enum step_status status = output_pack(&stream->to, packing, level, &stream->packed, error);
    if (status != STEP_STATUS_OK)
        return status;
    stream->file = fopencookie(stream, "w", (cookie_io_functions_t){.write = write_some});
    if (stream->file == NULL)
        return no_memory(error);
    setvbuf(stream->file, NULL, _IOFBF, 65536);
    return STEP_STATUS_OK;
}

enum step_status output_stream_close(struct output_stream *stream, struct step_error *error)
{
    if (fclose(stream->file) != 0 && stream->error.status == STEP_STATUS_OK)
        step_error_set(&stream->error, STEP_STATUS_IO, NULL, STEP_NO_OFFSET, "writing failed");
    stream->file = NULL;
    enum step_status status = output_stream_status(stream, error);
    return status == STEP_STATUS_OK && stream->packed != NULL
               ? step_packed_output_close(stream->packed, error)
               : status;
}

void output_stream_reset(struct output_stream *stream)
{
    if (stream->file != NULL)
        fclose(stream->file);
    step_packed_output_destroy(stream->packed);
    stream->file = NULL;
    stream->packed = NULL;
}
