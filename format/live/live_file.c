/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the chunks of a live file.  The file is read, not mapped, and none of it is trusted.
 *
 * A mapping of a file that another process truncates would end the reader by SIGBUS; a read that
 * comes back short is only damage.
 */
#include "format/live/live_file.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "format/core/grow.h"
#include "format/core/input_file.h"
#include "format/live/live_allocs.h"

/* For the last copy of a ring in memory. */
#define END_WAITS 5000u
#define END_WAIT_NS 2000000L
#define CHUNK_LIMIT (UINT32_C(1) << 26)

bool live_file_read(struct live_file *file, uint64_t offset, void *out, size_t length)
{
    size_t done = 0;
    while (done < length) {
        ssize_t got =
            pread(file->descriptor, (char *) out + done, length - done, (off_t) (offset + done));
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return false;
        done += (size_t) got;
    }
    return true;
}

enum step_status live_file_open(struct live_file *file)
{
    struct stat status;
    int opened = input_file_open(file->path, INPUT_REGULAR, &status);
    file->descriptor = opened >= 0 ? opened : -1;
    if (opened == INPUT_NOT_REGULAR)
        return step_error_set(file->error, STEP_STATUS_FORMAT, file->path, STEP_NO_OFFSET,
                              "not a regular file");
    if (opened < 0)
        return step_error_set(file->error, errno == ENOENT ? STEP_STATUS_NOT_FOUND : STEP_STATUS_IO,
                              file->path, STEP_NO_OFFSET, "%s", strerror(errno));
    file->size = (uint64_t) status.st_size;
    if (!live_file_read(file, 0, &file->header, sizeof file->header) ||
        memcmp(file->header.magic, STEP_LIVE_MAGIC, sizeof file->header.magic) != 0)
        return step_error_set(file->error, STEP_STATUS_FORMAT, file->path, 0,
                              "not a StepTrace live file");
    if (file->header.version == 0 || file->header.version > STEP_LIVE_VERSION ||
        file->header.page_bytes != STEP_LIVE_PAGE)
        return step_error_set(file->error, STEP_STATUS_UNSUPPORTED, file->path, 8,
                              "live file version %u is not supported", file->header.version);
    return STEP_STATUS_OK;
}

/* Returns the holder of the lock; 0: none. */
static pid_t owner_of(const struct live_file *file)
{
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 0, .l_len = 1};
    return fcntl(file->descriptor, F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK ? lock.l_pid : 0;
}

static bool live_file_read_header(struct live_file *file)
{
    struct stat now;
    if (fstat(file->descriptor, &now) != 0)
        return false;
    file->size = (uint64_t) now.st_size;
    return live_file_read(file, 0, &file->header, sizeof file->header);
}

/* For a copy: returns true if the program has ended, so that only its last copy is still in
 * progress.  Its process id is valid in this PID namespace if the copier's is: the lock says who
 * the copier is here, and the header says who it is for the copier. */
static bool is_ending(struct live_file *file, pid_t owner)
{
    if (file->header.copy_state == STEP_LIVE_COPY_NONE || !live_file_read_header(file))
        return false;
    return file->header.copy_state != STEP_LIVE_COPY_RUNNING ||
           (owner == (pid_t) file->header.copied_by &&
            kill((pid_t) file->header.process_id, 0) != 0 && errno == ESRCH);
}

/* The lock on the file distinguishes a living process from a dead one: the kernel releases it
 * however the process ends.  A process id alone could by now be another process's.  The header is
 * read again after the lock is gone, since the last copy changes it. */
enum step_status live_file_check_owner(struct live_file *file)
{
    pid_t owner;
    for (unsigned wait = 0; (owner = owner_of(file)) != 0; wait++) {
        if (wait == END_WAITS || !is_ending(file, owner))
            return step_error_set(file->error, STEP_STATUS_BUSY, file->path, STEP_NO_OFFSET,
                                  "process %d is still writing it",
                                  file->header.copy_state == STEP_LIVE_COPY_NONE
                                      ? (int) owner
                                      : (int) file->header.process_id);
        nanosleep(&(struct timespec){0, END_WAIT_NS}, NULL);
    }
    if (file->header.copy_state != STEP_LIVE_COPY_NONE && !live_file_read_header(file))
        return step_error_set(file->error, STEP_STATUS_IO, file->path, 0, "cannot be read");
    return STEP_STATUS_OK;
}

void live_file_close(struct live_file *file)
{
    free(file->chunks);
    file->chunks = NULL;
    if (file->descriptor >= 0)
        close(file->descriptor);
    file->descriptor = -1;
}

bool step_live_is_written(const char *path)
{
    struct live_file file = {.path = path, .descriptor = -1};
    bool is =
        live_file_open(&file) == STEP_STATUS_OK && live_file_check_owner(&file) == STEP_STATUS_BUSY;
    live_file_close(&file);
    return is;
}

static enum step_status note_chunk(struct live_file *file, uint64_t offset,
                                   const struct step_live_chunk *chunk)
{
    if (!STEP_MAKE_ROOM(file->chunks, file->capacity, file->count + 1))
        return step_error_set(file->error, STEP_STATUS_NO_MEMORY, file->path, offset,
                              "out of memory");
    struct found_chunk *found = &file->chunks[file->count++];
    found->offset = offset;
    memcpy(&found->head, chunk, sizeof *chunk);
    if (!live_allocs_has_owed(chunk->owed_at, chunk->size_bytes))
        found->head.owed_at = 0;
    return STEP_STATUS_OK;
}

/* Chunks follow each other, each as long as its header says.  Where a header is damaged its length
 * is, too, so the search goes on page by page: chunks begin at pages. */
enum step_status live_file_find_chunks(struct live_file *file)
{
    uint64_t offset = STEP_LIVE_PAGE;
    while (offset + sizeof(struct step_live_chunk) <= file->size) {
        struct step_live_chunk chunk;
        if (!live_file_read(file, offset, &chunk, sizeof chunk))
            break;
        bool good = chunk.magic == STEP_LIVE_CHUNK_MAGIC && chunk.size_bytes >= STEP_LIVE_PAGE &&
                    chunk.size_bytes <= CHUNK_LIMIT && chunk.size_bytes % STEP_LIVE_PAGE == 0;
        bool has_any = chunk.used != 0 || live_allocs_has_owed(chunk.owed_at, chunk.size_bytes);
        if (good && chunk.state != STEP_LIVE_FREE && has_any && chunk.used % 8 == 0 &&
            chunk.used <= chunk.size_bytes - sizeof chunk) {
            enum step_status status = note_chunk(file, offset, &chunk);
            if (status != STEP_STATUS_OK)
                return status;
        }
        offset += good ? chunk.size_bytes : STEP_LIVE_PAGE;
    }
    return STEP_STATUS_OK;
}
