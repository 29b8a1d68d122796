/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A set of 64-bit numbers, compact for numbers that are mostly consecutive.  Bitmaps are stored in
 * pages.  A page whose bits are all set is replaced by one bit of the level above, so memory
 * depends on the number of gaps.
 */
#ifndef CONVERTER_CONTAINERS_ID_SET_H
#define CONVERTER_CONTAINERS_ID_SET_H

#include <stdbool.h>
#include <stdint.h>

#include "format/core/page_map.h"

#define ID_SET_PAGE_BITS 9u /* 512 numbers a page */
#define ID_SET_LEVELS 8u    /* enough for 64 bits */

struct id_set_page;

/* Zero-initialise for an empty set. */
struct id_set {
    struct step_page_map pages[ID_SET_LEVELS];
    struct id_set_page *last; /* the page of level 0 that was used last, or NULL */
};

/* Frees all and empties the set. */
void id_set_reset(struct id_set *set);

bool id_set_has(const struct id_set *set, uint64_t id);
/* Adds a number.  Sets `*is_new` to whether it was missing.  Returns false if out of memory. */
bool id_set_add(struct id_set *set, uint64_t id, bool *is_new);

#endif
