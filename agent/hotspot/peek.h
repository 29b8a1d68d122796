/* SPDX-License-Identifier: Apache-2.0 */
/* Reads memory that may not be mapped, through the kernel, which does not fault. */
#ifndef AGENT_HOTSPOT_PEEK_H
#define AGENT_HOTSPOT_PEEK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

/* Returns false if not all of it could be read. */
static inline bool peek(uintptr_t from, void *to, size_t size)
{
    struct iovec here = {to, size}, there = {(void *) from, size};
    return syscall(SYS_process_vm_readv, getpid(), &here, 1ul, &there, 1ul, 0ul) == (long) size;
}

#endif
