/* SPDX-License-Identifier: Apache-2.0 */
/* Waits for a word of memory to change, also in memory that processes share. */
#ifndef CAPTURE_FUTEX_H
#define CAPTURE_FUTEX_H

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Waits until `*word` differs from `seen` or a wake-up. Returns false if `wait_ns` passed. */
static inline bool futex_wait(_Atomic uint32_t *word, uint32_t seen, int64_t wait_ns)
{
    struct timespec wait = {wait_ns / 1000000000, wait_ns % 1000000000};
    int saved_errno = errno;
    bool in_time =
        syscall(SYS_futex, word, FUTEX_WAIT, seen, &wait, NULL, 0) == 0 || errno != ETIMEDOUT;
    errno = saved_errno;
    return in_time;
}

static inline void futex_wake(_Atomic uint32_t *word)
{
    int saved_errno = errno;
    syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
    errno = saved_errno;
}

/* A word to wait for, with a count of the waiting threads: opening it without any is no system
 * call. */
struct futex_gate {
    _Atomic uint32_t count; /* incremented by each opening */
    _Atomic uint32_t waiting;
};

/* The opener increments `count`, then reads `waiting`; the waiter increments `waiting`, then reads
 * `count`. All four are sequentially consistent, so at least one of the two sees the other: either
 * the opener sees a waiting thread and wakes it, or the waiter sees the new count and does not
 * sleep. Between the waiter's read and its sleep the kernel compares `count` with `seen` once more.
 * With acquire and release alone both reads could return old values, and the waiter would sleep
 * until its limit.
 *
 * Nothing here is held, so a process that is killed at any instruction leaves no lock behind; at
 * worst `waiting` stays too high, which costs the other process a system call for each opening. */
static inline void futex_gate_open(struct futex_gate *gate)
{
    atomic_fetch_add(&gate->count, 1);
    if (atomic_load(&gate->waiting) != 0)
        futex_wake(&gate->count);
}

/* `seen` is the count that the caller read before it checked whether to wait. Returns false if
 * `wait_ns` passed. */
static inline bool futex_gate_wait(struct futex_gate *gate, uint32_t seen, int64_t wait_ns)
{
    atomic_fetch_add(&gate->waiting, 1);
    bool in_time = atomic_load(&gate->count) != seen || futex_wait(&gate->count, seen, wait_ns);
    atomic_fetch_sub(&gate->waiting, 1);
    return in_time;
}

#endif
