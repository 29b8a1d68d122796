/* SPDX-License-Identifier: Apache-2.0 */
/* Symbolic links, permissions, and syncing to the disk. */
#include "converter/base/output_target.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "converter/base/no_memory.h"

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

enum step_status output_target_find(struct output_target *target, const char *path,
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

void output_target_dress(const struct output_target *target, int file)
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

bool output_target_sync(const struct output_target *target, int file)
{
    return !target->exists || sync_file(file);
}

static bool sync_at(const char *path, int flags)
{
    int file = open(path, O_RDONLY | O_CLOEXEC | flags);
    bool done = file >= 0 && sync_file(file);
    int code = errno;
    if (file >= 0)
        close(file);
    errno = code;
    return done;
}

void output_target_sync_name(const struct output_target *target)
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

void output_target_reset(struct output_target *target)
{
    free(target->path);
    target->path = NULL;
}
