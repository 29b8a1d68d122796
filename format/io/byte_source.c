/* SPDX-License-Identifier: Apache-2.0 */
/* Reads bytes of a file with pread(), of memory in place, or from a caller's input. */
#include "format/io/byte_source.h"
#include "format/core/input_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum step_status step_byte_source_open(const char *path, struct step_byte_source *source,
                                       struct step_error *error)
{
    *source = (struct step_byte_source){.file = -1, .name = path};
    struct stat about;
    int file = input_file_open(path, INPUT_REGULAR, &about);
    if (file == INPUT_NOT_REGULAR)
        return step_error_set(error, STEP_STATUS_IO, path, STEP_NO_OFFSET,
                              "cannot read: not a regular file");
    if (file < 0) {
        enum step_status status = errno == ENOENT ? STEP_STATUS_NOT_FOUND : STEP_STATUS_IO;
        return step_error_set(error, status, path, STEP_NO_OFFSET, "cannot open: %s",
                              strerror(errno));
    }
    source->file = file;
    source->size = (uint64_t) about.st_size;
    return STEP_STATUS_OK;
}

void step_byte_source_close(struct step_byte_source *source)
{
    if (source->file >= 0)
        close(source->file);
    source->file = -1;
}

static enum step_status byte_source_read_file(const struct step_byte_source *source,
                                              uint64_t offset, size_t length, uint8_t *out,
                                              struct step_error *error)
{
    while (length > 0) {
        ssize_t got = pread(source->file, out, length, (off_t) offset);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return step_error_set(error, STEP_STATUS_IO, source->name, offset, "cannot read: %s",
                                  strerror(errno));
        if (got == 0)
            return step_error_set(error, STEP_STATUS_CUT, source->name, offset,
                                  "the file ends here, %zu bytes too early", length);
        out += got;
        offset += (uint64_t) got;
        length -= (size_t) got;
    }
    return STEP_STATUS_OK;
}

enum step_status step_byte_source_read(const struct step_byte_source *source, uint64_t offset,
                                       uint64_t length, struct step_buffer *buffer,
                                       const uint8_t **bytes, struct step_error *error)
{
    if (offset > source->size || length > source->size - offset)
        return step_error_set(error, STEP_STATUS_CUT, source->name, source->base + source->size,
                              "the data ends here");
    if (source->file < 0 && source->input.read == NULL) {
        *bytes = source->memory + offset;
        return STEP_STATUS_OK;
    }
    buffer->length = 0;
    if (!step_buffer_reserve(buffer, (size_t) length + 1))
        return step_error_set(error, STEP_STATUS_NO_MEMORY, source->name, offset,
                              "no memory for %llu bytes", (unsigned long long) length);
    *bytes = buffer->data;
    if (source->file < 0)
        return source->input.read(source->input.user, offset, buffer->data, (size_t) length, error);
    return byte_source_read_file(source, offset, (size_t) length, buffer->data, error);
}
