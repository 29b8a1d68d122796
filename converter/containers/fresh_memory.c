/* SPDX-License-Identifier: Apache-2.0 */
/* Uses madvise().  The pages at both ends are included, as they contain some of the bytes. */
#include "converter/containers/fresh_memory.h"

#include <errno.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

void fresh_memory_ask(void *memory, size_t length)
{
    uintptr_t page = (uintptr_t) sysconf(_SC_PAGESIZE);
    uintptr_t from = (uintptr_t) memory & ~(page - 1);
    uintptr_t to = ((uintptr_t) memory + length + page - 1) & ~(page - 1);
    int error = errno;
    if (length > 0 && madvise((void *) from, to - from, MADV_POPULATE_WRITE) != 0)
        errno = error; /* prefaulting is optional */
}
