/* SPDX-License-Identifier: Apache-2.0 */
/* The files of one recording with rotate= as one trace. */
#ifndef CONVERTER_FILES_JOINED_FILES_H
#define CONVERTER_FILES_JOINED_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "steptrace/reader.h"
#include "steptrace/status.h"

struct rotated_file {
    char *path;
    uint64_t number;
    char *set; /* its property file-set; NULL: not known yet */
};

struct rotated_files {
    struct rotated_file *items; /* by number, ascending */
    size_t count, capacity;
    uint64_t first, last; /* the lowest and highest number of a name, also of no regular file's */
};

/* Finds the files that `path` stands for: NAME.step, as file= has it, where no such file exists, or
 * the directory of the files, if they all have one name.  `count` is 0 for any other path.  Returns
 * INVALID if the directory has files of several names.  A FIFO or a directory with such a name is
 * no file: it is missing.  Reset is allowed in any case. */
enum step_status rotated_files_find(const char *path, struct rotated_files *files,
                                    struct step_error *error);
void rotated_files_reset(struct rotated_files *files);
/* Notes which recording the file is of.  Returns false if memory runs out. */
bool rotated_file_note_set(struct rotated_file *file, const struct step_reader *reader);
/* Of files that are left out each of the first is told of, by its number among them from 0, and
 * then how many more there were. */
bool rotated_files_are_told(size_t left_out);
void rotated_files_tell_rest(const char *path, size_t left_out);
/* Reports and leaves out the files that are of another recording than more than half of them, which
 * anybody who may write in the directory can put there.  Leaves all if no recording has so many. */
void rotated_files_leave_others(struct rotated_files *files);
/* Returns true if `path` stands for such files. */
bool rotated_files_exist(const char *path);

/*
 * The files of one recording with rotate= as one trace.  They are copied into an unlinked temporary
 * file, once in a process: objects that live across files are one object, classes, threads and call
 * stacks are those of all files, and what is missing is in the property TRACE_FILES_GAPS.  A file
 * with such a name that is none of them, which anybody may have put there, is reported and left
 * out.
 */

/* Opens the trace that `path` stands for, as rotated_files_find() has it.  Sets `*reader` to NULL
 * if it stands for one file. */
enum step_status joined_files_open(const char *path, struct step_reader **reader,
                                   struct step_error *error);

#endif
