/* SPDX-License-Identifier: Apache-2.0 */
/* The bytes of a ZIP file, on disk or in memory, as input and output functions for minizip. */
#ifndef FORMAT_IO_ZIP_FILE_H
#define FORMAT_IO_ZIP_FILE_H

#include <minizip/zip.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Caller-owned.  Keeps the first errno of a failed operation, which minizip loses. */
struct zip_file {
    FILE *file;
    int error;
};

/* Opens a file; `mode` is fopen's.  Returns false with the reason in `error`. */
bool zip_file_open(struct zip_file *file, const char *path, const char *mode);
bool zip_file_open_memory(struct zip_file *file, const void *data, size_t length);

/* Reads up to `size` bytes at `offset`.  Returns the number of bytes read. */
size_t zip_file_read_at(struct zip_file *file, uint64_t offset, void *buffer, size_t size);

/* Writes `size` bytes at `offset` of a file on disk.  Returns false with `error` set if that
 * failed. */
bool zip_file_write_at(struct zip_file *file, uint64_t offset, const void *data, size_t size);

/* Returns the size of the file, or 0, possibly with `error` set, if it is unknown. */
uint64_t zip_file_size(struct zip_file *file);

/* Closes the file if it is open.  Returns false if that, or an earlier operation, failed. */
bool zip_file_close(struct zip_file *file);

enum { ZIP_FILE_MEMORY_LEVEL = 8 }; /* zlib's own default */

/* Starts a ZIP file in an empty file, and an entry in it, to be written with minizip's functions.
 * `raw`: deflated bytes are written.  Return NULL or false on failure. */
zipFile zip_file_start(struct zip_file *file, const char *name);
bool zip_file_add(zipFile zip, const char *name, int level, bool raw);

/* Fills the functions that minizip calls; their close leaves the file open.  `file` must outlive
 * their use. */
void zip_file_functions(struct zip_file *file, zlib_filefunc64_def *functions);

#endif
