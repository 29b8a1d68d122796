/* SPDX-License-Identifier: Apache-2.0 */
/* The files of a STEP trace: its live file, the process that writes it.
 */
#ifndef CONVERTER_FILES_TRACE_FILES_H
#define CONVERTER_FILES_TRACE_FILES_H

#include <limits.h>
#include <stdbool.h>
#include <sys/types.h>
#include <time.h>

#include "steptrace/live.h"
#include "steptrace/reader.h"

/* The path of a trace's live file. */
struct live_path {
    char text[PATH_MAX + sizeof STEP_LIVE_SUFFIX];
};
struct live_path trace_live_path(const char *trace);

/* Reads the header of a live file.  Returns false if it is none. */
bool live_header_read(const char *live_path, struct step_live_header *header);

/* Returns true while a process holds the file, as recorders do with the trace and its live file. */
bool trace_is_held(const char *path);
/* Returns true if the process wrote the trace; `if_unknown` if the trace does not say. */
bool trace_is_of_process(const char *path, pid_t process, bool if_unknown);
/* Returns true if the file was written then or later. */
bool trace_is_since(const char *path, const struct timespec *start);

/* Loads a block.  Returns END for a damaged one, which the reader notes; or NO_MEMORY or IO. */
enum step_status trace_load_block(struct step_reader *reader, size_t i, const uint8_t *wanted,
                                  struct step_block **block, struct step_error *error);

#endif
