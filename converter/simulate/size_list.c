/* SPDX-License-Identifier: Apache-2.0 */
/* Parses lists of sizes. */
#include "converter/simulate/size_list.h"

#include <string.h>

#include "converter/base/arguments.h"

#define ITEM_ROOM 64u
#define SIZE_MOST (UINT64_C(1) << 50)

static bool add(struct size_list *list, uint64_t size, const char **fault)
{
    for (size_t i = 0; i < list->count; i++)
        if (list->sizes[i] == size)
            return true;
    *fault = "at most 64 sizes are possible";
    if (list->count == SIZE_LIST_MOST)
        return false;
    size_t place = list->count++;
    for (; place > 0 && list->sizes[place - 1] > size; place--)
        list->sizes[place] = list->sizes[place - 1];
    list->sizes[place] = size;
    return true;
}

static bool add_range(struct size_list *list, uint64_t first, uint64_t last, const char **fault)
{
    uint64_t size = first;
    for (; size < last; size *= 2)
        if (!add(list, size, fault))
            return false;
    return add(list, last, fault);
}

/* `item` is a size, or a range of sizes. */
static bool add_item(struct size_list *list, char *item, const char **fault)
{
    uint64_t first;
    uint64_t last;
    char *dots = strstr(item, "..");
    if (dots != NULL)
        *dots = '\0';
    if (!take_size(&first, item, fault))
        return false;
    last = first;
    if (dots != NULL && !take_size(&last, dots + 2, fault))
        return false;
    *fault = "sizes are expected, as 4m,6m or 4m..512m";
    return first > 0 && first <= last && last <= SIZE_MOST && add_range(list, first, last, fault);
}

bool take_size_list(void *list_target, const char *value, const char **fault)
{
    struct size_list *list = list_target;
    for (const char *at = value;; at++) {
        char item[ITEM_ROOM];
        size_t length = strcspn(at, ",");
        *fault = "sizes are expected, as 4m,6m or 4m..512m";
        if (length >= sizeof item)
            return false;
        memcpy(item, at, length);
        item[length] = '\0';
        if (!add_item(list, item, fault))
            return false;
        at += length;
        if (*at == '\0')
            return true;
    }
}
