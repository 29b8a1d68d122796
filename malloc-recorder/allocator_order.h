/* SPDX-License-Identifier: Apache-2.0 */
/* Tells whether the program's calls of the allocator come through this library. */
#ifndef MALLOC_RECORDER_ALLOCATOR_ORDER_H
#define MALLOC_RECORDER_ALLOCATOR_ORDER_H

/* Returns the name of the sanitizer in this process beside which nothing can be recorded, or
 * NULL. */
const char *sanitizer_find(void);

/* Returns the file whose malloc(), calloc(), realloc() or free() the program calls in place of this
 * library's, or NULL: its own, or that of a library that was preloaded before. */
const char *allocator_in_front(void);

#endif
