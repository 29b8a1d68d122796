/* SPDX-License-Identifier: Apache-2.0 */
/* Arrays that grow by half of what they are. */
#ifndef FORMAT_CORE_GROW_H
#define FORMAT_CORE_GROW_H

#include <stddef.h>
#include <stdlib.h>

/* The array with room for `need` items at least, *capacity is set to how many; NULL: out of memory,
 * and both stay as they are. */
static inline void *step_grown(void *items, size_t *capacity, size_t need, size_t item_bytes)
{
    size_t wanted = *capacity + *capacity / 2 + 32;
    if (wanted < need)
        wanted = need;
    void *grown = realloc(items, wanted * item_bytes);
    if (grown != NULL)
        *capacity = wanted;
    return grown;
}

#endif
