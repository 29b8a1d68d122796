/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A file that is being written: under a temporary name beside its own, and renamed when it is
 * complete, so that nobody ever meets half of it.  What replaces a file has its permissions and
 * owner, and is on the disk before the old one is gone.  Standard output ("-"), pipes and devices
 * are written as they are.
 */
#ifndef CONVERTER_BASE_OUTPUT_FILE_H
#define CONVERTER_BASE_OUTPUT_FILE_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "converter/base/output_target.h"
#include "steptrace/status.h"
#include "steptrace/writer.h"

struct output_file {
    const char *path; /* as the person gave it; borrowed */
    char *temporary;  /* NULL: written as it is */
    struct output_target target;
    char *spool_path; /* where a seekable stand-in of a pipe can be opened */
    int descriptor;
    int spool; /* -1: there is none */
    uint64_t size_bytes;
};

enum step_status output_file_open(struct output_file *file, const char *path,
                                  struct step_error *error);
enum step_status output_file_write(struct output_file *file, const void *data, size_t length,
                                   struct step_error *error);
/* The same as an output of the libraries; the file must stay where it is. */
struct step_output output_file_as_output(struct output_file *file);
/* A name under which a library may open the file by itself and seek in it; NULL with `error`. */
const char *output_file_seekable_path(struct output_file *file, struct step_error *error);
/* Makes the file appear under its name; the file is closed in any case. */
enum step_status output_file_commit(struct output_file *file, struct step_error *error);
/* Removes what was written.  Does nothing after a commit. */
void output_file_abort(struct output_file *file);

/* An unlinked file for what must be sought in; -1: none could be made (errno says why). */
int output_file_spool(void);

/* Lets SIGINT, SIGTERM and SIGHUP remove the temporary file before they end the program. */
void output_file_catch_signals(void);
/* None of them comes between the making of something and the promise to remove it: the mask before,
 * to be given back. */
sigset_t output_file_hold_signals(void);
void output_file_let_signals(sigset_t before);
/* They remove this directory too, with the files in it; NULL: none any more. */
void output_file_doom_directory(const char *path);

#endif
