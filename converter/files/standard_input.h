/* SPDX-License-Identifier: Apache-2.0 */
/* Standard input as a trace.  Its first bytes identify the format; then it is either read as a
 * stream, or copied to a temporary file that supports seeking. */
#ifndef CONVERTER_FILES_STANDARD_INPUT_H
#define CONVERTER_FILES_STANDARD_INPUT_H

#include <stddef.h>

#include "converter/cli/error_report.h"
#include "steptrace/status.h"

struct standard_input {
    char start[40]; /* the bytes read so far, zero-terminated */
    size_t length;
};

/* Reads the first bytes; fewer only if the input is shorter. */
enum step_status standard_input_peek(struct standard_input *input, struct step_error *error);
/* Copies all of standard input to an unlinked temporary file and sets `*spool` to its
 * descriptor. */
enum step_status standard_input_spool(const struct standard_input *input, int *spool,
                                      struct step_error *error);

/* A path under which an input can be opened repeatedly.  Zeroed, it is none, and may be closed. */
struct seekable_path {
    const char *path; /* the caller's path, or the path of a copy of standard input */
    char copy[32];
    int spool; /* descriptor of the copy, if `path` is its path; -1: none */
};

/* Opens `path`; "-" is standard input. */
enum step_status seekable_path_open(struct seekable_path *seekable, const char *path,
                                    struct step_error *error);
void seekable_path_close(struct seekable_path *seekable);

#endif
