/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The option --limit-output: the maximum length of each output file, enforced by the kernel
 * (RLIMIT_FSIZE).  A small trace can expand to a very long text.  Pipes are not limited.
 */
#ifndef CONVERTER_BASE_OUTPUT_LIMIT_H
#define CONVERTER_BASE_OUTPUT_LIMIT_H

#include <stdbool.h>
#include <stdint.h>

#define OUTPUT_LIMIT_DEFAULT UINT64_MAX

/* Sets the limit in bytes; 0: no limit.  OUTPUT_LIMIT_DEFAULT stands for 4 GiB plus 1000 times
 * the length of `input`, at most 64 GiB; 64 GiB if `input` is not a regular file. */
void output_limit_set(uint64_t bytes, const char *input);
/* Removes the limit.  Returns true if a file reached it, after reporting on stderr what it was
 * and how to raise it. */
bool output_limit_end(void);

#endif
