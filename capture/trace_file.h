/* SPDX-License-Identifier: Apache-2.0 */
/* The trace file while it is written. Before each write, disk blocks are reserved for it and for
 * the end of the file, so that the trace can be closed on a full disk. */
#ifndef CAPTURE_TRACE_FILE_H
#define CAPTURE_TRACE_FILE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "steptrace/writer.h"

/* Permissions of traces and live files, which contain command lines. */
#define TRACE_FILE_MODE 0600

struct trace_file {
    char *path;
    int descriptor;
    uint64_t size;
    uint64_t reserved; /* disk blocks are reserved up to this offset */
    bool full;         /* the disk is full: only the end is still written */
    int code;          /* errno of the last failed reservation */
    bool ending;
    bool is_removed; /* by this process: nothing is said of it */
};

/* How recorders create files. */
struct trace_file_rules {
    bool overwrite; /* replace a trace of the same owner that no process writes */
    mode_t mode;    /* permission bits, whatever the umask is; 0: TRACE_FILE_MODE */
};

/* Creates the trace `path` and locks it for this process. Returns BUSY if it or its live file
 * exists. Does not follow symbolic links. rules->overwrite replaces both if they are the user's own
 * trace and live file; then BUSY means that another process writes the trace, INVALID that one of
 * them is another kind of file. */
enum step_status trace_file_open(const char *path, const struct trace_file_rules *rules,
                                 struct trace_file **out, struct step_error *error);
/* Same as trace_file_open(), with the first free name of NAME.step, NAME.2.step, NAME.3.step...: it
 * is the trace's `path` and, with STEP_LIVE_SUFFIX, the name of its live file. Logs a name other
 * than `wanted`. */
enum step_status trace_file_create(const char *wanted, const struct trace_file_rules *rules,
                                   struct trace_file **out, struct step_error *error);
/* Writes the `number`-th of these names to `out`, with that separator in place of the dot before
 * the number. Returns false if it is too long. */
bool trace_file_name(const char *wanted, char separator, unsigned number, char *out, size_t size);
#define TRACE_FILE_NAMES_MOST 10000u
/* Creates a file that must not exist, with permissions `mode` (0: TRACE_FILE_MODE). Returns its
 * descriptor, or -1 and sets errno. */
int trace_file_make(const char *path, mode_t mode);
/* Opens a trace or a live file that a recorder has made, for these accesses (O_RDONLY, O_RDWR): a
 * regular file, and not through a link. Waits for nothing. Returns its descriptor, or -1 and sets
 * errno. */
int trace_file_find(const char *path, int access);
/* Locks the first `length` bytes of the file (0: all) for this process. */
bool trace_file_lock(int descriptor, off_t length);
/* Reserves disk blocks for `length` more bytes and the end of the file. Returns false and sets
 * file->code on failure. */
bool trace_file_reserve(struct trace_file *file, uint64_t length);
/* Makes a file at least this long, with disk blocks. Returns 0, or an errno. */
int trace_file_extend(int descriptor, uint64_t start, uint64_t bytes);
/* Writes all bytes at the offset. Returns 0, or an errno. */
int trace_file_put(int descriptor, const void *data, size_t length, uint64_t offset);
/* Returns true if this errno says that the file cannot grow. */
bool trace_file_is_full(int code);
struct step_output trace_file_output(struct trace_file *file);
/* What a file is, whatever its name becomes; 0 and 0: not known.
 *
 * Removing and renaming are done by identity, not by name. While a trace is written, its name may
 * be given to another file, by a user or by a program that cleans up; the recorder must never
 * remove a file that it did not make. The check and the removal are two system calls, so a rename
 * between them is still possible, but only by somebody who may write to that directory. */
struct file_identity {
    uint64_t device, inode;
};
struct file_identity file_identity_of(int descriptor);
/* Removes the name if it still is that file's: what has it otherwise is another's. Returns false if
 * that failed. */
bool trace_file_remove(const char *path, struct file_identity identity);
/* Gives the file another name, in its directory, which no file must have. */
bool trace_file_rename(const char *path, struct file_identity identity, const char *to);
/* Removes the trace, which nobody wants; it is to be closed. */
void trace_file_discard(struct trace_file *file);
/* Releases unused reserved blocks, and closes. Logs that the file was removed by another. */
void trace_file_close(struct trace_file *file);

#endif
