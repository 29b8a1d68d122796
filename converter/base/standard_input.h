/* SPDX-License-Identifier: Apache-2.0 */
/* Standard input as a trace: its first bytes, which tell the format, then either read on as it
 * comes, or copied into a file that can be sought in. */
#ifndef CONVERTER_BASE_STANDARD_INPUT_H
#define CONVERTER_BASE_STANDARD_INPUT_H

#include <stddef.h>

#include "converter/base/error_report.h"
#include "steptrace/status.h"

struct standard_input {
    char start[40]; /* what was read so far, and a zero */
    size_t length;
};

/* Reads the first bytes, fewer only where there are no more. */
enum step_status standard_input_peek(struct standard_input *input, struct step_error *error);
/* All of it in an unlinked file. */
enum step_status standard_input_spool(const struct standard_input *input, int *spool,
                                      struct step_error *error);

/* A name by which a file can be opened again and again. */
struct seekable_path {
    const char *path; /* the caller's, or that of a copy of standard input */
    char copy[32];
    int spool; /* -1: there is no copy */
};

/* `path` may be "-". */
enum step_status seekable_path_open(struct seekable_path *seekable, const char *path,
                                    struct step_error *error);
void seekable_path_close(struct seekable_path *seekable);

#endif
