/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the directory of an output, and makes, renames and removes what is in it. */
#include "format/core/output_place.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#define LINKS_MOST 40 /* as many as the kernel follows */
#define NAMES_MOST 100
#define RANDOM_LETTERS 6

static void close_quietly(int file)
{
    int code = errno;
    if (file >= 0)
        close(file);
    errno = code;
}

static bool output_place_is_same(const struct stat *left, const struct stat *right)
{
    return left->st_dev == right->st_dev && left->st_ino == right->st_ino;
}

static bool is_of_caller(const struct stat *about)
{
    return about->st_uid == geteuid();
}

/* Opens the directory of a path below the directory `at`, and sets the name. */
static bool open_directory(struct output_place *place, int at, const char *path)
{
    const char *slash = strrchr(path, '/');
    char directory[PATH_MAX] = ".";
    size_t length = slash == NULL ? 1 : slash == path ? 1 : (size_t) (slash - path);
    errno = path[0] == '\0' ? ENOENT : ENAMETOOLONG;
    if (path[0] == '\0' || length >= sizeof directory)
        return false;
    if (slash != NULL)
        memcpy(directory, path, length);
    directory[length] = '\0';
    place->directory = openat(at, directory, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (place->directory < 0)
        return false;
    const char *name = slash != NULL ? slash + 1 : path;
    place->name = strdup(name[0] != '\0' ? name : ".");
    if (place->name == NULL)
        close_quietly(place->directory);
    return place->name != NULL;
}

/* Reads the link that has the name.  Sets errno to EACCES for one that another user made. */
static bool read_link(const struct output_place *place, char text[PATH_MAX])
{
    struct stat about;
    int link = openat(place->directory, place->name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    bool known = link >= 0 && fstat(link, &about) == 0;
    bool trusted = known && (is_of_caller(&about) || about.st_uid == 0);
    ssize_t length = trusted ? readlinkat(link, "", text, PATH_MAX) : -1;
    if (known && !trusted)
        errno = EACCES;
    else if (length == PATH_MAX)
        errno = ENAMETOOLONG;
    close_quietly(link);
    if (length <= 0 || length >= PATH_MAX)
        return false;
    text[length] = '\0';
    return true;
}

static void output_place_look(struct output_place *place)
{
    place->exists = fstatat(place->directory, place->name, &place->about, AT_SYMLINK_NOFOLLOW) == 0;
}

/* Goes where the link leads. */
static bool output_place_follow(struct output_place *place)
{
    char text[PATH_MAX];
    if (!read_link(place, text))
        return false;
    int at = place->directory;
    free(place->name);
    place->name = NULL;
    bool opened = open_directory(place, at, text);
    close_quietly(at);
    if (opened)
        output_place_look(place);
    return opened;
}

static enum step_status output_place_refuse(const char *path, const char *what, int code,
                                            struct step_error *error)
{
    return step_error_set(error, STEP_STATUS_IO, path, STEP_NO_OFFSET, "%s: %s", what,
                          strerror(code));
}

/* Returns whether another user may have made the file for the caller to fill: it would stay that
 * user's, who could read it.  In such a directory only its owner and root remove others' files. */
static bool is_planted(const struct output_place *place)
{
    struct stat shared;
    return place->exists && S_ISREG(place->about.st_mode) && !is_of_caller(&place->about) &&
           fstat(place->directory, &shared) == 0 && (shared.st_mode & S_ISVTX) != 0 &&
           (shared.st_mode & (S_IWGRP | S_IWOTH)) != 0 && place->about.st_uid != shared.st_uid;
}

/* Of a name that the user did not give. */
static enum step_status check_own(const struct output_place *place, const char *path,
                                  struct step_error *error)
{
    if (!place->exists || (S_ISREG(place->about.st_mode) && is_of_caller(&place->about)))
        return STEP_STATUS_OK;
    return step_error_set(error, STEP_STATUS_IO, path, STEP_NO_OFFSET,
                          "cannot create: the name is taken by %s, which is left alone",
                          S_ISREG(place->about.st_mode)   ? "another user's file"
                          : S_ISLNK(place->about.st_mode) ? "a symbolic link"
                                                          : "what is no file");
}

enum step_status output_place_find(struct output_place *place, const char *path,
                                   enum output_place_rule rule, struct step_error *error)
{
    *place = (struct output_place){.directory = -1};
    if (!open_directory(place, AT_FDCWD, path))
        return output_place_refuse(path, "cannot create", errno, error);
    output_place_look(place);
    enum step_status status =
        rule == OUTPUT_PLACE_OWN ? check_own(place, path, error) : STEP_STATUS_OK;
    if (rule == OUTPUT_PLACE_REPLACED)
        return status;
    bool is_link = status == STEP_STATUS_OK && place->exists && S_ISLNK(place->about.st_mode);
    for (int links = 0;
         status == STEP_STATUS_OK && is_link && place->exists && S_ISLNK(place->about.st_mode);
         links++) {
        errno = ELOOP;
        if (links == LINKS_MOST || !output_place_follow(place))
            status = output_place_refuse(path, "cannot follow the symbolic link", errno, error);
    }
    if (status == STEP_STATUS_OK && is_link && !place->exists)
        status = output_place_refuse(path, "cannot follow the symbolic link", ENOENT, error);
    if (status == STEP_STATUS_OK && place->exists && S_ISFIFO(place->about.st_mode) &&
        !is_of_caller(&place->about) && place->about.st_uid != 0)
        status = step_error_set(error, STEP_STATUS_IO, path, STEP_NO_OFFSET,
                                "cannot write: it is another user's FIFO");
    if (status == STEP_STATUS_OK && is_planted(place))
        status = step_error_set(error, STEP_STATUS_IO, path, STEP_NO_OFFSET,
                                "cannot replace: it is another user's file, in a directory where "
                                "all may make files");
    if (status != STEP_STATUS_OK)
        output_place_reset(place);
    return status;
}

void output_place_reset(struct output_place *place)
{
    if (place->name != NULL)
        close_quietly(place->directory);
    free(place->name);
    *place = (struct output_place){.directory = -1};
}

/* ---- temporary names ---- */

/* Writes another name with each call. */
static bool put_random(char *letters)
{
    static const char alphabet[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
    unsigned char random[RANDOM_LETTERS];
    if (getrandom(random, sizeof random, 0) != (ssize_t) sizeof random)
        return false;
    for (size_t i = 0; i < RANDOM_LETTERS; i++)
        letters[i] = alphabet[random[i] % (sizeof alphabet - 1)];
    return true;
}

/* O_EXCL: it is made by this call, so it is this user's and no link.  A directory's name may be
 * taken from it before it is opened: then it is not opened. */
static int output_place_make(const struct output_place *place, const char *name, bool is_directory)
{
    if (!is_directory)
        return openat(place->directory, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                      0600);
    struct stat about;
    if (mkdirat(place->directory, name, 0700) != 0)
        return -1;
    int made = openat(place->directory, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (made >= 0 && (fstat(made, &about) != 0 || !is_of_caller(&about))) {
        close(made);
        errno = EACCES;
        made = -1;
    }
    return made;
}

int output_place_make_named(const struct output_place *place, const char *name, mode_t mode)
{
    return openat(place->directory, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                  mode);
}

static int make_temporary(const struct output_place *place, char **temporary, bool is_directory)
{
    size_t length = strlen(place->name);
    char *name = malloc(length + 1 + RANDOM_LETTERS + 1);
    int made = -1;
    *temporary = name;
    if (name == NULL)
        return -1;
    snprintf(name, length + 2, "%s.", place->name);
    name[length + 1 + RANDOM_LETTERS] = '\0';
    for (int tries = 0; made < 0 && tries < NAMES_MOST; tries++) {
        made = put_random(name + length + 1) ? output_place_make(place, name, is_directory) : -1;
        if (made < 0 && errno != EEXIST)
            break;
    }
    if (made < 0) {
        int code = errno;
        free(name);
        *temporary = NULL;
        errno = code;
    }
    return made;
}

int output_place_make_file(const struct output_place *place, char **temporary)
{
    return make_temporary(place, temporary, false);
}

int output_place_make_directory(const struct output_place *place, char **temporary)
{
    return make_temporary(place, temporary, true);
}

/* ---- what was made ---- */

bool output_place_is(int directory, const char *name, const struct stat *made)
{
    struct stat about;
    return fstatat(directory, name, &about, AT_SYMLINK_NOFOLLOW) == 0 &&
           output_place_is_same(&about, made);
}

/* Returns whether what has the place's name now may be replaced. */
static bool may_replace(const struct output_place *place, const struct stat *now)
{
    return (place->exists && output_place_is_same(now, &place->about)) ||
           (S_ISREG(now->st_mode) && is_of_caller(now));
}

static bool rename_over(const struct output_place *place, const char *temporary)
{
    return renameat(place->directory, temporary, place->directory, place->name) == 0;
}

bool output_place_put(const struct output_place *place, const char *temporary,
                      const struct stat *made)
{
    struct stat now;
    errno = ESTALE;
    if (!output_place_is(place->directory, temporary, made))
        return false; /* somebody took it away: what has the name is not what was written */
    for (int tries = 0; tries < 2; tries++) {
        if (fstatat(place->directory, place->name, &now, AT_SYMLINK_NOFOLLOW) == 0) {
            errno = EEXIST;
            return may_replace(place, &now) && rename_over(place, temporary);
        }
        if (renameat2(place->directory, temporary, place->directory, place->name,
                      RENAME_NOREPLACE) == 0)
            return true;
        if (errno == EINVAL || errno == ENOSYS) /* the file system cannot */
            return rename_over(place, temporary);
        if (errno != EEXIST)
            return false;
    }
    return false;
}

/* NOLINTBEGIN(bugprone-signal-handler): system calls alone */
void output_place_remove(int directory, const char *name, const struct stat *made)
{
    if (output_place_is(directory, name, made))
        unlinkat(directory, name, S_ISDIR(made->st_mode) ? AT_REMOVEDIR : 0);
}
/* NOLINTEND(bugprone-signal-handler) */

bool output_place_sync(const struct output_place *place)
{
    int directory = openat(place->directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool done = directory >= 0 && (fsync(directory) == 0 || errno == EINVAL || errno == EROFS);
    close_quietly(directory);
    return done;
}
