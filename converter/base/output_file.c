/* SPDX-License-Identifier: Apache-2.0 */
/* Creates, copies and removes temporary files; finds the existing file that an output replaces. */
#include "converter/base/output_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "converter/base/http_post.h"
#include "converter/base/no_memory.h"
#include "format/core/no_memory.h"

#define RIGHTS 0777
#define GROUP_RIGHTS 0070

static void directory_of(const char *path, char *out, size_t size)
{
    const char *slash = strrchr(path, '/');
    size_t length = slash == NULL ? 0 : slash == path ? 1 : (size_t) (slash - path);
    snprintf(out, size, "%.*s", slash == NULL ? 1 : (int) length, slash == NULL ? "." : path);
}

/* Applies the kernel's rule fs.protected_symlinks, even if that setting is off. */
static bool is_foreign_link(const char *path, const struct stat *link)
{
    char directory[PATH_MAX];
    struct stat about;
    directory_of(path, directory, sizeof directory);
    return stat(directory, &about) == 0 && (about.st_mode & S_ISVTX) != 0 &&
           (about.st_mode & S_IWOTH) != 0 && link->st_uid != geteuid() &&
           link->st_uid != about.st_uid;
}

/* Resolves `path`.  Follows symbolic links, but returns IO for a dangling link, and for another
 * user's link in a sticky world-writable directory. */
static enum step_status output_target_find(struct output_target *target, const char *path,
                                           struct step_error *error)
{
    struct stat about;
    *target = (struct output_target){.exists = lstat(path, &about) == 0};
    bool is_link = target->exists && S_ISLNK(about.st_mode);
    errno = EACCES;
    bool failed = is_link && is_foreign_link(path, &about);
    if (!failed && is_link) {
        target->path = realpath(path, NULL);
        failed = target->path == NULL || stat(target->path, &about) != 0;
    } else if (!failed && (target->path = strdup(path)) == NULL) {
        return no_memory(error);
    }
    target->about = about;
    if (!failed)
        return STEP_STATUS_OK;
    return step_error_set(error, STEP_STATUS_IO, path, STEP_NO_OFFSET,
                          "cannot follow the symbolic link: %s", strerror(errno));
}

/* Sets the permissions of the new file `file`, and its owner and group as far as the process is
 * permitted to, to those of the regular file that it replaces.  Without such a file the
 * permissions follow the umask. */
static void output_target_dress(const struct output_target *target, int file)
{
    const struct stat *old = &target->about;
    if (!target->exists) {
        mode_t mask = umask(0);
        umask(mask);
        if (fchmod(file, 0666 & ~mask) != 0)
            errno = 0; /* harmless: the file keeps its owner's permissions */
        return;
    }
    mode_t mode = old->st_mode & RIGHTS;
    if (fchown(file, (uid_t) -1, old->st_gid) != 0)
        mode &= (mode_t) ~GROUP_RIGHTS; /* do not grant them to a different group */
    if (fchown(file, old->st_uid, (gid_t) -1) != 0)
        errno = 0; /* only root may change the owner; the file stays the user's */
    if (fchmod(file, mode) != 0)
        errno = 0;
}

static bool sync_file(int file)
{
    return fsync(file) == 0 || errno == EINVAL || errno == EROFS;
}

/* Syncs the file to the disk if it replaces another.  Returns false and sets errno on failure. */
static bool output_target_sync(const struct output_target *target, int file)
{
    return !target->exists || sync_file(file);
}

static bool sync_at(const char *path, int flags)
{
    int file = open(path, O_RDONLY | O_CLOEXEC | flags);
    bool done = file >= 0 && sync_file(file);
    close_quietly(file);
    return done;
}

/* Syncs the directory after the rename, if the file replaces another. */
static void output_target_sync_name(const struct output_target *target)
{
    char directory[PATH_MAX];
    directory_of(target->path, directory, sizeof directory);
    if (target->exists && !sync_at(directory, O_DIRECTORY))
        errno = 0; /* harmless: either the old or the new file is complete */
}

bool output_target_sync_path(const char *path)
{
    char directory[PATH_MAX];
    directory_of(path, directory, sizeof directory);
    return sync_at(path, O_NONBLOCK) && sync_at(directory, O_DIRECTORY);
}

static void output_target_reset(struct output_target *target)
{
    free(target->path);
    target->path = NULL;
}

#define COPY_BYTES ((size_t) 1 << 16)

/* Paths that the signal handler removes. */
static char doomed_path[4096];
static char doomed_directory[4096];
static volatile sig_atomic_t doomed, directory_is_doomed;

/* Without readdir(), which a signal handler may not call; a system call by itself is safe.
 * NOLINTBEGIN(bugprone-signal-handler) */
void output_file_remove_directory(const char *path)
{
    struct dirent64_head {
        uint64_t number;
        int64_t next;
        uint16_t length;
        uint8_t type;
        char name[];
    };
    char entries[4096] __attribute__((aligned(8)));
    long got;
    int directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    while (directory >= 0 &&
           (got = syscall(SYS_getdents64, directory, entries, sizeof entries)) > 0)
        for (long at = 0; at < got;) {
            const struct dirent64_head *entry = (const void *) (entries + at);
            unlinkat(directory, entry->name, 0);
            at += entry->length;
        }
    if (directory >= 0)
        close(directory);
    rmdir(path);
}
/* NOLINTEND(bugprone-signal-handler) */

static void remove_and_die(int signal_number)
{
    if (doomed)
        unlink(doomed_path);
    if (directory_is_doomed)
        output_file_remove_directory(doomed_directory);
    signal(signal_number, SIG_DFL);
    raise(signal_number);
}

void output_file_catch_signals(void)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        if (signal(numbers[i], remove_and_die) == SIG_IGN)
            signal(numbers[i], SIG_IGN);
}

sigset_t output_file_hold_signals(void)
{
    sigset_t held, before;
    sigfillset(&held);
    sigprocmask(SIG_SETMASK, &held, &before);
    return before;
}

void output_file_let_signals(sigset_t before)
{
    int saved = errno;
    sigprocmask(SIG_SETMASK, &before, NULL);
    errno = saved;
}

void output_file_doom_directory(const char *path)
{
    directory_is_doomed = 0;
    if (path == NULL || strlen(path) >= sizeof doomed_directory)
        return;
    memcpy(doomed_directory, path, strlen(path) + 1);
    directory_is_doomed = 1;
}

static enum step_status io_error(const struct output_file *file, struct step_error *error,
                                 const char *what)
{
    return step_error_set(error, STEP_STATUS_IO, file->path, STEP_NO_OFFSET, "%s: %s", what,
                          strerror(errno));
}

int output_file_spool(void)
{
    const char *directory = secure_getenv("TMPDIR");
    char path[4096];
    int length = snprintf(path, sizeof path, "%s/steptrace-XXXXXX",
                          directory != NULL && directory[0] != '\0' ? directory : "/tmp");
    if (length < 0 || (size_t) length >= sizeof path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    int spool = mkostemp(path, O_CLOEXEC);
    if (spool >= 0)
        unlink(path);
    return spool;
}

static enum step_status spool_failed(struct step_error *error)
{
    return step_error_set(error, STEP_STATUS_IO, "temporary file", STEP_NO_OFFSET, "%s",
                          strerror(errno));
}

enum step_status output_spool_open(int *spool, struct step_error *error)
{
    *spool = output_file_spool();
    return *spool >= 0 ? STEP_STATUS_OK : spool_failed(error);
}

static enum step_status append_to_spool(void *user, const void *data, size_t length,
                                        struct step_error *error)
{
    return output_write_all(*(int *) user, data, length) ? STEP_STATUS_OK : spool_failed(error);
}

struct step_output output_spool_as_output(int *spool)
{
    return (struct step_output){spool, append_to_spool};
}

enum step_status output_spool_write(int spool, const void *bytes, size_t length, uint64_t at,
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

enum step_status output_spool_read(int spool, void *bytes, size_t length, uint64_t at,
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

static enum step_status open_temporary(struct output_file *file, struct step_error *error)
{
    size_t size = strlen(file->target.path) + sizeof ".XXXXXX";
    file->temporary = malloc(size);
    if (file->temporary == NULL)
        return step_no_memory(error, file->path);
    snprintf(file->temporary, size, "%s.XXXXXX", file->target.path);
    sigset_t before = output_file_hold_signals();
    file->descriptor = mkostemp(file->temporary, O_CLOEXEC);
    if (file->descriptor >= 0 && size <= sizeof doomed_path) {
        memcpy(doomed_path, file->temporary, size);
        doomed = 1;
    }
    output_file_let_signals(before);
    if (file->descriptor < 0)
        return io_error(file, error, "cannot create");
    output_target_dress(&file->target, file->descriptor);
    return STEP_STATUS_OK;
}

static enum step_status open_post(struct output_file *file, const char *post_type,
                                  struct step_error *error)
{
    if (post_type == NULL)
        return step_error_set(error, STEP_STATUS_IO, file->path, STEP_NO_OFFSET,
                              "only OpenTelemetry profiles (--to=otlp) are sent to a server");
    enum step_status status = http_check_url(file->path, error);
    if (status != STEP_STATUS_OK)
        return status;
    file->post_type = post_type;
    file->descriptor = output_file_spool();
    return file->descriptor >= 0 ? STEP_STATUS_OK
                                 : io_error(file, error, "cannot make a temporary file");
}

enum step_status output_file_open(struct output_file *file, const char *path,
                                  struct step_error *error)
{
    return output_file_open_or_post(file, path, NULL, error);
}

enum step_status output_file_open_or_post(struct output_file *file, const char *path,
                                          const char *post_type, struct step_error *error)
{
    *file = (struct output_file){.path = path, .descriptor = -1, .spool = -1};
    if (strcmp(path, "-") == 0) {
        file->path = "standard output";
        file->descriptor = dup(STDOUT_FILENO);
        return file->descriptor >= 0 ? STEP_STATUS_OK : io_error(file, error, "cannot write");
    }
    if (http_is_url(path))
        return open_post(file, post_type, error);
    enum step_status status = output_target_find(&file->target, path, error);
    const struct output_target *target = &file->target;
    if (status == STEP_STATUS_OK && target->exists && S_ISDIR(target->about.st_mode)) {
        errno = EISDIR;
        status = io_error(file, error, "cannot create");
    } else if (status == STEP_STATUS_OK && target->exists && !S_ISREG(target->about.st_mode)) {
        file->descriptor = open(path, O_WRONLY | O_CLOEXEC);
        if (file->descriptor < 0)
            status = io_error(file, error, "cannot write");
    } else if (status == STEP_STATUS_OK) {
        status = open_temporary(file, error);
    }
    if (status != STEP_STATUS_OK)
        output_file_abort(file);
    return status;
}

enum step_status output_file_write(struct output_file *file, const void *data, size_t length,
                                   struct step_error *error)
{
    if (!output_write_all(file->descriptor, data, length))
        return io_error(file, error, "cannot write");
    file->size_bytes += length;
    return STEP_STATUS_OK;
}

static enum step_status write_output(void *user, const void *data, size_t length,
                                     struct step_error *error)
{
    return output_file_write(user, data, length, error);
}

struct step_output output_file_as_output(struct output_file *file)
{
    return (struct step_output){file, write_output};
}

const char *output_file_seekable_path(struct output_file *file, struct step_error *error)
{
    if (file->temporary != NULL)
        return file->temporary;
    if (file->spool < 0)
        file->spool = output_file_spool();
    file->spool_path = file->spool_path != NULL ? file->spool_path : malloc(64);
    if (file->spool < 0 || file->spool_path == NULL) {
        io_error(file, error, "cannot make a temporary file");
        return NULL;
    }
    snprintf(file->spool_path, 64, "/proc/self/fd/%d", file->spool);
    return file->spool_path;
}

static enum step_status copy_spool(struct output_file *file, struct step_error *error)
{
    char *buffer = malloc(COPY_BYTES);
    enum step_status status = STEP_STATUS_OK;
    off_t offset = 0;
    if (buffer == NULL)
        return step_no_memory(error, file->path);
    while (status == STEP_STATUS_OK) {
        ssize_t got = pread(file->spool, buffer, COPY_BYTES, offset);
        if (got == 0)
            break;
        if (got < 0)
            status = io_error(file, error, "cannot read back");
        else
            status = output_file_write(file, buffer, (size_t) got, error);
        offset += got;
    }
    free(buffer);
    return status;
}

static void release(struct output_file *file)
{
    if (file->descriptor >= 0)
        close(file->descriptor);
    if (file->spool >= 0)
        close(file->spool);
    if (file->temporary != NULL)
        doomed = 0;
    free(file->temporary);
    free(file->spool_path);
    output_target_reset(&file->target);
    file->temporary = file->spool_path = NULL;
    file->descriptor = file->spool = -1;
}

enum step_status output_file_commit(struct output_file *file, struct step_error *error)
{
    enum step_status status = file->spool >= 0 ? copy_spool(file, error) : STEP_STATUS_OK;
    int descriptor = file->descriptor;
    file->descriptor = -1;
    if (status == STEP_STATUS_OK && file->post_type != NULL)
        status = http_post(file->path, file->post_type, descriptor, file->size_bytes, error);
    if (status == STEP_STATUS_OK && file->temporary != NULL &&
        !output_target_sync(&file->target, descriptor))
        status = io_error(file, error, "cannot write");
    if (close(descriptor) != 0 && status == STEP_STATUS_OK)
        status = io_error(file, error, "cannot write");
    if (status == STEP_STATUS_OK && file->temporary != NULL &&
        rename(file->temporary, file->target.path) != 0)
        status = io_error(file, error, "cannot rename");
    if (status == STEP_STATUS_OK && file->temporary != NULL)
        output_target_sync_name(&file->target);
    if (status != STEP_STATUS_OK && file->temporary != NULL)
        unlink(file->temporary);
    release(file);
    return status;
}

void output_file_abort(struct output_file *file)
{
    if (file->temporary != NULL && file->descriptor >= 0)
        unlink(file->temporary);
    release(file);
}

enum step_status output_file_end(struct output_file *file, enum step_status status,
                                 struct step_error *error)
{
    if (status == STEP_STATUS_OK)
        status = output_file_commit(file, error);
    output_file_abort(file);
    return status;
}

static ssize_t write_some(void *cookie, const char *data, size_t length)
{
    struct output_stream *stream = cookie;
    if (stream->error.status == STEP_STATUS_OK)
        stream->error.status = stream->to.write(stream->to.user, data, length, &stream->error);
    if (stream->error.status == STEP_STATUS_OK)
        return (ssize_t) length;
    errno = EIO;
    return 0;
}

enum step_status output_pack(struct step_output *output, enum step_packing packing, int level,
                             struct step_packed_output **packed, struct step_error *error)
{
    if (packing == STEP_PACKING_NONE)
        return STEP_STATUS_OK;
    enum step_status status = step_packed_output_create(packing, level, output, packed, error);
    if (status == STEP_STATUS_OK)
        status = step_packed_output_use_thread(*packed, error);
    if (status == STEP_STATUS_OK)
        *output = step_packed_output_as_output(*packed);
    return status;
}

enum step_status output_stream_open(struct output_stream *stream, const struct step_output *to,
                                    enum step_packing packing, int level, struct step_error *error)
{
    *stream = (struct output_stream){.to = *to, .error = {.offset = STEP_NO_OFFSET}};
    enum step_status status = output_pack(&stream->to, packing, level, &stream->packed, error);
    if (status != STEP_STATUS_OK)
        return status;
    stream->file = fopencookie(stream, "w", (cookie_io_functions_t){.write = write_some});
    if (stream->file == NULL)
        return no_memory(error);
    setvbuf(stream->file, NULL, _IOFBF, 65536);
    return STEP_STATUS_OK;
}

enum step_status output_stream_close(struct output_stream *stream, struct step_error *error)
{
    if (fclose(stream->file) != 0 && stream->error.status == STEP_STATUS_OK)
        step_error_set(&stream->error, STEP_STATUS_IO, NULL, STEP_NO_OFFSET, "writing failed");
    stream->file = NULL;
    enum step_status status = output_stream_status(stream, error);
    return status == STEP_STATUS_OK && stream->packed != NULL
               ? step_packed_output_close(stream->packed, error)
               : status;
}

void output_stream_reset(struct output_stream *stream)
{
    if (stream->file != NULL)
        fclose(stream->file);
    step_packed_output_destroy(stream->packed);
    stream->file = NULL;
    stream->packed = NULL;
}

enum step_status output_file_print(const char *path, const struct step_bytes *frame,
                                   bool (*print)(const void *user, FILE *out), const void *user,
                                   struct step_error *error)
{
    struct output_file file;
    char *text = NULL;
    size_t length = 0;
    FILE *stream = open_memstream(&text, &length);
    bool ok = stream != NULL && print(user, stream) && ferror(stream) == 0;
    ok = stream != NULL && fclose(stream) == 0 && ok;
    enum step_status status =
        ok ? output_file_open(&file, path, error) : step_no_memory(error, path);
    if (status == STEP_STATUS_OK) {
        if (frame != NULL)
            status = output_file_write(&file, frame[0].data, frame[0].length, error);
        if (status == STEP_STATUS_OK)
            status = output_file_write(&file, text, length, error);
        if (status == STEP_STATUS_OK && frame != NULL)
            status = output_file_write(&file, frame[1].data, frame[1].length, error);
        status = output_file_end(&file, status, error);
    }
    free(text);
    return status;
}
