/* SPDX-License-Identifier: Apache-2.0 */
/* Creates, exchanges and removes temporary directories. */
#include "converter/output/output_directory.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "converter/cli/descriptors.h"
#include "converter/containers/no_memory.h"
#include "converter/files/output_rights.h"
#include "converter/output/output_signals.h"
#include "format/core/grow.h"
#include "format/core/input_file.h"

static enum step_status output_directory_io_error(const char *path, struct step_error *error,
                                                  const char *what)
{
    return step_error_set(error, STEP_STATUS_IO, path, STEP_NO_OFFSET, "%s: %s", what,
                          strerror(errno));
}

static bool is_dots(const char *name)
{
    return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

/* Adds a name to those of the earlier output. */
static bool keep_name(struct output_directory *directory, const char *name)
{
    size_t size = strlen(name) + 1;
    if (!STEP_MAKE_ROOM(directory->names, directory->capacity, directory->length + size))
        return false;
    memcpy(directory->names + directory->length, name, size);
    directory->length += size;
    return true;
}

/* Notes the files of the earlier output.  Sets `*all_own`.  Returns false and sets errno on
 * failure. */
static bool look_through(struct output_directory *directory, bool *all_own)
{
    DIR *files = input_directory_list(directory->earlier);
    const struct dirent *entry;
    bool done = files != NULL;
    *all_own = true;
    while (done && (entry = readdir(files)) != NULL)
        if (!is_dots(entry->d_name)) {
            *all_own = *all_own && directory->is_own(directory->earlier, entry->d_name);
            done = keep_name(directory, entry->d_name);
        }
    if (files != NULL)
        closedir(files);
    return done;
}

static enum step_status look_at_target(struct output_directory *directory, struct step_error *error)
{
    const struct output_place *place = &directory->place;
    bool all_own;
    if (!place->exists)
        return STEP_STATUS_OK;
    directory->earlier =
        openat(place->directory, place->name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (directory->earlier < 0 || fstat(directory->earlier, &directory->place.about) != 0 ||
        !look_through(directory, &all_own))
        return output_directory_io_error(directory->path, error, "cannot create a directory");
    if (directory->length == 0) {
        close(directory->earlier);
        directory->earlier = -1;
    }
    return all_own ? STEP_STATUS_OK
                   : step_error_set(error, STEP_STATUS_IO, directory->path, STEP_NO_OFFSET,
                                    "the directory exists and has other files in it");
}

static enum step_status make_temporary(struct output_directory *directory, struct step_error *error)
{
    sigset_t before = output_signals_hold();
    directory->descriptor = output_place_make_directory(&directory->place, &directory->temporary);
    bool made = directory->descriptor >= 0 && fstat(directory->descriptor, &directory->made) == 0;
    if (made)
        output_signals_doom_directory(directory->place.directory, directory->temporary,
                                      directory->descriptor);
    output_signals_let(before);
    if (!made)
        return output_directory_io_error(directory->path, error, "cannot create a directory");
    if (fchmod(directory->descriptor, output_rights_of_new(0777)) != 0)
        errno = 0; /* harmless: the directory keeps its owner's permissions */
    return STEP_STATUS_OK;
}

enum step_status output_directory_open(struct output_directory *directory, const char *path,
                                       output_directory_is_own is_own, struct step_error *error)
{
    *directory = (struct output_directory){.path = strdup(path),
                                           .place = {.directory = -1},
                                           .is_own = is_own,
                                           .descriptor = -1,
                                           .earlier = -1};
    if (directory->path == NULL)
        return no_memory(error);
    for (size_t i = strlen(directory->path); i > 1 && directory->path[i - 1] == '/'; i--)
        directory->path[i - 1] = '\0';
    enum step_status status =
        output_place_find(&directory->place, directory->path, OUTPUT_PLACE_NAMED, error);
    if (status == STEP_STATUS_OK)
        status = look_at_target(directory, error);
    if (status == STEP_STATUS_OK)
        status = make_temporary(directory, error);
    if (status != STEP_STATUS_OK)
        output_directory_abort(directory);
    return status;
}

/* Removes the files that were there at first, by the descriptor of their directory, and its name if
 * it still has it. */
static void remove_earlier(const struct output_directory *directory, const char *name)
{
    for (size_t at = 0; at < directory->length; at += strlen(directory->names + at) + 1)
        unlinkat(directory->earlier, directory->names + at, 0);
    output_place_remove(directory->place.directory, name, &directory->place.about);
}

/* The new directory has the name then, and the earlier one the temporary name. */
static bool exchange(const struct output_directory *directory)
{
    const struct output_place *place = &directory->place;
    return renameat2(place->directory, directory->temporary, place->directory, place->name,
                     RENAME_EXCHANGE) == 0;
}

static enum step_status taken(const struct output_directory *directory, struct step_error *error)
{
    return step_error_set(error, STEP_STATUS_IO, directory->path, STEP_NO_OFFSET,
                          "cannot rename: another file has taken a name while this was written");
}

/* Takes the name where nothing, or an empty directory, has it. */
static enum step_status output_directory_take_name(const struct output_directory *directory,
                                                   struct step_error *error)
{
    const struct output_place *place = &directory->place;
    return renameat(place->directory, directory->temporary, place->directory, place->name) == 0
               ? STEP_STATUS_OK
               : output_directory_io_error(directory->path, error, "cannot rename");
}

/* Frees the temporary name: the directory is at its place. */
static void output_directory_finish(struct output_directory *directory)
{
    output_signals_spare_directory();
    free(directory->temporary);
    directory->temporary = NULL;
}

enum step_status output_directory_commit(struct output_directory *directory,
                                         struct step_error *error)
{
    const struct output_place *place = &directory->place;
    bool replaces = directory->earlier >= 0;
    if (!output_place_is(place->directory, directory->temporary, &directory->made) ||
        (replaces && !output_place_is(place->directory, place->name, &place->about)))
        return taken(directory, error);
    enum step_status status = STEP_STATUS_OK;
    if (replaces && exchange(directory)) {
        output_signals_spare_directory();
        remove_earlier(directory, directory->temporary);
    } else {
        if (replaces)
            remove_earlier(directory, place->name);
        status = output_directory_take_name(directory, error);
    }
    if (status == STEP_STATUS_OK)
        output_directory_finish(directory);
    return status;
}

void output_directory_abort(struct output_directory *directory)
{
    if (directory->path == NULL)
        return;
    if (directory->temporary != NULL) {
        if (directory->descriptor >= 0)
            output_signals_empty(directory->descriptor);
        output_place_remove(directory->place.directory, directory->temporary, &directory->made);
        output_signals_spare_directory();
    }
    close_quietly(directory->descriptor);
    close_quietly(directory->earlier);
    output_place_reset(&directory->place);
    free(directory->temporary);
    free(directory->path);
    free(directory->names);
    *directory = (struct output_directory){.descriptor = -1, .earlier = -1};
}
