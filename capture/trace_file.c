/* SPDX-License-Identifier: Apache-2.0 */
/* Writing the trace file. */
#include "capture/trace_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Room for properties, index and footer: a share for each byte written, and a minimum. */
#define END_BYTES UINT64_C(65536)
#define END_SHARE 64u
#define STEP_BYTES (UINT64_C(1) << 20)

static enum step_status io_error(const struct trace_file *file, struct step_error *error)
{
    return step_error_set(error, STEP_STATUS_IO, file->path, file->size, "%s", strerror(errno));
}

enum step_status trace_file_open(const char *path, struct trace_file **out,
                                 struct step_error *error)
{
    struct trace_file *file = calloc(1, sizeof *file);
    if (file == NULL || (file->path = strdup(path)) == NULL) {
        free(file);
        return step_error_set(error, STEP_STATUS_NO_MEMORY, path, STEP_NO_OFFSET, "out of memory");
    }
    enum step_status status = STEP_STATUS_OK;
    struct stat old;
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    file->descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (file->descriptor < 0 || fstat(file->descriptor, &old) != 0)
        status = io_error(file, error);
    else if (S_ISREG(old.st_mode) && fcntl(file->descriptor, F_SETLK, &lock) != 0)
        status = step_error_set(error, STEP_STATUS_BUSY, path, STEP_NO_OFFSET,
                                "another process writes a trace there (use %%p in the name)");
    else if (!S_ISREG(old.st_mode))
        status =
            step_error_set(error, STEP_STATUS_INVALID, path, STEP_NO_OFFSET, "not a regular file");
    else if (ftruncate(file->descriptor, 0) != 0)
        status = io_error(file, error);
    if (status != STEP_STATUS_OK) {
        trace_file_close(file);
        return status;
    }
    *out = file;
    return STEP_STATUS_OK;
}

bool trace_file_is_full(int code)
{
    return code == ENOSPC || code == EDQUOT || code == EFBIG;
}

bool trace_file_reserve(struct trace_file *file, uint64_t length)
{
    uint64_t wanted = file->size + length;
    wanted += END_BYTES + wanted / END_SHARE;
    if (wanted <= file->reserved)
        return true;
    wanted += STEP_BYTES;
    int code;
    do
        code = fallocate(file->descriptor, FALLOC_FL_KEEP_SIZE, 0, (off_t) wanted) != 0 ? errno : 0;
    while (code == EINTR);
    if (code == EOPNOTSUPP)
        return true; /* this file system cannot: a write will tell */
    file->code = code;
    if (code != 0)
        return false;
    file->reserved = wanted;
    return true;
}

static enum step_status write_all(void *user, const void *data, size_t length,
                                  struct step_error *error)
{
    struct trace_file *file = user;
    if (!file->ending && !trace_file_reserve(file, length)) {
        file->full = trace_file_is_full(file->code);
        errno = file->code;
        return io_error(file, error);
    }
    for (size_t done = 0; done < length;) {
        ssize_t put = pwrite(file->descriptor, (const char *) data + done, length - done,
                             (off_t) (file->size + done));
        if (put < 0 && errno == EINTR)
            continue;
        if (put <= 0) {
            file->full = trace_file_is_full(errno);
            return io_error(file, error);
        }
        done += (size_t) put;
    }
    file->size += length;
    return STEP_STATUS_OK;
}

struct step_output trace_file_output(struct trace_file *file)
{
    return (struct step_output){file, write_all};
}

void trace_file_close(struct trace_file *file)
{
    if (file == NULL)
        return;
    if (file->descriptor >= 0) {
        if (file->reserved > file->size && ftruncate(file->descriptor, (off_t) file->size) != 0)
            file->full = true;
        close(file->descriptor);
    }
    free(file->path);
    free(file);
}
