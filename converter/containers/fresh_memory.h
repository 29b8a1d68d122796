/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prefaults memory that is about to be written for the first time.  Otherwise the kernel allocates
 * it page by page, with one fault each, which costs more than clearing the pages; on request it
 * allocates many pages in one call.
 */
#ifndef CONVERTER_CONTAINERS_FRESH_MEMORY_H
#define CONVERTER_CONTAINERS_FRESH_MEMORY_H

#include <stddef.h>

/* Large enough to amortise the system call, small enough to stay in the cache until it is
 * written. */
#define FRESH_MEMORY_BYTES ((size_t) 1 << 16)

/* Prefaults `length` bytes of memory from malloc(); their contents are kept.  Does nothing on
 * kernels older than Linux 5.14, or if the kernel is out of memory. */
void fresh_memory_ask(void *memory, size_t length);

#endif
