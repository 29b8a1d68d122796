/* SPDX-License-Identifier: Apache-2.0 */
/* The name under which an output appears, and what it replaces there. */
#ifndef CONVERTER_BASE_OUTPUT_TARGET_H
#define CONVERTER_BASE_OUTPUT_TARGET_H

#include <stdbool.h>
#include <sys/stat.h>

#include "steptrace/status.h"

struct output_target {
    char *path; /* without a symbolic link as its last part */
    bool exists;
    struct stat about; /* of what is there */
};

/* Finds what `path` names.  A link is followed, as most programs do, but not one that leads
 * nowhere, and not one of somebody else's in a directory where everybody may make links.  IO with
 * `error`. */
enum step_status output_target_find(struct output_target *target, const char *path,
                                    struct step_error *error);
/* Gives a new file the permissions and, as far as the user may, the owner and group of the regular
 * file that it is to replace; permissions by the umask where there is none. */
void output_target_dress(const struct output_target *target, int file);
/* Waits until the file is on the disk, if it replaces another; false: errno has the reason. */
bool output_target_sync(const struct output_target *target, int file);
/* The same for the file's name, after it was renamed. */
void output_target_sync_name(const struct output_target *target);
void output_target_reset(struct output_target *target);

/* Waits until the file of that name is on the disk, before another that has the same content is
 * removed; false: errno has the reason. */
bool output_target_sync_path(const char *path);

#endif
