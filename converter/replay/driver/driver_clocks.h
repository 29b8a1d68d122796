/* SPDX-License-Identifier: Apache-2.0 */
/* The clocks of the thread that asks, in nanoseconds. */
#ifndef CONVERTER_REPLAY_DRIVER_DRIVER_CLOCKS_H
#define CONVERTER_REPLAY_DRIVER_DRIVER_CLOCKS_H

#include <stdint.h>

/* At the beginning of a pass of the loop. */
struct driver_clocks {
    uint64_t busy_ns, wall_ns;
};

/* What a pass took: on a CPU, and neither there nor waiting for one. */
struct driver_times {
    uint64_t busy_ns, blocked_ns;
};

uint64_t driver_now_ns(void);
struct driver_clocks driver_clocks_look(void);
/* Adds what has passed since then. */
void driver_times_add(struct driver_times *times, struct driver_clocks start);
/* At the thread's end. */
void driver_clocks_close(void);

#endif
