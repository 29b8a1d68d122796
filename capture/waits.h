/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How long threads waited for the drain, by thread: all in all, and at the longest.  One writer at
 * a time (the lock of live_map.h); it may lie in memory of two processes.
 */
#ifndef CAPTURE_WAITS_H
#define CAPTURE_WAITS_H

#include <stddef.h>
#include <stdint.h>

#define WAITS_THREADS 32u
#define WAITS_TEXT (WAITS_THREADS * 64u) /* enough for waits_print() */

struct waits {
    struct thread_waits {
        uint64_t thread, sum_ns, longest_ns;
    } threads[WAITS_THREADS]; /* where there were more: those that waited longest */
    size_t count;
    uint64_t sum_ns, longest_ns; /* of all */
};

/* The thread with that number in the trace has waited so long; 0: it has none. */
void waits_add(struct waits *waits, uint64_t thread, uint64_t ns);
/* THREAD:SUM:LONGEST in nanoseconds, joined by commas, greatest sum first; "" if nobody waited. */
void waits_print(const struct waits *waits, char *text, size_t size);

#endif
