/* SPDX-License-Identifier: Apache-2.0 */
/* An allocator below the recorder: blocks of SLOT_BYTES have all one address.  A realloc of such a
 * one gives it away, waits until another thread has it, and ends the process before it returns. */
#include <dlfcn.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#define SLOT_BYTES 7777

_Atomic int slot_state; /* 1: given away, 2: another thread has it */

static char slot[SLOT_BYTES] __attribute__((aligned(16)));

void *malloc(size_t size)
{
    static void *(*next)(size_t);
    if (next == NULL)
        next = (void *(*) (size_t)) dlsym(RTLD_NEXT, "malloc");
    return size == SLOT_BYTES ? slot : next(size);
}

void *realloc(void *block, size_t size)
{
    static void *(*next)(void *, size_t);
    if (next == NULL)
        next = (void *(*) (void *, size_t)) dlsym(RTLD_NEXT, "realloc");
    if (block != slot)
        return next(block, size);
    atomic_store(&slot_state, 1);
    while (atomic_load(&slot_state) != 2)
        usleep(100);
    raise(SIGKILL);
    return NULL;
}
