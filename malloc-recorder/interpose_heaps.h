/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of jemalloc and mimalloc beside malloc's family, with their heaps. */
#ifndef MALLOC_RECORDER_INTERPOSE_HEAPS_H
#define MALLOC_RECORDER_INTERPOSE_HEAPS_H

#include "malloc-recorder/malloc_probes.h"

/* Puts the recorder's functions in front of those, where a library that is loaded has them: nobody
 * who looks for them finds them where they are not. */
void interpose_heaps(void);

/* A resize took the block out of one heap into another (0: malloc's own); `moved` may be NULL. */
void note_moved(const struct record_resize *resize, uint64_t old, uint64_t heap, const void *block,
                size_t size, const void *moved);

#endif
