/* SPDX-License-Identifier: Apache-2.0 */
/* Growable arrays, whose capacity grows by half. */
#ifndef FORMAT_CORE_GROW_H
#define FORMAT_CORE_GROW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* Returns the array with room for at least `need` items and sets *capacity.  Returns NULL if out of
 * memory; both are then unchanged. */
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

/* Grows the array whose address is `array`.  Returns false if out of memory. */
static inline bool step_make_room(void *array, size_t *capacity, size_t need, size_t item_bytes)
{
    void *items;
    memcpy(&items, array, sizeof items);
    items = step_grown(items, capacity, need, item_bytes);
    if (items != NULL)
        memcpy(array, &items, sizeof items);
    return items != NULL;
}

/* Makes room for `need` items in `array`, which has room for `capacity` (a size_t).  Returns false
 * if out of memory; both are then unchanged. */
#define STEP_MAKE_ROOM(array, capacity, need)                                                      \
    ((need) <= (capacity) || step_make_room(&(array), &(capacity), (need), sizeof *(array)))

/* Like step_grown(); the new items are zeros. */
static inline void *step_grown_zeroed(void *items, size_t *capacity, size_t need, size_t item_bytes)
{
    size_t before = *capacity;
    char *grown = step_grown(items, capacity, need, item_bytes);
    if (grown != NULL)
        memset(grown + before * item_bytes, 0, (*capacity - before) * item_bytes);
    return grown;
}

#endif
