/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An output directory without subdirectories.  It is written under a temporary name in the same
 * parent directory, and renamed when it is complete.  It replaces the output of an earlier run
 * atomically where the kernel can exchange names.  Anything else that has the name is an error.
 * Parent, new and earlier directory are held by descriptors from the first look on, so that only
 * files that were looked at are removed, whatever their names have become.
 */
#ifndef CONVERTER_OUTPUT_OUTPUT_DIRECTORY_H
#define CONVERTER_OUTPUT_OUTPUT_DIRECTORY_H

#include <stdbool.h>
#include <sys/stat.h>

#include "format/core/output_place.h"
#include "steptrace/status.h"

/* Returns whether an earlier run wrote the file `name` of an existing directory. */
typedef bool (*output_directory_is_own)(int directory, const char *name);

struct output_directory {
    char *path; /* without trailing slashes */
    struct output_place place;
    char *temporary; /* its name while it is written; NULL: none */
    int descriptor;  /* of the directory that is written, for output_file_open_in() */
    struct stat made;
    output_directory_is_own is_own;
    int earlier; /* the directory that is replaced; -1: none, or an empty one */
    char *names; /* its files, each with its zero */
    size_t length, capacity;
};

/* Creates the temporary directory.  Returns IO if the name is taken or the directory cannot be
 * created. */
enum step_status output_directory_open(struct output_directory *directory, const char *path,
                                       output_directory_is_own is_own, struct step_error *error);
/* Renames the directory to its final name, and removes the earlier output. */
enum step_status output_directory_commit(struct output_directory *directory,
                                         struct step_error *error);
/* Removes the temporary directory unless it was committed, and frees memory. */
void output_directory_abort(struct output_directory *directory);

#endif
