/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The files of one recording with rotate= as one trace.  They are copied into an unlinked temporary
 * file, once in a process: objects that live across files are one object, classes, threads and call
 * stacks are those of all files, and what is missing is in the property TRACE_FILES_GAPS.
 */
#ifndef CONVERTER_BASE_JOINED_FILES_H
#define CONVERTER_BASE_JOINED_FILES_H

#include "steptrace/reader.h"

/* Opens the trace that `path` stands for: see rotated_files.h.  Sets `*reader` to NULL if it stands
 * for one file. */
enum step_status joined_files_open(const char *path, struct step_reader **reader,
                                   struct step_error *error);
/* Returns true if this file is one of such files. */
bool joined_files_have(const char *file);
/* Returns the length of the name that two such files have without their numbers, or 0. */
size_t joined_files_share_name(const char *one, const char *other);

#endif
