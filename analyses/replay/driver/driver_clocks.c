/* SPDX-License-Identifier: Apache-2.0 */
/* The clocks of the driver's threads, in nanoseconds: time on a CPU, and time blocked. */
#include "analyses/replay/driver/driver_state.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define SLOW_NS 2000u /* a pass that was off the CPU for longer is examined */

static uint64_t clock_ns(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (uint64_t) now.tv_sec * 1000000000u + (uint64_t) now.tv_nsec;
}

uint64_t driver_now_ns(void)
{
    return clock_ns(CLOCK_MONOTONIC);
}

/* Returns the CPU time of the calling thread, including the kernel, so that other processes do not
 * count. */
static uint64_t busy_ns(void)
{
    return clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

/* Time that the calling thread had waited for a CPU at the last look. */
static __thread struct {
    int file; /* 0: not opened yet */
    uint64_t seen_ns;
} ready;

/* Returns the time since the last look. */
static uint64_t ready_ns(void)
{
    char text[96];
    if (ready.file == 0)
        ready.file = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
    ssize_t length = ready.file > 0 ? pread(ready.file, text, sizeof text - 1, 0) : 0;
    if (length <= 0)
        return 0;
    text[length] = '\0';
    char *at = text;
    strtoull(at, &at, 10);
    uint64_t now = strtoull(at, NULL, 10), since = now - ready.seen_ns;
    ready.seen_ns = now;
    return since;
}

struct driver_clocks driver_clocks_look(void)
{
    ready_ns();
    return (struct driver_clocks){.wall_ns = driver_now_ns(), .busy_ns = busy_ns()};
}

void driver_times_add(struct driver_times *times, struct driver_clocks start)
{
    uint64_t busy = busy_ns() - start.busy_ns;
    uint64_t wall = driver_now_ns() - start.wall_ns;
    times->busy_ns += busy;
    if (wall < busy + SLOW_NS)
        return;
    uint64_t off = wall - busy, waited = ready_ns();
    times->blocked_ns += off > waited ? off - waited : 0;
}

void driver_clocks_close(void)
{
    if (ready.file > 0)
        close(ready.file);
}
