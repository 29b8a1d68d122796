/* SPDX-License-Identifier: Apache-2.0 */
/* A replay: operations in shared memory, and a process of the driver for each allocator's run. */
#ifndef CONVERTER_REPLAY_REPLAY_RUN_H
#define CONVERTER_REPLAY_REPLAY_RUN_H

#include "converter/replay/replay_allocators.h"
#include "converter/replay/replay_trace.h"

struct replay {
    struct replay_settings settings;
    struct replay_trace trace;
    struct replay_allocator driver; /* without an allocator: the loop alone */
    struct replay_allocators allocators;
    struct replay_pieces pieces;
    struct replay_process process;
};

/* Nothing of the settings is taken over but themselves: what they borrow, the replay does. */
void replay_init(struct replay *replay, const struct replay_settings *settings);
/* Decodes the trace and runs all. */
enum step_status replay_run(struct replay *replay, struct step_error *error);
void replay_reset(struct replay *replay);

/* ns a call: of the allocator (without the driver), and of the driver. */
double replay_ns_per_call(const struct replay *replay, const struct replay_allocator *allocator);
double replay_driver_ns_per_call(const struct replay *replay);

#endif
