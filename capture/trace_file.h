/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The trace file while it is written.  Disk blocks for what comes next, and for the end of the
 * file, are set aside before each write: on a full disk the trace can still be closed.
 */
#ifndef CAPTURE_TRACE_FILE_H
#define CAPTURE_TRACE_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include "steptrace/writer.h"

struct trace_file {
    char *path;
    int descriptor;
    uint64_t size;
    uint64_t reserved; /* disk blocks are there up to this offset */
    bool full;         /* the disk is: nothing but the end is written */
    int code;          /* the errno of what could not be set aside last */
    bool ending;
};

/* Creates the file; BUSY if another process writes it. */
enum step_status trace_file_open(const char *path, struct trace_file **out,
                                 struct step_error *error);
/* Sets disk blocks aside for `length` more bytes and the end of the file; false: there are none,
 * file->code says why. */
bool trace_file_reserve(struct trace_file *file, uint64_t length);
/* Does that errno say that the file may have no more bytes? */
bool trace_file_is_full(int code);
struct step_output trace_file_output(struct trace_file *file);
/* Gives back what was set aside and closes. */
void trace_file_close(struct trace_file *file);

#endif
