/* SPDX-License-Identifier: Apache-2.0 */
/* The bytes of a ZIP file, on disk or in memory, as input and output functions for minizip. */
#ifndef FORMAT_IO_ZIP_FILE_H
#define FORMAT_IO_ZIP_FILE_H

#include <minizip/ioapi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Caller-owned.  Keeps the first errno of a failed operation, which minizip loses. */
struct zip_file {
    FILE *file; /* NULL: in memory */
    const uint8_t *data;
    uint64_t length;
    uint64_t position;
    int error;
};

/* Opens a file; `mode` is fopen's.  Returns false with the reason in `error`. */
bool zip_file_open(struct zip_file *file, const char *path, const char *mode);
void zip_file_open_memory(struct zip_file *file, const void *data, size_t length);

/* Reads up to `size` bytes at `offset`.  Returns the number of bytes read. */
size_t zip_file_read_at(struct zip_file *file, uint64_t offset, void *buffer, size_t size);

/* Writes `size` bytes at `offset` of a file on disk.  Returns false with `error` set if that
 * failed. */
bool zip_file_write_at(struct zip_file *file, uint64_t offset, const void *data, size_t size);

/* Returns the size of the file, or 0, possibly with `error` set, if it is unknown. */
uint64_t zip_file_size(struct zip_file *file);

/* Closes the file if it is open.  Returns false if that, or an earlier operation, failed. */
bool zip_file_close(struct zip_file *file);

/* Fills the functions that minizip calls; their close leaves the file open.  `file` must outlive
 * their use. */
void zip_file_functions(struct zip_file *file, zlib_filefunc64_def *functions);

#endif
