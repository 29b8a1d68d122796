/* SPDX-License-Identifier: Apache-2.0 */
/* The files of one recording with rotate=: NAME.000001.step, NAME.000002.step, ... */
#ifndef CONVERTER_BASE_ROTATED_FILES_H
#define CONVERTER_BASE_ROTATED_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "steptrace/status.h"

struct rotated_file {
    char *path;
    uint64_t number;
};

struct rotated_files {
    struct rotated_file *items; /* by number, ascending */
    size_t count, capacity;
};

/* Finds the files that `path` stands for: NAME.step, as file= has it, where no such file exists, or
 * the directory of the files, if they all have one name.  `count` is 0 for any other path.  Returns
 * INVALID if the directory has files of several names.  Reset is allowed in any case. */
enum step_status rotated_files_find(const char *path, struct rotated_files *files,
                                    struct step_error *error);
void rotated_files_reset(struct rotated_files *files);
/* Returns true if `path` stands for such files. */
bool rotated_files_exist(const char *path);
/* Returns the length of the name, and sets the number, of a file that is named like one of them; 0
 * if it is not. */
size_t rotated_file_name(const char *file, uint64_t *number);

#endif
