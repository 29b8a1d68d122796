/* SPDX-License-Identifier: Apache-2.0 */
/* The real allocator, found behind the recorder. */
#ifndef MALLOC_RECORDER_INTERPOSE_H
#define MALLOC_RECORDER_INTERPOSE_H

#include <stddef.h>

struct real_allocator {
    void *(*malloc)(size_t);
    void *(*calloc)(size_t, size_t);
    void *(*realloc)(void *, size_t);
    void (*free)(void *);
    int (*posix_memalign)(void **, size_t, size_t);
    void *(*aligned_alloc)(size_t, size_t);
    void *(*memalign)(size_t, size_t);
    void *(*valloc)(size_t);
    void *(*pvalloc)(size_t);
    size_t (*malloc_usable_size)(void *);
};

extern struct real_allocator real;

#endif
