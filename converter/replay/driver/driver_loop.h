/* SPDX-License-Identifier: Apache-2.0 */
/* The replay loop, which executes operations, and the clocks of its threads. */
#ifndef CONVERTER_REPLAY_DRIVER_DRIVER_LOOP_H
#define CONVERTER_REPLAY_DRIVER_DRIVER_LOOP_H

#include <stdint.h>

#include "converter/replay/driver/replay_ops.h"

/* Per-thread clocks of the calling thread, in nanoseconds. */

/* Clocks at the start of a pass over the loop. */
struct driver_clocks {
    uint64_t busy_ns, wall_ns;
};

/* Time that a pass took: on a CPU, and blocked (neither on a CPU nor waiting for one). */
struct driver_times {
    uint64_t busy_ns, blocked_ns;
};

uint64_t driver_now_ns(void);
/* Call at the thread's end. */
void driver_clocks_close(void);

/* Sets the baseline: resident memory up to now belongs to the driver. */
void driver_samples_begin(void);
/* Takes a sample; thread-safe.  If there are many, the sampling rate falls, so at most
 * REPLAY_SAMPLES are kept. */
void driver_samples_take(uint64_t live_bytes, uint64_t operations);
/* Takes the last sample, which is always kept. */
void driver_samples_end(uint64_t operations);

/* Totals of a thread.  Zero-initialised. */
struct driver_run {
    struct driver_times times;
    uint64_t operations, failures;
    bool is_ended; /* the thread of the trace has ended */
};

/* Executes a thread's operations of a piece. */
void driver_run_section(struct replay_piece *piece, const struct replay_section *section,
                        struct driver_run *run);
/* Adds the totals to the driver's. */
void driver_run_add(const struct driver_run *run);

#endif
