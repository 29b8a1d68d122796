/* SPDX-License-Identifier: Apache-2.0 */
/* Per-thread clocks of the calling thread, in nanoseconds. */
#ifndef CONVERTER_REPLAY_DRIVER_DRIVER_CLOCKS_H
#define CONVERTER_REPLAY_DRIVER_DRIVER_CLOCKS_H

#include <stdint.h>

/* Clocks at the start of a pass over the loop. */
struct driver_clocks {
    uint64_t busy_ns, wall_ns;
};

/* Time that a pass took: on a CPU, and blocked (neither on a CPU nor waiting for one). */
struct driver_times {
    uint64_t busy_ns, blocked_ns;
};

uint64_t driver_now_ns(void);
struct driver_clocks driver_clocks_look(void);
/* Adds the time since `start`. */
void driver_times_add(struct driver_times *times, struct driver_clocks start);
/* Call at the thread's end. */
void driver_clocks_close(void);

#endif
