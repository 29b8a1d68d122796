/* SPDX-License-Identifier: Apache-2.0 */
/* A temporary directory for a suite's files, and what a function prints. */
#ifndef TESTS_UNIT_SCRATCH_H
#define TESTS_UNIT_SCRATCH_H

#include <stdbool.h>
#include <stddef.h>

/* A suite's initialiser and cleanup: makes the directory, removes it with all that is in it. */
int scratch_begin(void);
int scratch_end(void);

/* The path of a file there.  The texts of the last 16 calls are valid. */
char *scratch_path(const char *name);
/* Writes a file there, and returns its path. */
char *scratch_put(const char *name, const void *data, size_t length);
char *scratch_put_text(const char *name, const char *text);
/* Reads a file of at most 1 MiB - 1 byte, and ends it with 0.  Returns NULL if there is none.
 * Valid until the next call. */
char *scratch_read(const char *path, size_t *length);

/* From scratch_listen() to scratch_hear(), standard output and standard error go to files. */
void scratch_listen(void);
/* What has been printed; valid until the next call. */
struct scratch_heard {
    const char *out, *err;
};
struct scratch_heard scratch_hear(void);

#endif
