/* SPDX-License-Identifier: Apache-2.0 */
/* The functions of an allocator that the replay loop calls. */
#ifndef CONVERTER_REPLAY_DRIVER_ALLOCATOR_H
#define CONVERTER_REPLAY_DRIVER_ALLOCATOR_H

#include <stddef.h>

#include "converter/replay/driver/replay_ops.h"

struct allocator {
    void *(*malloc)(size_t);
    void *(*realloc)(void *, size_t);
    void (*free)(void *);
    /* NULL: the allocator has no heaps */
    void *(*heap_create)(void);
    void (*heap_destroy)(void *);
    void *(*heap_malloc)(void *, size_t);
};

/* Fills in the functions, and in `control` the allocator's name and whether it has heaps. */
void allocator_choose(struct replay_control *control, struct allocator *allocator);

#endif
