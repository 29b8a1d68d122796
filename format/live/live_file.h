/* SPDX-License-Identifier: Apache-2.0 */
/* What lies in a live file: its header, and where its chunks are. */
#ifndef FORMAT_LIVE_LIVE_FILE_H
#define FORMAT_LIVE_LIVE_FILE_H

#include <stddef.h>

#include "steptrace/live.h"

/* A chunk that holds records: where it lies and where it stands in its stream. */
struct found_chunk {
    uint64_t offset;
    uint64_t stream;
    uint64_t order;
    uint64_t first_record;
    uint64_t thread;
    uint64_t used;
    uint64_t owed_record;
    uint32_t owed_at; /* 0: nothing is owed */
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

/* The file's path, `error` and descriptor -1 are set before; closed also where it could not be
 * opened. */
enum step_status live_file_open(struct live_file *file);
void live_file_close(struct live_file *file);
/* False: so much is not there. */
bool live_file_read(struct live_file *file, uint64_t offset, void *out, size_t length);
/* The traced process holds a POSIX record lock on the header for as long as it runs: BUSY. */
enum step_status live_file_check_owner(struct live_file *file);
/* Those that hold records.  A chunk header that makes no sense ends its page; the next is looked
 * for page by page. */
enum step_status live_file_find_chunks(struct live_file *file);

#endif
