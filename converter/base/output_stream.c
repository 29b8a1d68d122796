/* SPDX-License-Identifier: Apache-2.0 */
/* A stdio stream over an output, made with fopencookie(). */
#include "converter/base/output_stream.h"

#include <errno.h>

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

bool output_stream_open(struct output_stream *stream, const struct step_output *to)
{
    *stream = (struct output_stream){.to = *to, .error = {.offset = STEP_NO_OFFSET}};
    stream->file = fopencookie(stream, "w", (cookie_io_functions_t){.write = write_some});
    if (stream->file != NULL)
        setvbuf(stream->file, NULL, _IOFBF, 65536);
    return stream->file != NULL;
}

enum step_status output_stream_close(struct output_stream *stream, struct step_error *error)
{
    if (fclose(stream->file) != 0 && stream->error.status == STEP_STATUS_OK)
        step_error_set(&stream->error, STEP_STATUS_IO, NULL, STEP_NO_OFFSET, "writing failed");
    stream->file = NULL;
    return output_stream_status(stream, error);
}

void output_stream_reset(struct output_stream *stream)
{
    if (stream->file != NULL)
        fclose(stream->file);
    stream->file = NULL;
}
