/* SPDX-License-Identifier: Apache-2.0 */
/* --limit-output: the length that files written by a verb may have. */
#ifndef CONVERTER_OUTPUT_OUTPUT_LIMIT_H
#define CONVERTER_OUTPUT_OUTPUT_LIMIT_H

#include <stdbool.h>
#include <stdint.h>

#define OUTPUT_LIMIT_DEFAULT UINT64_MAX
#define OUTPUT_LIMIT_ROW(bytes)                                                                    \
    {                                                                                              \
        "limit-output", 0, "SIZE",                                                                 \
            "limit of the output (4g + 1000 times IN, at most 64g; 0: no limit)", take_size, bytes \
    }

/* Sets the limit in bytes; 0: no limit.  OUTPUT_LIMIT_DEFAULT stands for 4 GiB plus 1000 times
 * the length of `input`, at most 64 GiB; 64 GiB if `input` is not a regular file. */
void output_limit_set(uint64_t bytes, const char *input);
/* Removes the limit.  Returns true if a file reached it, after reporting on stderr what it was
 * and how to raise it: the verb then ends with STEP_STATUS_CORRUPT, as the input would expand too
 * much. */
bool output_limit_end(void);

#endif
