/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory that is about to be written for the first time.  The kernel gives it page by page, each
 * at a fault of its own, which costs more than the clearing; asked in time it gives many at once.
 */
#ifndef CONVERTER_BASE_FRESH_MEMORY_H
#define CONVERTER_BASE_FRESH_MEMORY_H

#include <stddef.h>

/* As much as pays, and as stays in the cache until it is written. */
#define FRESH_MEMORY_BYTES ((size_t) 1 << 16)

/* `length` bytes of malloc(), which keep what they have.  Does nothing where the kernel is older
 * than Linux 5.14, or has no memory: a write finds that out. */
void fresh_memory_ask(void *memory, size_t length);

#endif
