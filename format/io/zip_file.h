/* SPDX-License-Identifier: Apache-2.0 */
/* Inside the text layer: the bytes of a ZIP file, on disk or in memory, as minizip sees them. */
#ifndef FORMAT_IO_ZIP_FILE_H
#define FORMAT_IO_ZIP_FILE_H

#include <minizip/ioapi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Caller-owned.  The first errno of an operation that failed is kept, since minizip loses it. */
struct zip_file {
    FILE *file; /* NULL: in memory */
    const uint8_t *data;
    uint64_t length;
    uint64_t position;
    int error;
};

/* False, with the reason in `error`, where the file cannot be opened; `mode` is fopen's. */
bool zip_file_open(struct zip_file *file, const char *path, const char *mode);
void zip_file_open_memory(struct zip_file *file, const void *data, size_t length);

/* Reads up to `size` bytes at `offset`. */
size_t zip_file_read_at(struct zip_file *file, uint64_t offset, void *buffer, size_t size);

/* Writes `size` bytes at `offset` of a file on disk; false, with `error` set, if that failed. */
bool zip_file_write_at(struct zip_file *file, uint64_t offset, const void *data, size_t size);

/* Bytes in the file; 0, perhaps with `error` set, where that is not known. */
uint64_t zip_file_size(struct zip_file *file);

/* Closes the file, if it is still open; false if that, or anything before, failed. */
bool zip_file_close(struct zip_file *file);

/* The functions that minizip calls; its close leaves the file open.  `file` must outlive its use.
 */
void zip_file_functions(struct zip_file *file, zlib_filefunc64_def *functions);

#endif
