/* SPDX-License-Identifier: Apache-2.0 */
/* Call stacks that are cut: they have as many frames as the agent records (its option stack). */
#ifndef ANALYSES_REPORT_CUT_STACKS_H
#define ANALYSES_REPORT_CUT_STACKS_H

#include <stdbool.h>
#include <stdint.h>

#include "converter/heap/heap_sites.h"
#include "converter/heap/heap_snapshot.h"

/* Returns an array by site, which the caller frees: whether it is the outermost frame of stacks
 * with `limit` frames, whose callers were not recorded.  A method in which stacks of fewer frames
 * begin is none.  limit 0: unknown, no stack is cut.  NULL if out of memory. */
bool *cut_stacks_find(const struct heap_sites *sites, const struct heap_snapshot *snapshot,
                      uint64_t limit);

#endif
