/* SPDX-License-Identifier: Apache-2.0 */
/* A temporary directory of one test program, and the files in it. */
#ifndef TESTS_UNIT_ANALYSES_SCRATCH_H
#define TESTS_UNIT_ANALYSES_SCRATCH_H

#include <stddef.h>

/* Initialise and clean up a suite: the directory is made, and removed with its files. */
int scratch_make(void);
int scratch_remove(void);
/* Returns the path of a file in the directory.  It lives until the 16th call after this one. */
char *scratch_path(const char *name);
/* Makes the file of these bytes, and returns its path. */
char *scratch_file(const char *name, const void *bytes, size_t length);
char *scratch_text(const char *name, const char *text);
/* Returns the file's bytes, with a NUL behind them, which the caller frees. */
char *scratch_read(const char *path, size_t *length);

#endif
