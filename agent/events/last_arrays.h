/* SPDX-License-Identifier: Apache-2.0 */
/* The arrays that are the last objects of regions, some of which are the JVM's fillers. */
#ifndef AGENT_EVENTS_LAST_ARRAYS_H
#define AGENT_EVENTS_LAST_ARRAYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LAST_ARRAYS_MOST 512u /* whose sizes are kept */

struct last_arrays {
    uint64_t count, bytes; /* of all */
    uint32_t words[LAST_ARRAYS_MOST];
};

void last_arrays_add(struct last_arrays *arrays, uint64_t bytes);

/* Sets how many of the arrays have so many bytes together. Returns false if different numbers can
 * have them, if none can, or if that takes too long to find out. Not for several threads at once.
 */
bool last_arrays_choose(const struct last_arrays *arrays, uint64_t bytes, uint64_t *count);

#endif
