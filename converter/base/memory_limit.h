/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How much memory a verb may take (--memory).  A trace can stand for far more than its size; beyond
 * the limit allocations fail, and the verb ends with a message and exit code 3.
 */
#ifndef CONVERTER_BASE_MEMORY_LIMIT_H
#define CONVERTER_BASE_MEMORY_LIMIT_H

#include <stdbool.h>
#include <stdint.h>

/* The machine's memory; 0: the system does not tell. */
uint64_t memory_physical_bytes(void);

/* Half of the machine's memory, at most 4 GiB. */
void memory_limit_set_default(void);
/* An option's value: bytes, or with k, m, g; 0: no limit. */
bool take_memory(void *unused, const char *value, const char **fault);
/* In a child process, before it becomes another program. */
void memory_limit_lift(void);

/* True where a limit is in force; then says on stderr what it is and how to raise it. */
bool memory_limit_report(void);

#define MEMORY_ROW                                                                                 \
    {                                                                                              \
        "memory", 0, "SIZE",                                                                       \
            "limit of memory use (half of the machine's, at most 4g; 0: no limit)", take_memory,   \
            NULL                                                                                   \
    }

#endif
