/* SPDX-License-Identifier: Apache-2.0 */
/* Creates, exchanges and removes temporary directories. */
#include "converter/base/output_directory.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "converter/base/no_memory.h"
#include "converter/base/output_file.h"

static enum step_status io_error(const char *path, struct step_error *error, const char *what)
{
    return step_error_set(error, STEP_STATUS_IO, path, STEP_NO_OFFSET, "%s: %s", what,
                          strerror(errno));
}

static bool is_dots(const char *name)
{
    return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

/* Returns whether the directory has only files of an earlier run.  Sets `*is_empty`. */
static bool is_all_own(DIR *directory, output_directory_is_own is_own, bool *is_empty)
{
    const struct dirent *entry;
    bool all = true;
    *is_empty = true;
    while ((entry = readdir(directory)) != NULL)
        if (!is_dots(entry->d_name)) {
            *is_empty = false;
            all = all && is_own(dirfd(directory), entry->d_name);
        }
    return all;
}

static enum step_status look_at_target(struct output_directory *directory,
                                       output_directory_is_own is_own, struct step_error *error)
{
    bool is_empty;
    DIR *there = opendir(directory->path);
    if (there == NULL)
        return errno == ENOENT ? STEP_STATUS_OK
                               : io_error(directory->path, error, "cannot create a directory");
    bool all_own = is_all_own(there, is_own, &is_empty);
    closedir(there);
    directory->replaces = !is_empty;
    return all_own ? STEP_STATUS_OK
                   : step_error_set(error, STEP_STATUS_IO, directory->path, STEP_NO_OFFSET,
                                    "the directory is there and has other files in it");
}

static enum step_status make_temporary(struct output_directory *directory, struct step_error *error)
{
    size_t size = strlen(directory->path) + sizeof ".XXXXXX";
    char *name = malloc(size);
    if (name == NULL)
        return no_memory(error);
    snprintf(name, size, "%s.XXXXXX", directory->path);
    sigset_t before = output_file_hold_signals();
    bool made = mkdtemp(name) != NULL;
    if (made)
        output_file_doom_directory(name);
    output_file_let_signals(before);
    if (!made) {
        free(name);
        return io_error(directory->path, error, "cannot create a directory");
    }
    directory->temporary = name;
    mode_t mask = umask(0);
    umask(mask);
    if (chmod(name, 0777 & ~mask) != 0)
        errno = 0; /* harmless: the directory keeps its owner's permissions */
    return STEP_STATUS_OK;
}

enum step_status output_directory_open(struct output_directory *directory, const char *path,
                                       output_directory_is_own is_own, struct step_error *error)
{
    *directory = (struct output_directory){.path = strdup(path)};
    if (directory->path == NULL)
        return no_memory(error);
    for (size_t i = strlen(directory->path); i > 1 && directory->path[i - 1] == '/'; i--)
        directory->path[i - 1] = '\0';
    enum step_status status = look_at_target(directory, is_own, error);
    if (status == STEP_STATUS_OK)
        status = make_temporary(directory, error);
    if (status != STEP_STATUS_OK)
        output_directory_abort(directory);
    return status;
}

enum step_status output_directory_commit(struct output_directory *directory,
                                         struct step_error *error)
{
    if (directory->replaces &&
        renameat2(AT_FDCWD, directory->temporary, AT_FDCWD, directory->path, RENAME_EXCHANGE) == 0)
        return STEP_STATUS_OK; /* abort() removes the earlier output */
    if (directory->replaces)
        output_file_remove_directory(directory->path);
    if (rename(directory->temporary, directory->path) != 0)
        return io_error(directory->path, error, "cannot rename");
    return STEP_STATUS_OK;
}

void output_directory_abort(struct output_directory *directory)
{
    if (directory->temporary != NULL) {
        output_file_remove_directory(directory->temporary);
        output_file_doom_directory(NULL);
    }
    free(directory->temporary);
    free(directory->path);
    directory->temporary = directory->path = NULL;
}
