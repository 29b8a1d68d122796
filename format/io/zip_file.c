/* SPDX-License-Identifier: Apache-2.0 */
/* Gives minizip access to a ZIP file on disk or in memory. */
#include "format/io/zip_file.h"
#include "format/core/input_file.h"

#include <errno.h>
#include <string.h>

#define MADE_BY_UNIX_4_5 (3u << 8 | 45u)
#define MODE_REGULAR_0644 (0100644ul << 16)
#define DATE_1980_01_01 (1ul << 21 | 1ul << 16) /* the earliest date in a ZIP file */

static void note_error(struct zip_file *file)
{
    if (file->error == 0)
        file->error = errno != 0 ? errno : EIO;
}

bool zip_file_open(struct zip_file *file, const char *path, const char *mode)
{
    errno = 0;
    bool reads = mode[0] == 'r';
    *file = (struct zip_file){.file = reads ? input_file_stream(path, INPUT_STREAM)
                                            : fopen(path, mode)};
    if (file->file == NULL)
        note_error(file);
    return file->file != NULL;
}

bool zip_file_open_memory(struct zip_file *file, const void *data, size_t length)
{
    errno = 0;
    *file = (struct zip_file){.file = fmemopen((void *) (uintptr_t) data, length, "rb")};
    if (file->file == NULL)
        note_error(file);
    return file->file != NULL;
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

static uLong zip_file_read(voidpf opaque, voidpf stream, void *buffer, uLong size)
{
    struct zip_file *file = opaque;
    (void) stream;
    errno = 0;
    uLong got = fread(buffer, 1, size, file->file);
    if (got < size && ferror(file->file))
        note_error(file);
    return got;
}

static uLong zip_file_write(voidpf opaque, voidpf stream, const void *buffer, uLong size)
{
    struct zip_file *file = opaque;
    (void) stream;
    errno = 0;
    uLong put = fwrite(buffer, 1, size, file->file);
    if (put < size)
        note_error(file);
    return put;
}

static ZPOS64_T report_file(voidpf opaque, voidpf stream)
{
    struct zip_file *file = opaque;
    (void) stream;
    errno = 0;
    off_t position = ftello(file->file);
    if (position < 0)
        note_error(file);
    return position < 0 ? (ZPOS64_T) -1 : (ZPOS64_T) position;
}

/* EINVAL: an impossible offset, so the ZIP file that contains it is faulty. */
static long seek_file(voidpf opaque, voidpf stream, ZPOS64_T offset, int origin)
{
    static const int origins[] = {[ZLIB_FILEFUNC_SEEK_SET] = SEEK_SET,
                                  [ZLIB_FILEFUNC_SEEK_CUR] = SEEK_CUR,
                                  [ZLIB_FILEFUNC_SEEK_END] = SEEK_END};
    struct zip_file *file = opaque;
    (void) stream;
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
    return ferror(file->file);
}

size_t zip_file_read_at(struct zip_file *file, uint64_t offset, void *buffer, size_t size)
{
    if (seek_file(file, file, offset, ZLIB_FILEFUNC_SEEK_SET) != 0)
        return 0;
    return zip_file_read(file, file, buffer, size);
}

bool zip_file_write_at(struct zip_file *file, uint64_t offset, const void *data, size_t size)
{
    return seek_file(file, file, offset, ZLIB_FILEFUNC_SEEK_SET) == 0 &&
           zip_file_write(file, file, data, size) == size;
}

uint64_t zip_file_size(struct zip_file *file)
{
    if (seek_file(file, file, 0, ZLIB_FILEFUNC_SEEK_END) != 0)
        return 0;
    ZPOS64_T size = report_file(file, file);
    return size == (ZPOS64_T) -1 ? 0 : size;
}

void zip_file_functions(struct zip_file *file, zlib_filefunc64_def *functions)
{
    *functions = (zlib_filefunc64_def){
        .zopen64_file = open_file,
        .zread_file = zip_file_read,
        .zwrite_file = zip_file_write,
        .ztell64_file = report_file,
        .zseek64_file = seek_file,
        .zclose_file = close_file,
        .zerror_file = test_error,
        .opaque = file,
    };
}

zipFile zip_file_start(struct zip_file *file, const char *name)
{
    zlib_filefunc64_def functions;
    zip_file_functions(file, &functions);
    return zipOpen2_64(name, APPEND_STATUS_CREATE, NULL, &functions);
}

bool zip_file_add(zipFile zip, const char *name, int level, bool raw)
{
    const zip_fileinfo info = {.dosDate = DATE_1980_01_01, .external_fa = MODE_REGULAR_0644};
    return zipOpenNewFileInZip4_64(zip, name, &info, NULL, 0, NULL, 0, NULL, Z_DEFLATED, level, raw,
                                   -MAX_WBITS, ZIP_FILE_MEMORY_LEVEL, Z_DEFAULT_STRATEGY, NULL, 0,
                                   MADE_BY_UNIX_4_5, 0, 1) == ZIP_OK;
}
