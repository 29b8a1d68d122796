/* SPDX-License-Identifier: Apache-2.0 */
/* Zeroed arrays for tables that are read at random: a large one gets large pages, of which fewer
 * have to be made and looked up. */
#ifndef FORMAT_CORE_LARGE_PAGES_H
#define FORMAT_CORE_LARGE_PAGES_H

#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

/* Like calloc(); freed with free(). */
static inline void *step_zeroed_table(size_t count, size_t item_bytes)
{
    const uintptr_t page = (uintptr_t) 2 << 20;
    void *table = calloc(count, item_bytes);
    if (table == NULL || count * item_bytes < 4 * page)
        return table;
    uintptr_t first = ((uintptr_t) table + page - 1) & ~(page - 1);
    uintptr_t end = ((uintptr_t) table + count * item_bytes) & ~(page - 1);
    madvise((void *) first, end - first, MADV_HUGEPAGE);
    return table;
}

#endif
