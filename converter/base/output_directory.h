/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A directory of files that is being written: under a temporary name beside its own, and renamed
 * when it is complete.  What an earlier run wrote under that name is replaced at once; anything
 * else that is there is left alone.  It has no directories in it.
 */
#ifndef CONVERTER_BASE_OUTPUT_DIRECTORY_H
#define CONVERTER_BASE_OUTPUT_DIRECTORY_H

#include <stdbool.h>

#include "steptrace/status.h"

/* Is a file of that name, in a directory that is there already, one of an earlier run? */
typedef bool (*output_directory_is_own)(int directory, const char *name);

struct output_directory {
    char *path;      /* without slashes at its end */
    char *temporary; /* NULL: there is none */
    bool replaces;   /* something of an earlier run */
};

/* IO: the name is taken, or no directory can be made. */
enum step_status output_directory_open(struct output_directory *directory, const char *path,
                                       output_directory_is_own is_own, struct step_error *error);
/* Makes the directory appear under its name. */
enum step_status output_directory_commit(struct output_directory *directory,
                                         struct step_error *error);
/* Removes what was written, but after a commit nothing, and lets go. */
void output_directory_abort(struct output_directory *directory);

#endif
