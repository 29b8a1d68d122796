/* SPDX-License-Identifier: Apache-2.0 */
/* The path of an output file, and the existing file that it replaces. */
#ifndef CONVERTER_BASE_OUTPUT_TARGET_H
#define CONVERTER_BASE_OUTPUT_TARGET_H

#include <stdbool.h>
#include <sys/stat.h>

#include "steptrace/status.h"

struct output_target {
    char *path; /* with a symbolic link resolved */
    bool exists;
    struct stat about; /* the existing file */
};

/* Resolves `path`.  Follows symbolic links, but returns IO for a dangling link, and for another
 * user's link in a sticky world-writable directory. */
enum step_status output_target_find(struct output_target *target, const char *path,
                                    struct step_error *error);
/* Sets the permissions of the new file `file`, and its owner and group as far as the process is
 * permitted to, to those of the regular file that it replaces.  Without such a file the
 * permissions follow the umask. */
void output_target_dress(const struct output_target *target, int file);
/* Syncs the file to the disk if it replaces another.  Returns false and sets errno on failure. */
bool output_target_sync(const struct output_target *target, int file);
/* Syncs the directory after the rename, if the file replaces another. */
void output_target_sync_name(const struct output_target *target);
void output_target_reset(struct output_target *target);

/* Syncs the file `path` and its directory, before a second copy of its contents is removed.
 * Returns false and sets errno on failure. */
bool output_target_sync_path(const char *path);

#endif
