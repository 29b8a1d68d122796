/* SPDX-License-Identifier: Apache-2.0 */
/* Sorts object ids: one collection may free tens of millions. */
#ifndef FORMAT_LIVE_ID_SORT_H
#define FORMAT_LIVE_ID_SORT_H

#include <stddef.h>
#include <stdint.h>

/* Sorts `count` ids in place, ascending; `scratch` has room for as many. */
void id_sort(uint64_t *ids, uint64_t *scratch, size_t count);

#endif
