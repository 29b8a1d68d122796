/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How long the files of an output may become (--limit-output).  A small trace can stand for a very
 * long text; the kernel keeps the limit, for each file that is written, whoever writes it.  Pipes
 * have none.
 */
#ifndef CONVERTER_BASE_OUTPUT_LIMIT_H
#define CONVERTER_BASE_OUTPUT_LIMIT_H

#include <stdbool.h>
#include <stdint.h>

#define OUTPUT_LIMIT_DEFAULT UINT64_MAX

/* Sets the limit: `bytes`; 0: none; OUTPUT_LIMIT_DEFAULT: 4 GiB and 1000 times the input's length,
 * at most 64 GiB, or 64 GiB where the input is no regular file. */
void output_limit_set(uint64_t bytes, const char *input);
/* Ends it.  True if a file has reached it; then says on stderr what it was and how to raise it. */
bool output_limit_end(void);

#endif
