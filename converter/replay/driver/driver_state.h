/* SPDX-License-Identifier: Apache-2.0 */
/* What the driver's files share: there is one driver a process.  All its memory is mapped. */
#ifndef CONVERTER_REPLAY_DRIVER_DRIVER_STATE_H
#define CONVERTER_REPLAY_DRIVER_DRIVER_STATE_H

#include "converter/replay/driver/allocator.h"
#include "converter/replay/driver/replay_ops.h"

#define DRIVER_PAGE 4096u

/* How far a thread of the trace is: others wait for it. */
struct driver_progress {
    _Atomic uint64_t done;
    char padding[56];
};

struct driver_state {
    struct replay_control *control;
    int file;
    struct allocator allocator;
    void **slots;
    void **heaps;                     /* by number; NULL where there are none */
    struct driver_progress *progress; /* by thread of the trace */
    _Atomic uint64_t operations, failures, busy_ns, blocked_ns;
    uint64_t start_ns;
};

extern struct driver_state driver;

/* Mapped, zeroed; where it cannot be, the process ends with a message. */
void *driver_map_memory(uint64_t bytes);

#endif
