/* SPDX-License-Identifier: Apache-2.0 */
/* The loop over operations. */
#ifndef CONVERTER_REPLAY_DRIVER_DRIVER_LOOP_H
#define CONVERTER_REPLAY_DRIVER_DRIVER_LOOP_H

#include "converter/replay/driver/driver_clocks.h"
#include "converter/replay/driver/replay_ops.h"

/* What a thread did.  Zeroed it is nothing. */
struct driver_run {
    struct driver_times times;
    uint64_t operations, failures;
    bool is_ended; /* the trace's thread */
};

/* Does what a thread does in a piece. */
void driver_run_section(struct replay_piece *piece, const struct replay_section *section,
                        struct driver_run *run);
/* Adds it to the driver's totals. */
void driver_run_add(const struct driver_run *run);

#endif
