/* SPDX-License-Identifier: Apache-2.0 */
/* Joins rotated files: see joined_files.h. */
#ifndef CONVERTER_BASE_FILE_JOINING_H
#define CONVERTER_BASE_FILE_JOINING_H

#include "converter/base/rotated_files.h"

/* Writes the files as one STEP trace into an unlinked temporary file, which the caller closes.
 * `path` is what stands for them in messages.  Reports damaged files, and files that are not there
 * any more.  Returns CORRUPT, with a reason, for files that are not of one recording. */
enum step_status file_joining_run(const struct rotated_files *files, const char *path, int *spool,
                                  uint64_t *bytes, struct step_error *error);

#endif
