/* SPDX-License-Identifier: Apache-2.0 */
/* A list of sizes given on the command line: 4m,6m, or 4m..512m, which doubles from 4m on. */
#ifndef CONVERTER_SIMULATE_SIZE_LIST_H
#define CONVERTER_SIMULATE_SIZE_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SIZE_LIST_MOST 64u

/* Zero-initialise for an empty list. */
struct size_list {
    uint64_t sizes[SIZE_LIST_MOST]; /* in ascending order */
    size_t count;
};

/* Parses an option's value (converter/base/arguments.h) and adds its sizes. */
bool take_size_list(void *list_target, const char *value, const char **fault);

#endif
