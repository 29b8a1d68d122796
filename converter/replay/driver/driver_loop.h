/* SPDX-License-Identifier: Apache-2.0 */
/* The replay loop, which executes operations. */
#ifndef CONVERTER_REPLAY_DRIVER_DRIVER_LOOP_H
#define CONVERTER_REPLAY_DRIVER_DRIVER_LOOP_H

#include "converter/replay/driver/driver_clocks.h"
#include "converter/replay/driver/replay_ops.h"

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
