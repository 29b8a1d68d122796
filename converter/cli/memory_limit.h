/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The option --memory: a limit of the process's memory.  A small trace can expand to far more than
 * its size.  Beyond the limit allocations fail, and the verb ends with a message and exit status 3.
 */
#ifndef CONVERTER_CLI_MEMORY_LIMIT_H
#define CONVERTER_CLI_MEMORY_LIMIT_H

#include <stdbool.h>
#include <stdint.h>

/* Returns the size of the machine's memory in bytes; 0 if it is unknown. */
uint64_t memory_physical_bytes(void);

/* Sets the default limit: half of the machine's memory, at most 4 GiB. */
void memory_limit_set_default(void);
/* Parser of the option's value: bytes, with an optional suffix k, m or g; 0: no limit. */
bool take_memory(void *unused, const char *value, const char **fault);
/* Removes the limit in a child process, before exec(). */
void memory_limit_lift(void);

/* Returns the limit in bytes; UINT64_MAX: none. */
uint64_t memory_limit_bytes(void);
/* If a limit is in force, reports on stderr what it is and how to raise it. */
void memory_limit_report(void);

#define MEMORY_ROW                                                                                 \
    {                                                                                              \
        "memory", 0, "SIZE",                                                                       \
            "limit of memory use (half of the machine's, at most 4g; 0: no limit)", take_memory,   \
            NULL                                                                                   \
    }

#endif
