/* SPDX-License-Identifier: Apache-2.0 */
/* Interposes functions of jemalloc and mimalloc beyond malloc's family, with their heaps. */
#ifndef MALLOC_RECORDER_INTERPOSE_HEAPS_H
#define MALLOC_RECORDER_INTERPOSE_HEAPS_H

#include "malloc-recorder/malloc_probes.h"

/* Redirects these functions if a loaded library has them.  A program that searches for them does
 * not find them if the allocator is absent. */
void interpose_heaps(void);

/* Records a resize that moved the block from one heap to another (0: malloc's); `moved` may be
 * NULL. */
void note_moved(const struct record_resize *resize, uint64_t old, uint64_t heap, const void *block,
                size_t size, const void *moved);

#endif
