/* SPDX-License-Identifier: Apache-2.0 */
/* Reading a live file: its header, and the positions of its chunks. */
#ifndef FORMAT_LIVE_LIVE_FILE_H
#define FORMAT_LIVE_LIVE_FILE_H

#include <stddef.h>

#include "steptrace/live.h"

/* A chunk with records: its position in the file, and its header, whose `owed_at` is checked. */
struct found_chunk {
    uint64_t offset;
    struct step_live_chunk head;
};

struct live_file {
    const char *path;
    int descriptor;
    uint64_t size;
    struct step_live_header header;
    struct found_chunk *chunks;
    size_t count;
    size_t capacity;
    struct step_error *error;
};

/* Opens the file.  Path, `error` and descriptor -1 are set by the caller, who also closes it after
 * a failure. */
enum step_status live_file_open(struct live_file *file);
void live_file_close(struct live_file *file);
/* Returns false if the file is too short. */
bool live_file_read(struct live_file *file, uint64_t offset, void *out, size_t length);
/* Checks whether the traced process runs: BUSY while it holds its POSIX record lock on the
 * header. */
enum step_status live_file_check_owner(struct live_file *file);
/* Finds the chunks with records.  After an invalid chunk header the search continues page by
 * page. */
enum step_status live_file_find_chunks(struct live_file *file);

#endif
