/* SPDX-License-Identifier: Apache-2.0 */
/* Finds rotated files by their names. */
#include "converter/files/joined_files.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "converter/cli/error_report.h"
#include "converter/cli/rotated_names.h"
#include "converter/containers/no_memory.h"
#include "converter/files/output_rights.h"
#include "format/core/grow.h"
#include "format/core/input_file.h"

/* A search for files in a directory. */
struct search {
    const char *path; /* of the user */
    const char *directory;
    char *name; /* of the files; NULL: that of whichever comes first */
    struct rotated_files *files;
};

static enum step_status rotated_files_add(const struct search *search, const char *file,
                                          uint64_t number, struct step_error *error)
{
    struct rotated_files *files = search->files;
    if (!STEP_MAKE_ROOM(files->items, files->capacity, files->count + 1))
        return no_memory(error);
    struct rotated_file *added = &files->items[files->count];
    if (asprintf(&added->path, "%s/%s", search->directory, file) < 0)
        return no_memory(error);
    output_rights_note(added->path);
    added->number = number;
    added->set = NULL;
    files->count++;
    return STEP_STATUS_OK;
}

static bool is_regular(DIR *directory, const char *file)
{
    struct stat about;
    return fstatat(dirfd(directory), file, &about, 0) == 0 && S_ISREG(about.st_mode);
}

static enum step_status rotated_files_take(struct search *search, bool any_name, DIR *directory,
                                           const char *file, struct step_error *error)
{
    uint64_t number;
    size_t length = rotated_file_name(file, &number);
    if (length == 0 || search->name == NULL)
        return STEP_STATUS_OK;
    bool is_there = is_regular(directory, file);
    if (strlen(search->name) == length && memcmp(search->name, file, length) == 0) {
        if (number > search->files->last)
            search->files->last = number;
        if (number < search->files->first)
            search->files->first = number;
        return is_there ? rotated_files_add(search, file, number, error) : STEP_STATUS_OK;
    }
    if (!any_name || !is_there)
        return STEP_STATUS_OK;
    const char *first = strncmp(search->name, file, length + 1) < 0 ? search->name : file;
    return step_error_set(error, STEP_STATUS_INVALID, search->path, STEP_NO_OFFSET,
                          "the directory has the files of several recordings: name one of them, "
                          "as %s/%.*s" ROTATED_ENDING,
                          search->path, first == file ? (int) length : (int) strlen(first), first);
}

/* Takes the name of the first regular file; none: NULL stays. */
static bool find_name(struct search *search, DIR *directory)
{
    uint64_t number;
    size_t length;
    bool done = true;
    for (struct dirent *entry; search->name == NULL && (entry = readdir(directory)) != NULL;)
        if ((length = rotated_file_name(entry->d_name, &number)) > 0 &&
            is_regular(directory, entry->d_name)) {
            search->name = strndup(entry->d_name, length);
            done = search->name != NULL;
            break;
        }
    rewinddir(directory);
    return done;
}

static int rotated_files_by_number(const void *a, const void *b)
{
    const struct rotated_file *left = a, *right = b;
    return (left->number > right->number) - (left->number < right->number);
}

static enum step_status search_directory(struct search *search, struct step_error *error)
{
    bool any_name = search->name == NULL;
    DIR *directory = input_directory_open(search->directory);
    enum step_status status = STEP_STATUS_OK;
    if (directory == NULL)
        return any_name ? step_error_set(error, STEP_STATUS_IO, search->path, STEP_NO_OFFSET,
                                         "cannot open: %s", strerror(errno))
                        : STEP_STATUS_OK;
    if (!find_name(search, directory))
        status = no_memory(error);
    for (struct dirent *entry; status == STEP_STATUS_OK && (entry = readdir(directory)) != NULL;)
        status = rotated_files_take(search, any_name, directory, entry->d_name, error);
    closedir(directory);
    if (search->files->count > 1)
        qsort(search->files->items, search->files->count, sizeof *search->files->items,
              rotated_files_by_number);
    return status;
}

/* Splits DIRECTORY/NAME.step. */
static enum step_status find_by_name(const char *path, size_t length, struct rotated_files *files,
                                     struct step_error *error)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash != NULL ? slash + 1 : path;
    size_t name_length = length - ROTATED_ENDING_LENGTH - (size_t) (name - path);
    char *directory = slash == NULL   ? strdup(".")
                      : slash == path ? strdup("/")
                                      : strndup(path, (size_t) (slash - path));
    struct search search = {path, directory, strndup(name, name_length), files};
    enum step_status status = directory != NULL && search.name != NULL
                                  ? search_directory(&search, error)
                                  : no_memory(error);
    free(directory);
    free(search.name);
    return status;
}

enum step_status rotated_files_find(const char *path, struct rotated_files *files,
                                    struct step_error *error)
{
    struct stat about;
    size_t length = strlen(path);
    *files = (struct rotated_files){.first = UINT64_MAX};
    bool is_there = stat(path, &about) == 0;
    if (!is_there && errno == ENOENT && rotated_ending_is(path, length))
        return find_by_name(path, length, files, error);
    if (!is_there || !S_ISDIR(about.st_mode))
        return STEP_STATUS_OK;
    struct search search = {path, path, NULL, files};
    enum step_status status = search_directory(&search, error);
    free(search.name);
    return status;
}

void rotated_files_reset(struct rotated_files *files)
{
    for (size_t i = 0; i < files->count; i++) {
        free(files->items[i].path);
        free(files->items[i].set);
    }
    free(files->items);
    *files = (struct rotated_files){.items = NULL};
}

bool rotated_file_note_set(struct rotated_file *file, const struct step_reader *reader)
{
    file->set = strdup(step_reader_property(reader, "file-set"));
    return file->set != NULL;
}

/* Returns the recording that more than half of the files are of, or NULL. */
static const char *most_frequent(const struct rotated_files *files)
{
    const char *most = NULL;
    size_t lead = 0, found = 0;
    for (size_t i = 0; i < files->count; i++) {
        if (lead == 0)
            most = files->items[i].set;
        lead = strcmp(files->items[i].set, most) == 0 ? lead + 1 : lead - 1;
    }
    for (size_t i = 0; i < files->count; i++)
        found += strcmp(files->items[i].set, most) == 0;
    return found > files->count / 2 ? most : NULL;
}

/* Whoever can write beside the files can plant any number of others. */
#define TOLD_MOST 10u

bool rotated_files_are_told(size_t left_out)
{
    return left_out < TOLD_MOST;
}

void rotated_files_tell_rest(const char *path, size_t left_out)
{
    if (left_out > TOLD_MOST)
        report_line("%s: %zu more files are left out likewise", path, left_out - TOLD_MOST);
}

void rotated_files_leave_others(struct rotated_files *files)
{
    const char *most = most_frequent(files);
    size_t kept = 0, left_out = 0;
    for (size_t i = 0; i < files->count; i++) {
        if (most == NULL || strcmp(files->items[i].set, most) == 0)
            files->items[kept++] = files->items[i];
        else if (rotated_files_are_told(left_out++))
            report_line("%s: it is of another recording than most files of this name, and is left "
                        "out: move it to another directory",
                        files->items[i].path);
    }
    if (left_out > 0)
        rotated_files_tell_rest(files->items[0].path, left_out);
    files->count = kept;
}

bool rotated_files_exist(const char *path)
{
    struct rotated_files files;
    struct step_error error;
    bool exist = rotated_files_find(path, &files, &error) != STEP_STATUS_OK || files.count > 0;
    rotated_files_reset(&files);
    return exist;
}
