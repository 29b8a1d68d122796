/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An output directory without subdirectories.  It is written under a temporary name in the same
 * parent directory, and renamed when it is complete.  It replaces the output of an earlier run
 * atomically where the kernel can exchange names.  Anything else that has the name is an error.
 */
#ifndef CONVERTER_BASE_OUTPUT_DIRECTORY_H
#define CONVERTER_BASE_OUTPUT_DIRECTORY_H

#include <stdbool.h>

#include "steptrace/status.h"

/* Returns whether an earlier run wrote the file `name` of an existing directory. */
typedef bool (*output_directory_is_own)(int directory, const char *name);

struct output_directory {
    char *path;      /* without trailing slashes */
    char *temporary; /* path under which it is written; NULL: none */
    bool replaces;   /* the output of an earlier run exists */
};

/* Creates the temporary directory.  Returns IO if the name is taken or the directory cannot be
 * created. */
enum step_status output_directory_open(struct output_directory *directory, const char *path,
                                       output_directory_is_own is_own, struct step_error *error);
/* Renames the directory to its final name. */
enum step_status output_directory_commit(struct output_directory *directory,
                                         struct step_error *error);
/* Removes the temporary directory unless it was committed, and frees memory. */
void output_directory_abort(struct output_directory *directory);

#endif
