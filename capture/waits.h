/* SPDX-License-Identifier: Apache-2.0 */
/* How long threads waited for the drain: the sum and the longest wait, by thread. One writer at a
 * time (the lock of live_map.h). May be in memory that two processes share. */
#ifndef CAPTURE_WAITS_H
#define CAPTURE_WAITS_H

#include <stddef.h>
#include <stdint.h>

#define WAITS_THREADS 32u
#define WAITS_TEXT (WAITS_THREADS * 64u) /* enough for waits_print() */

struct waits {
    struct thread_waits {
        uint64_t thread, sum_ns, longest_ns;
    } threads[WAITS_THREADS]; /* if there are more: those that waited longest */
    size_t count;
    uint64_t sum_ns, longest_ns; /* of all */
};

/* Records a wait. `thread` is a number in the trace; 0: none. */
void waits_add(struct waits *waits, uint64_t thread, uint64_t ns);
/* Prints THREAD:SUM:LONGEST in nanoseconds, separated by commas, largest sum first; "" if no thread
 * waited. */
void waits_print(const struct waits *waits, char *text, size_t size);

#endif
