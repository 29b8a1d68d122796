/* SPDX-License-Identifier: Apache-2.0 */
/* How many rows of a table are printed (--top=N), and the line that says that there are more. */
#ifndef CONVERTER_BASE_TABLE_TEXT_H
#define CONVERTER_BASE_TABLE_TEXT_H

#include <stdint.h>
#include <stdio.h>

/* `top` 0: all. */
static inline size_t table_shown(uint64_t top, size_t count)
{
    return top != 0 && top < count ? (size_t) top : count;
}

/* `rows` is what they are called: "classes". */
static inline void table_print_rest(size_t shown, size_t count, const char *rows)
{
    if (shown < count)
        printf("  ... and %zu more %s (--top=0 shows all)\n", count - shown, rows);
}

#endif
