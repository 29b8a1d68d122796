/* SPDX-License-Identifier: Apache-2.0 */
/* Truncation of printed tables (--top=N), and the line that reports omitted rows. */
#ifndef CONVERTER_CLI_TABLE_TEXT_H
#define CONVERTER_CLI_TABLE_TEXT_H

#include <stdint.h>
#include <stdio.h>

/* Returns how many of `count` rows to print; `top` 0: all. */
static inline size_t table_shown(uint64_t top, size_t count)
{
    return top != 0 && top < count ? (size_t) top : count;
}

/* Prints how many rows were omitted.  `rows` is the plural noun for them: "classes". */
static inline void table_print_rest(size_t shown, size_t count, const char *rows)
{
    if (shown < count)
        printf("  ... and %zu more %s (--top=0 shows all)\n", count - shown, rows);
}

#endif
