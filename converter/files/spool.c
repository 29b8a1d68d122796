/* SPDX-License-Identifier: Apache-2.0 */
/* Opens, writes and reads temporary files without a name. */
#include "converter/files/spool.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "converter/cli/descriptors.h"

bool spool_allows(uint64_t bytes)
{
    struct rlimit limit;
    return getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur >= bytes;
}

static const char *spool_directory(void)
{
    const char *wanted = secure_getenv("TMPDIR");
    return wanted != NULL && wanted[0] != '\0' ? wanted : "/tmp";
}

int spool_file(void)
{
    const char *directory = spool_directory();
    char path[4096];
    int spool = open(directory, O_TMPFILE | O_EXCL | O_RDWR | O_CLOEXEC, 0600);
    if (spool >= 0)
        return spool;
    int length = snprintf(path, sizeof path, "%s/steptrace-XXXXXX", directory);
    if (length < 0 || (size_t) length >= sizeof path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    spool = mkostemp(path, O_CLOEXEC); /* the file system has no O_TMPFILE */
    if (spool >= 0)
        unlink(path);
    return spool;
}

FILE *spool_stream(void)
{
    int file = spool_file();
    FILE *stream = file >= 0 ? fdopen(file, "w+b") : NULL;
    if (stream == NULL)
        close_quietly(file);
    return stream;
}

static enum step_status spool_failed(struct step_error *error)
{
    int code = errno;
    char name[sizeof error->file];
    snprintf(name, sizeof name, "temporary file in %s", spool_directory());
    return step_error_set(error, STEP_STATUS_IO, name, STEP_NO_OFFSET, "%s", strerror(code));
}

enum step_status spool_open(int *spool, struct step_error *error)
{
    *spool = spool_file();
    return *spool >= 0 ? STEP_STATUS_OK : spool_failed(error);
}

static enum step_status append_to_spool(void *user, const void *data, size_t length,
                                        struct step_error *error)
{
    return output_write_all(*(int *) user, data, length) ? STEP_STATUS_OK : spool_failed(error);
}

struct step_output spool_as_output(int *spool)
{
    return (struct step_output){spool, append_to_spool};
}

enum step_status spool_write(int spool, const void *bytes, size_t length, uint64_t at,
                             struct step_error *error)
{
    for (size_t done = 0; done < length;) {
        ssize_t put =
            pwrite(spool, (const char *) bytes + done, length - done, (off_t) (at + done));
        if (put < 0 && errno != EINTR)
            return spool_failed(error);
        done += put > 0 ? (size_t) put : 0;
    }
    return STEP_STATUS_OK;
}

enum step_status spool_read(int spool, void *bytes, size_t length, uint64_t at,
                            struct step_error *error)
{
    for (size_t done = 0; done < length;) {
        ssize_t got = pread(spool, (char *) bytes + done, length - done, (off_t) (at + done));
        if (got == 0 || (got < 0 && errno != EINTR))
            return spool_failed(error);
        done += got > 0 ? (size_t) got : 0;
    }
    return STEP_STATUS_OK;
}
