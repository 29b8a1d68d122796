/* SPDX-License-Identifier: Apache-2.0 */
/* Temporary files without a name, for what cannot be sought in or kept in memory. */
#ifndef CONVERTER_FILES_SPOOL_H
#define CONVERTER_FILES_SPOOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "steptrace/status.h"
#include "steptrace/writer.h"

/* Returns whether the process may write files of that length.  If not, what does not fit into
 * memory fails. */
bool spool_allows(uint64_t bytes);
/* What a file may come to that holds what memory should not. */
#define SPOOL_BYTES_USUAL (UINT64_C(4) << 30)

/* Opens an unlinked temporary file.  Returns its descriptor, or -1 and sets errno. */
int spool_file(void);
/* The same as a stdio stream. */
FILE *spool_stream(void);
/* The same: sets `*spool`, and describes the error. */
enum step_status spool_open(int *spool, struct step_error *error);
/* Returns that file as an output of the libraries, which writes at its end. */
struct step_output spool_as_output(int *spool);
/* Write, or read, all these bytes at a position of that file. */
enum step_status spool_write(int spool, const void *bytes, size_t length, uint64_t at,
                             struct step_error *error);
enum step_status spool_read(int spool, void *bytes, size_t length, uint64_t at,
                            struct step_error *error);

#endif
