/* SPDX-License-Identifier: Apache-2.0 */
/* Creates and writes the trace file. */
#include "capture/trace_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "capture/log.h"
#include "format/core/step_no_memory.h"
#include "format/step/layout.h"
#include "steptrace/live.h"

/* Reserve for properties, index and footer: a share of the bytes written, and a minimum.
 *
 * The footer, the index and the properties make a trace readable without a search, so there must be
 * room for them when the disk is full. The index grows with the number of blocks, hence the share.
 * STEP_BYTES makes the reservation ahead of need, so that most writes need no system call for
 * it. */
#define END_BYTES UINT64_C(65536)
#define END_SHARE 64u
#define STEP_BYTES (UINT64_C(1) << 20)

static enum step_status trace_file_io_error(const struct trace_file *file, struct step_error *error)
{
    return step_error_set(error, STEP_STATUS_IO, file->path, file->size, "%s", strerror(errno));
}

static enum step_status set_errno(const char *path, struct step_error *error)
{
    return step_error_set(error, STEP_STATUS_IO, path, STEP_NO_OFFSET, "%s", strerror(errno));
}

/* ---- names ---- */

/* Opens the directory of the path: what is done by its descriptor is done there, whatever becomes
 * of the directories above. Returns -1 on failure. */
static int open_directory(const char *path, const char **name)
{
    char directory[PATH_MAX];
    const char *slash = strrchr(path, '/');
    *name = slash != NULL ? slash + 1 : path;
    int length = slash == NULL ? 1 : slash == path ? 1 : (int) (slash - path);
    snprintf(directory, sizeof directory, "%.*s", length, slash != NULL ? path : ".");
    return open(directory, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

static bool is_that(int directory, const char *name, struct file_identity identity)
{
    struct stat about;
    return fstatat(directory, name, &about, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(about.st_mode) &&
           about.st_dev == identity.device && about.st_ino == identity.inode;
}

bool trace_file_remove(const char *path, struct file_identity identity)
{
    const char *name;
    int directory = open_directory(path, &name);
    if (directory < 0)
        return errno == ENOENT;
    bool removed = !is_that(directory, name, identity) || unlinkat(directory, name, 0) == 0;
    close(directory);
    return removed;
}

/* Replaces no file. Some file systems have no hard links. */
static bool rename_once(int directory, const char *from, const char *to)
{
    struct stat about;
    if (linkat(directory, from, directory, to, 0) == 0)
        return unlinkat(directory, from, 0) == 0;
    return errno != EEXIST && fstatat(directory, to, &about, AT_SYMLINK_NOFOLLOW) != 0 &&
           errno == ENOENT && renameat(directory, from, directory, to) == 0;
}

bool trace_file_rename(const char *path, struct file_identity identity, const char *to)
{
    const char *name, *slash = strrchr(to, '/');
    int directory = open_directory(path, &name);
    bool renamed = directory >= 0 && is_that(directory, name, identity) &&
                   rename_once(directory, name, slash != NULL ? slash + 1 : to);
    if (directory >= 0)
        close(directory);
    return renamed;
}

struct file_identity file_identity_of(int descriptor)
{
    struct stat about;
    return fstat(descriptor, &about) == 0
               ? (struct file_identity){.device = about.st_dev, .inode = about.st_ino}
               : (struct file_identity){0, 0};
}

void trace_file_discard(struct trace_file *file)
{
    trace_file_remove(file->path, file_identity_of(file->descriptor));
    file->is_removed = true;
}

/* ---- new files ---- */

int trace_file_make(const char *path, mode_t mode)
{
    mode = mode != 0 ? mode : TRACE_FILE_MODE;
    int file = open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, TRACE_FILE_MODE);
    if (file >= 0 && mode != TRACE_FILE_MODE && fchmod(file, mode) != 0) {
        int code = errno;
        trace_file_remove(path, file_identity_of(file));
        close(file);
        errno = code;
        return -1;
    }
    return file;
}

/* ---- existing files ---- */

/* Returns true if the file begins so or is empty, like that of a recorder that was killed early. */
static bool begins_with(int file, const char *magic, size_t length)
{
    char start[16];
    ssize_t got = pread(file, start, length, 0);
    return got == 0 || (got == (ssize_t) length && memcmp(start, magic, length) == 0);
}

int trace_file_find(const char *path, int access)
{
    struct stat about;
    int file = open(path, access | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (file < 0 || (fstat(file, &about) == 0 && S_ISREG(about.st_mode)))
        return file;
    close(file);
    errno = EINVAL;
    return -1;
}

/* Opens a file that `overwrite` may replace: a regular file of this user with one name and that
 * start. Returns -1 for any other. */
static int open_own(const char *path, const char *magic, size_t length)
{
    struct stat about;
    int file = trace_file_find(path, O_RDWR);
    if (file >= 0 && fstat(file, &about) == 0 && about.st_uid == geteuid() && about.st_nlink == 1 &&
        begins_with(file, magic, length))
        return file;
    if (file >= 0)
        close(file);
    return -1;
}

static enum step_status trace_file_refuse(const char *path, const char *what,
                                          struct step_error *error)
{
    return step_error_set(error, STEP_STATUS_INVALID, path, STEP_NO_OFFSET,
                          "is not replaced: it is not a %s of this user", what);
}

static enum step_status remove_live_file(const char *live, struct step_error *error)
{
    struct stat about;
    if (lstat(live, &about) != 0 && errno == ENOENT)
        return STEP_STATUS_OK;
    int file = open_own(live, STEP_LIVE_MAGIC, sizeof STEP_LIVE_MAGIC - 1);
    if (file < 0)
        return trace_file_refuse(live, "live file", error);
    bool removed = trace_file_remove(live, file_identity_of(file));
    close(file);
    return removed ? STEP_STATUS_OK : set_errno(live, error);
}

bool trace_file_lock(int descriptor, off_t length)
{
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = length};
    return fcntl(descriptor, F_SETLK, &lock) == 0;
}

static enum step_status busy(const char *path, struct step_error *error)
{
    return step_error_set(error, STEP_STATUS_BUSY, path, STEP_NO_OFFSET,
                          "another process writes a trace there (use %%p in the name)");
}

/* Truncates an existing trace, which the caller wants to overwrite. Locks the file before
 * truncating it: two recorders may be here at the same time, and the one without the lock must not
 * destroy what the other has begun to write. The live file is removed before the trace is emptied:
 * a reader that finds both takes the live file as the rest of that trace. */
static enum step_status replace(struct trace_file *file, mode_t mode, const char *live,
                                struct step_error *error)
{
    file->descriptor = open_own(file->path, (const char *) step_file_magic, sizeof step_file_magic);
    if (file->descriptor < 0)
        return trace_file_refuse(file->path, "trace", error);
    if (!trace_file_lock(file->descriptor, 0))
        return busy(file->path, error);
    enum step_status status = remove_live_file(live, error);
    if (status == STEP_STATUS_OK &&
        (fchmod(file->descriptor, mode != 0 ? mode : TRACE_FILE_MODE) != 0 ||
         ftruncate(file->descriptor, 0) != 0))
        status = set_errno(file->path, error);
    return status;
}

/* ---- a new trace ---- */

/* Whatever it is: another user may have made a directory or a FIFO of that name. But who names a
 * device has not had a file beside it in mind, and may be root. */
static enum step_status exists(const char *path, struct step_error *error)
{
    struct stat about;
    if (lstat(path, &about) == 0 && (S_ISCHR(about.st_mode) || S_ISBLK(about.st_mode)))
        return step_error_set(error, STEP_STATUS_IO, path, STEP_NO_OFFSET,
                              "is a device: name a file that is to be made");
    return step_error_set(error, STEP_STATUS_BUSY, path, STEP_NO_OFFSET, "exists already");
}

/* The trace's name decides: only one of two recorders creates it. */
static enum step_status make(struct trace_file *file, const struct trace_file_rules *rules,
                             const char *live, struct step_error *error)
{
    struct stat about;
    if (!rules->overwrite && lstat(live, &about) == 0)
        return exists(live, error);
    file->descriptor = trace_file_make(file->path, rules->mode);
    if (file->descriptor < 0 && errno == EEXIST)
        return rules->overwrite ? replace(file, rules->mode, live, error)
                                : exists(file->path, error);
    if (file->descriptor < 0)
        return set_errno(file->path, error);
    if (!trace_file_lock(file->descriptor, 0))
        return busy(file->path, error); /* another recorder replaces it */
    enum step_status status = rules->overwrite ? remove_live_file(live, error) : STEP_STATUS_OK;
    if (status != STEP_STATUS_OK)
        trace_file_discard(file);
    return status;
}

enum step_status trace_file_open(const char *path, const struct trace_file_rules *rules,
                                 struct trace_file **out, struct step_error *error)
{
    struct trace_file *file = calloc(1, sizeof *file);
    size_t size = strlen(path) + sizeof STEP_LIVE_SUFFIX;
    char *live = malloc(size);
    if (file == NULL || live == NULL || (file->path = strdup(path)) == NULL) {
        free(file);
        free(live);
        return step_no_memory(error, path);
    }
    snprintf(live, size, "%s%s", path, STEP_LIVE_SUFFIX);
    file->descriptor = -1;
    enum step_status status = make(file, rules, live, error);
    free(live);
    if (status == STEP_STATUS_OK)
        *out = file;
    else {
        file->is_removed = true; /* it is no trace, whoever has its name */
        trace_file_close(file);
    }
    return status;
}

bool trace_file_name(const char *wanted, char separator, unsigned number, char *out, size_t size)
{
    const char *slash = strrchr(wanted, '/'), *name = slash != NULL ? slash + 1 : wanted;
    const char *ending = strrchr(name, '.');
    size_t stem = ending != NULL ? (size_t) (ending - wanted) : strlen(wanted);
    int length = number == 1 ? snprintf(out, size, "%s", wanted)
                             : snprintf(out, size, "%.*s%c%u%s", (int) stem, wanted, separator,
                                        number, wanted + stem);
    return length > 0 && (size_t) length < size;
}

enum step_status trace_file_create(const char *wanted, const struct trace_file_rules *rules,
                                   struct trace_file **out, struct step_error *error)
{
    char path[PATH_MAX];
    enum step_status status = STEP_STATUS_BUSY;
    for (unsigned number = 1; number <= TRACE_FILE_NAMES_MOST; number++) {
        if (!trace_file_name(wanted, '.', number, path, sizeof path)) {
            errno = ENAMETOOLONG;
            return set_errno(wanted, error);
        }
        status = trace_file_open(path, rules, out, error);
        if (status == STEP_STATUS_OK && number > 1)
            log_message("%s exists: the trace is %s", wanted, path);
        if (status != STEP_STATUS_BUSY || rules->overwrite)
            return status;
    }
    return status;
}

bool trace_file_is_full(int code)
{
    return code == ENOSPC || code == EDQUOT || code == EFBIG;
}

/* Returns true if this errno says that blocks cannot be reserved here, as by a file system, or by a
 * filter of system calls: then a write fails when the disk is full. */
static bool cannot_reserve(int code)
{
    return code == EOPNOTSUPP || code == ENOSYS || code == EPERM || code == EINVAL;
}

/* Fills the file with zeros from its end. Returns 0, or an errno. */
static int trace_file_fill(int descriptor, uint64_t end)
{
    static const char zeros[STEP_LIVE_PAGE];
    struct stat about;
    int code = fstat(descriptor, &about) == 0 ? 0 : errno;
    for (uint64_t at = code == 0 ? (uint64_t) about.st_size : end; code == 0 && at < end;) {
        size_t part = end - at < sizeof zeros ? (size_t) (end - at) : sizeof zeros;
        code = trace_file_put(descriptor, zeros, part, at);
        at += part;
    }
    return code;
}

int trace_file_extend(int descriptor, uint64_t start, uint64_t bytes)
{
    int code;
    do
        code = posix_fallocate(descriptor, (off_t) start, (off_t) bytes);
    while (code == EINTR);
    return cannot_reserve(code) ? trace_file_fill(descriptor, start + bytes) : code;
}

/* Reserves blocks beyond the file's end without making the file longer (FALLOC_FL_KEEP_SIZE), so
 * that a crash leaves no zeros at its end. The reservation is cumulative: `reserved` is how far it
 * reaches, and trace_file_close() gives back what was not used. Where the file system cannot
 * reserve, writes are attempted anyway; then a full disk is met by the write itself, and the trace
 * may lack its end. */
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
    if (cannot_reserve(code))
        return true;
    file->code = code;
    if (code != 0)
        return false;
    file->reserved = wanted;
    return true;
}

int trace_file_put(int descriptor, const void *data, size_t length, uint64_t offset)
{
    for (size_t done = 0; done < length;) {
        ssize_t put =
            pwrite(descriptor, (const char *) data + done, length - done, (off_t) (offset + done));
        if (put < 0 && errno == EINTR)
            continue;
        if (put <= 0)
            return put < 0 ? errno : ENOSPC;
        done += (size_t) put;
    }
    return 0;
}

static enum step_status trace_file_write_all(void *user, const void *data, size_t length,
                                             struct step_error *error)
{
    struct trace_file *file = user;
    if (!file->ending && !trace_file_reserve(file, length)) {
        file->full = trace_file_is_full(file->code);
        errno = file->code;
        return trace_file_io_error(file, error);
    }
    errno = trace_file_put(file->descriptor, data, length, file->size);
    if (errno != 0) {
        file->full = trace_file_is_full(errno);
        return trace_file_io_error(file, error);
    }
    file->size += length;
    return STEP_STATUS_OK;
}

struct step_output trace_file_output(struct trace_file *file)
{
    return (struct step_output){file, trace_file_write_all};
}

void trace_file_close(struct trace_file *file)
{
    struct stat about;
    if (file == NULL)
        return;
    if (file->descriptor >= 0) {
        if (!file->is_removed && fstat(file->descriptor, &about) == 0 && about.st_nlink == 0)
            log_message("%s was removed while it was written", file->path);
        if (file->reserved > file->size && ftruncate(file->descriptor, (off_t) file->size) != 0)
            file->full = true;
        close(file->descriptor);
    }
    free(file->path);
    free(file);
}
