/* SPDX-License-Identifier: Apache-2.0 */
/* Creates, copies and removes temporary files; finds the existing file that an output replaces. */
#include "converter/output/output_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "converter/cli/descriptors.h"
#include "converter/files/output_rights.h"
#include "converter/files/spool.h"
#include "converter/output/http_post.h"
#include "converter/output/output_signals.h"
#include "format/core/step_no_memory.h"

#define RIGHTS 0777
#define GROUP_RIGHTS 0070

/* Sets the permissions of the new file `file`, and its owner and group as far as the process is
 * permitted to, to those of the regular file that it replaces.  Without such a file the
 * permissions are those of a new one (converter/files/output_rights.h). */
static void dress(const struct output_place *target, int file)
{
    const struct stat *old = &target->about;
    if (!target->exists) {
        if (fchmod(file, output_rights_of_new(0666)) != 0)
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

#define COPY_BYTES ((size_t) 1 << 16)

static enum step_status output_file_io_error(const struct output_file *file,
                                             struct step_error *error, const char *what)
{
    return step_error_set(error, STEP_STATUS_IO, file->path, STEP_NO_OFFSET, "%s: %s", what,
                          strerror(errno));
}

static enum step_status open_temporary(struct output_file *file, struct step_error *error)
{
    sigset_t before = output_signals_hold();
    file->descriptor = output_place_make_file(&file->place, &file->temporary);
    bool known = file->descriptor >= 0 && fstat(file->descriptor, &file->made) == 0;
    if (known)
        output_signals_doom_file(file->place.directory, file->temporary, &file->made);
    output_signals_let(before);
    if (!known)
        return output_file_io_error(file, error, "cannot create");
    dress(&file->place, file->descriptor);
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
    file->descriptor = spool_file();
    return file->descriptor >= 0
               ? STEP_STATUS_OK
               : output_file_io_error(file, error, "cannot make a temporary file");
}

/* Opens what is no regular file, as it was found; a FIFO waits for who reads it. */
static int open_direct(const struct output_place *place)
{
    int file = openat(place->directory, place->name, O_WRONLY | O_NOFOLLOW | O_NOCTTY | O_CLOEXEC);
    struct stat about;
    if (file >= 0 && (fstat(file, &about) != 0 || about.st_dev != place->about.st_dev ||
                      about.st_ino != place->about.st_ino)) {
        close(file);
        errno = ESTALE;
        file = -1;
    }
    return file;
}

static enum step_status open_at(struct output_file *file, enum output_place_rule rule,
                                struct step_error *error)
{
    const struct output_place *place = &file->place;
    enum step_status status = output_place_find(&file->place, file->path, rule, error);
    if (status == STEP_STATUS_OK && place->exists && S_ISDIR(place->about.st_mode)) {
        errno = EISDIR;
        status = output_file_io_error(file, error, "cannot create");
    } else if (status == STEP_STATUS_OK && place->exists && !S_ISREG(place->about.st_mode)) {
        file->descriptor = open_direct(place);
        if (file->descriptor < 0)
            status = output_file_io_error(file, error, "cannot write");
    } else if (status == STEP_STATUS_OK) {
        status = open_temporary(file, error);
    }
    if (status != STEP_STATUS_OK)
        output_file_abort(file);
    return status;
}

static struct output_file closed_file(const char *path)
{
    return (struct output_file){
        .path = path, .descriptor = -1, .spool = -1, .place = {.directory = -1}};
}

enum step_status output_file_open(struct output_file *file, const char *path,
                                  struct step_error *error)
{
    return output_file_open_or_post(file, path, NULL, error);
}

enum step_status output_file_open_own(struct output_file *file, const char *path,
                                      struct step_error *error)
{
    *file = closed_file(path);
    return open_at(file, OUTPUT_PLACE_OWN, error);
}

enum step_status output_file_open_or_post(struct output_file *file, const char *path,
                                          const char *post_type, struct step_error *error)
{
    *file = closed_file(path);
    if (strcmp(path, "-") == 0) {
        file->path = "standard output";
        file->descriptor = dup(STDOUT_FILENO);
        return file->descriptor >= 0 ? STEP_STATUS_OK
                                     : output_file_io_error(file, error, "cannot write");
    }
    return http_is_url(path) ? open_post(file, post_type, error)
                             : open_at(file, OUTPUT_PLACE_NAMED, error);
}

enum step_status output_file_open_in(struct output_file *file, int directory, const char *name,
                                     const char *shown, struct step_error *error)
{
    *file = closed_file(shown);
    file->descriptor =
        openat(directory, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    file->is_inside = true;
    return file->descriptor >= 0 ? STEP_STATUS_OK
                                 : output_file_io_error(file, error, "cannot create");
}

/* ---- below a directory ---- */

enum step_status output_file_make_directories(const char *path, struct step_error *error)
{
    char part[PATH_MAX];
    for (const char *slash = strchr(path + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        snprintf(part, sizeof part, "%.*s", (int) (slash - path), path);
        if (mkdir(part, 0777) != 0 && errno != EEXIST)
            return step_error_set(error, STEP_STATUS_IO, part, STEP_NO_OFFSET, "cannot create: %s",
                                  strerror(errno));
    }
    return STEP_STATUS_OK;
}

/* Goes down the path by descriptors, through directories only, and makes them if `makes`. */
static bool find_below(struct output_place *place, const char *directory, const char *below,
                       bool makes)
{
    int at = open(directory, O_PATH | O_DIRECTORY | O_CLOEXEC);
    const char *slash;
    for (; at >= 0 && (slash = strchr(below, '/')) != NULL; below = slash + 1) {
        char part[NAME_MAX + 1];
        snprintf(part, sizeof part, "%.*s", (int) (slash - below), below);
        bool made = !makes || mkdirat(at, part, 0777) == 0 || errno == EEXIST;
        int next = made ? openat(at, part, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) : -1;
        close_quietly(at);
        at = next;
    }
    *place = (struct output_place){.directory = at, .name = at >= 0 ? strdup(below) : NULL};
    if (place->name == NULL)
        close_quietly(at);
    else
        place->exists = fstatat(at, below, &place->about, AT_SYMLINK_NOFOLLOW) == 0;
    return place->name != NULL;
}

enum step_status output_file_open_below(struct output_file *file, const char *directory,
                                        const char *below, const char *shown,
                                        struct step_error *error)
{
    *file = closed_file(shown);
    enum step_status status = find_below(&file->place, directory, below, true)
                                  ? STEP_STATUS_OK
                                  : output_file_io_error(file, error, "cannot create");
    if (status == STEP_STATUS_OK && file->place.exists && !S_ISREG(file->place.about.st_mode)) {
        errno = EEXIST;
        status = output_file_io_error(file, error, "cannot create");
    }
    if (status == STEP_STATUS_OK)
        status = open_temporary(file, error);
    if (status != STEP_STATUS_OK)
        output_file_abort(file);
    return status;
}

bool output_file_remove_below(const char *directory, const char *below)
{
    struct output_place place;
    bool removed = find_below(&place, directory, below, false) &&
                   unlinkat(place.directory, place.name, 0) == 0;
    output_place_reset(&place);
    return removed;
}

/* ---- names ---- */

int output_file_create(const char *path, mode_t mode)
{
    int file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (file >= 0 && fchmod(file, mode) != 0) {
        close_quietly(file);
        file = -1;
    }
    return file;
}

bool output_file_remove(const char *path)
{
    return unlink(path) == 0;
}

bool output_file_sync(const char *path)
{
    struct output_place place;
    if (output_place_find(&place, path, OUTPUT_PLACE_NAMED, NULL) != STEP_STATUS_OK)
        return false;
    int file = openat(place.directory, place.name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    bool done = file >= 0 && sync_file(file) && output_place_sync(&place);
    close_quietly(file);
    output_place_reset(&place);
    return done;
}

/* ---- writing ---- */

enum step_status output_file_write(struct output_file *file, const void *data, size_t length,
                                   struct step_error *error)
{
    if (!output_write_all(file->descriptor, data, length))
        return output_file_io_error(file, error, "cannot write");
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
    bool is_seekable = file->temporary != NULL || file->is_inside;
    if (!is_seekable && file->spool < 0)
        file->spool = spool_file();
    int open_file = is_seekable ? file->descriptor : file->spool;
    if (open_file < 0) {
        output_file_io_error(file, error, "cannot make a temporary file");
        return NULL;
    }
    snprintf(file->seekable, sizeof file->seekable, "/proc/self/fd/%d", open_file);
    return file->seekable;
}

enum step_status output_file_name_error(const struct output_file *file, enum step_status status,
                                        struct step_error *error)
{
    if (status != STEP_STATUS_OK && error != NULL && file->seekable[0] != '\0' &&
        strcmp(error->file, file->seekable) == 0)
        snprintf(error->file, sizeof error->file, "%s", file->path);
    return status;
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
            status = output_file_io_error(file, error, "cannot read back");
        else
            status = output_file_write(file, buffer, (size_t) got, error);
        offset += got;
    }
    free(buffer);
    return status;
}

static void output_file_release(struct output_file *file)
{
    if (file->descriptor >= 0)
        close(file->descriptor);
    if (file->spool >= 0)
        close(file->spool);
    if (file->temporary != NULL)
        output_signals_spare_file();
    free(file->temporary);
    file->temporary = NULL;
    output_place_reset(&file->place);
    file->descriptor = file->spool = -1;
}

/* Gives the temporary file its name, and syncs both if it replaces another. */
static enum step_status put_in_place(struct output_file *file, struct step_error *error)
{
    if (output_place_put(&file->place, file->temporary, &file->made)) {
        if (file->place.exists && !output_place_sync(&file->place))
            errno = 0; /* harmless: either the old or the new file is complete */
        return STEP_STATUS_OK;
    }
    return step_error_set(error, STEP_STATUS_IO, file->path, STEP_NO_OFFSET, "cannot rename: %s",
                          errno == ESTALE ? "another file has taken the temporary file's name"
                                          : strerror(errno));
}

enum step_status output_file_commit(struct output_file *file, struct step_error *error)
{
    enum step_status status = file->spool >= 0 ? copy_spool(file, error) : STEP_STATUS_OK;
    int descriptor = file->descriptor;
    file->descriptor = -1;
    if (status == STEP_STATUS_OK && file->post_type != NULL)
        status = http_post(file->path, file->post_type, descriptor, file->size_bytes, error);
    if (status == STEP_STATUS_OK && file->temporary != NULL && file->place.exists &&
        !sync_file(descriptor))
        status = output_file_io_error(file, error, "cannot write");
    if (close(descriptor) != 0 && status == STEP_STATUS_OK)
        status = output_file_io_error(file, error, "cannot write");
    if (status == STEP_STATUS_OK && file->temporary != NULL)
        status = put_in_place(file, error);
    if (status != STEP_STATUS_OK && file->temporary != NULL)
        output_place_remove(file->place.directory, file->temporary, &file->made);
    output_file_release(file);
    return status;
}

void output_file_abort(struct output_file *file)
{
    if (file->temporary != NULL && file->descriptor >= 0)
        output_place_remove(file->place.directory, file->temporary, &file->made);
    output_file_release(file);
}

enum step_status output_file_end(struct output_file *file, enum step_status status,
                                 struct step_error *error)
{
    if (status == STEP_STATUS_OK)
        status = output_file_commit(file, error);
    output_file_abort(file);
    return status;
}

static enum step_status put_framed(struct output_file *file, const struct step_bytes *frame,
                                   struct step_bytes text, struct step_error *error)
{
    enum step_status status = STEP_STATUS_OK;
    if (frame != NULL)
        status = output_file_write(file, frame[0].data, frame[0].length, error);
    if (status == STEP_STATUS_OK)
        status = output_file_write(file, text.data, text.length, error);
    if (status == STEP_STATUS_OK && frame != NULL)
        status = output_file_write(file, frame[1].data, frame[1].length, error);
    return status;
}

enum step_status output_file_fill(struct output_file *file, const struct step_bytes *frame,
                                  bool (*print)(const void *user, FILE *out), const void *user,
                                  struct step_error *error)
{
    char *text = NULL;
    size_t length = 0;
    FILE *stream = open_memstream(&text, &length);
    bool ok = stream != NULL && print(user, stream) && ferror(stream) == 0;
    ok = stream != NULL && fclose(stream) == 0 && ok;
    enum step_status status =
        ok ? put_framed(file, frame, (struct step_bytes){(const uint8_t *) text, length}, error)
           : step_no_memory(error, file->path);
    free(text);
    return output_file_end(file, status, error);
}

enum step_status output_file_print(const char *path, const struct step_bytes *frame,
                                   bool (*print)(const void *user, FILE *out), const void *user,
                                   struct step_error *error)
{
    struct output_file file;
    enum step_status status = output_file_open(&file, path, error);
    return status == STEP_STATUS_OK ? output_file_fill(&file, frame, print, user, error) : status;
}

enum step_status output_file_print_own(const char *path, const struct step_bytes *frame,
                                       bool (*print)(const void *user, FILE *out), const void *user,
                                       struct step_error *error)
{
    struct output_file file;
    enum step_status status = output_file_open_own(&file, path, error);
    return status == STEP_STATUS_OK ? output_file_fill(&file, frame, print, user, error) : status;
}

/* Returns whether another user may have made the file, or the link to it, for the caller to fill:
 * others may write in its directory. */
static bool is_append_planted(const struct output_place *place, const struct stat *about)
{
    struct stat shared;
    if (fstat(place->directory, &shared) != 0)
        return true;
    bool is_own = about->st_uid == geteuid() && about->st_nlink == 1;
    return (shared.st_mode & (S_IWGRP | S_IWOTH)) != 0 && !is_own && about->st_uid != shared.st_uid;
}

static enum step_status output_file_append_in(struct output_file *file, const void *data,
                                              size_t length, struct step_error *error)
{
    struct stat about;
    file->descriptor = openat(
        file->place.directory, file->place.name,
        O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0666);
    if (file->descriptor < 0 || fstat(file->descriptor, &about) != 0)
        return output_file_io_error(file, error, "cannot append");
    if (!S_ISREG(about.st_mode))
        return step_error_set(error, STEP_STATUS_IO, file->path, STEP_NO_OFFSET, "no regular file");
    if (is_append_planted(&file->place, &about))
        return step_error_set(error, STEP_STATUS_IO, file->path, STEP_NO_OFFSET,
                              "cannot append: it may be another user's file, in a directory where "
                              "others may make files");
    return output_write_all(file->descriptor, data, length)
               ? STEP_STATUS_OK
               : output_file_io_error(file, error, "cannot append");
}

enum step_status output_file_append(const char *path, const void *data, size_t length,
                                    struct step_error *error)
{
    struct output_file file = closed_file(path);
    enum step_status status = output_place_find(&file.place, path, OUTPUT_PLACE_REPLACED, error);
    if (status != STEP_STATUS_OK)
        return status;
    status = output_file_append_in(&file, data, length, error);
    close_quietly(file.descriptor);
    output_place_reset(&file.place);
    return status;
}
