/* SPDX-License-Identifier: Apache-2.0 */
/* Gives minizip access to a ZIP file on disk or in memory. */
#include "format/io/zip_file.h"

#include <errno.h>
#include <string.h>

static void note_error(struct zip_file *file)
{
    if (file->error == 0)
        file->error = errno != 0 ? errno : EIO;
}

bool zip_file_open(struct zip_file *file, const char *path, const char *mode)
{
    memset(file, 0, sizeof *file);
    errno = 0;
    file->file = fopen(path, mode);
    if (file->file == NULL)
        note_error(file);
    return file->file != NULL;
}

void zip_file_open_memory(struct zip_file *file, const void *data, size_t length)
{
    memset(file, 0, sizeof *file);
    file->data = data;
    file->length = length;
}

bool zip_file_close(struct zip_file *file)
{
    errno = 0;
    if (file->file != NULL && fclose(file->file) != 0)
        note_error(file);
    file->file = NULL;
    return file->error == 0;
}

static voidpf open_file(voidpf opaque, const void *name, int mode)
{
    (void) name;
    (void) mode;
    return opaque;
}

static uLong read_file(voidpf opaque, voidpf stream, void *buffer, uLong size)
{
    struct zip_file *file = opaque;
    (void) stream;
    if (file->file != NULL) {
        errno = 0;
        uLong got = fread(buffer, 1, size, file->file);
        if (got < size && ferror(file->file))
            note_error(file);
        return got;
    }
    uint64_t left = file->position < file->length ? file->length - file->position : 0;
    uLong got = size < left ? size : (uLong) left;
    if (got > 0)
        memcpy(buffer, file->data + file->position, got);
    file->position += got;
    return got;
}

static uLong write_file(voidpf opaque, voidpf stream, const void *buffer, uLong size)
{
    struct zip_file *file = opaque;
    (void) stream;
    errno = 0;
    uLong put = file->file != NULL ? fwrite(buffer, 1, size, file->file) : 0;
    if (put < size)
        note_error(file);
    return put;
}

static ZPOS64_T report_file(voidpf opaque, voidpf stream)
{
    struct zip_file *file = opaque;
    (void) stream;
    if (file->file == NULL)
        return file->position;
    errno = 0;
    off_t position = ftello(file->file);
    if (position < 0)
        note_error(file);
    return position < 0 ? (ZPOS64_T) -1 : (ZPOS64_T) position;
}

static long seek_memory(struct zip_file *file, uint64_t offset, int origin)
{
    uint64_t base = 0;
    if (origin == ZLIB_FILEFUNC_SEEK_CUR)
        base = file->position;
    else if (origin == ZLIB_FILEFUNC_SEEK_END)
        base = file->length;
    if (base + offset > file->length) /* minizip seeks back by offsets that wrap around */
        return -1;
    file->position = base + offset;
    return 0;
}

/* EINVAL: an impossible offset, so the ZIP file that contains it is faulty. */
static long seek_file(voidpf opaque, voidpf stream, ZPOS64_T offset, int origin)
{
    static const int origins[] = {[ZLIB_FILEFUNC_SEEK_SET] = SEEK_SET,
                                  [ZLIB_FILEFUNC_SEEK_CUR] = SEEK_CUR,
                                  [ZLIB_FILEFUNC_SEEK_END] = SEEK_END};
    struct zip_file *file = opaque;
    (void) stream;
    if (file->file == NULL)
        return seek_memory(file, offset, origin);
    errno = 0;
    if (fseeko(file->file, (off_t) offset, origins[origin]) == 0)
        return 0;
    if (errno != EINVAL)
        note_error(file);
    return -1;
}

static int close_file(voidpf opaque, voidpf stream)
{
    (void) opaque;
    (void) stream;
    return 0;
}

static int test_error(voidpf opaque, voidpf stream)
{
    struct zip_file *file = opaque;
    (void) stream;
    return file->file != NULL && ferror(file->file);
}

size_t zip_file_read_at(struct zip_file *file, uint64_t offset, void *buffer, size_t size)
{
    if (seek_file(file, file, offset, ZLIB_FILEFUNC_SEEK_SET) != 0)
        return 0;
    return read_file(file, file, buffer, size);
}

bool zip_file_write_at(struct zip_file *file, uint64_t offset, const void *data, size_t size)
{
    return seek_file(file, file, offset, ZLIB_FILEFUNC_SEEK_SET) == 0 &&
           write_file(file, file, data, size) == size;
}

uint64_t zip_file_size(struct zip_file *file)
{
    if (file->file == NULL)
        return file->length;
    if (seek_file(file, file, 0, ZLIB_FILEFUNC_SEEK_END) != 0)
        return 0;
    ZPOS64_T size = report_file(file, file);
    return size == (ZPOS64_T) -1 ? 0 : size;
}

void zip_file_functions(struct zip_file *file, zlib_filefunc64_def *functions)
{
    *functions = (zlib_filefunc64_def){
        .zopen64_file = open_file,
        .zread_file = read_file,
        .zwrite_file = write_file,
        .ztell64_file = report_file,
        .zseek64_file = seek_file,
        .zclose_file = close_file,
        .zerror_file = test_error,
        .opaque = file,
    };
}
