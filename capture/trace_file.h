/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The trace file while it is written.  Disk blocks for what comes next, and for the end of the
 * file, are set aside before each write: on a full disk the trace can still be closed.
 */
#ifndef CAPTURE_TRACE_FILE_H
#define CAPTURE_TRACE_FILE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "steptrace/writer.h"

/* Permissions of traces and live files: they hold command lines. */
#define TRACE_FILE_MODE 0600

struct trace_file {
    char *path;
    int descriptor;
    uint64_t size;
    uint64_t reserved; /* disk blocks are there up to this offset */
    bool full;         /* the disk is: nothing but the end is written */
    int code;          /* the errno of what could not be set aside last */
    bool ending;
};

/* How recorders create files. */
struct trace_file_rules {
    bool overwrite; /* replaces a trace of the same owner that nobody writes */
    mode_t mode;    /* permission bits, whatever the umask is; 0: TRACE_FILE_MODE */
};

/* Creates the trace `path` for this process alone, if neither it nor its live file exists: BUSY if
 * one of them does.  Follows no symbolic link.  With rules->overwrite it replaces both if they are
 * the user's own trace and live file; BUSY if another process writes it, INVALID if one of them is
 * anything else. */
enum step_status trace_file_open(const char *path, const struct trace_file_rules *rules,
                                 struct trace_file **out, struct step_error *error);
/* The same under the first free name of NAME.step, NAME.2.step, NAME.3.step...: the trace's `path`
 * and, with STEP_LIVE_SUFFIX, its live file's.  A name other than `wanted` is logged. */
enum step_status trace_file_create(const char *wanted, const struct trace_file_rules *rules,
                                   struct trace_file **out, struct step_error *error);
/* Writes the `number`-th of these names to `out`; false: it is too long. */
bool trace_file_name(const char *wanted, unsigned number, char *out, size_t size);
#define TRACE_FILE_NAMES_MOST 10000u
/* Creates a file that must not exist, with these permissions; -1: errno has the reason. */
int trace_file_make(const char *path, mode_t mode);
/* Sets disk blocks aside for `length` more bytes and the end of the file; false: there are none,
 * file->code says why. */
bool trace_file_reserve(struct trace_file *file, uint64_t length);
/* Does that errno say that the file may have no more bytes? */
bool trace_file_is_full(int code);
struct step_output trace_file_output(struct trace_file *file);
/* Gives back what was set aside and closes. */
void trace_file_close(struct trace_file *file);

#endif
