/* SPDX-License-Identifier: Apache-2.0 */
/* State shared by the driver's files, one driver per process.  All its memory is mapped. */
#ifndef ANALYSES_REPLAY_DRIVER_DRIVER_STATE_H
#define ANALYSES_REPLAY_DRIVER_DRIVER_STATE_H

#include <stddef.h>

#include "analyses/replay/driver/replay_ops.h"

/* The functions of an allocator that the replay loop calls. */
struct allocator {
    void *(*malloc)(size_t);
    void *(*realloc)(void *, size_t);
    void (*free)(void *);
    /* NULL: the allocator has no heaps */
    void *(*heap_create)(void);
    void (*heap_destroy)(void *);
    void *(*heap_malloc)(void *, size_t);
};

/* Fills in the functions, and in `control` the allocator's name and whether it has heaps. */
void allocator_choose(struct replay_control *control, struct allocator *allocator);

#define DRIVER_PAGE 4096u

/* Progress of a thread of the trace, which others wait for. */
struct driver_progress {
    _Atomic uint64_t done;
    char padding[56];
};

struct driver_state {
    struct replay_control *control;
    int file;
    struct allocator allocator;
    void **slots;
    void **heaps;                     /* by number; NULL if there are no heaps */
    struct driver_progress *progress; /* by thread of the trace */
    _Atomic uint64_t operations, failures, busy_ns, blocked_ns;
    uint64_t start_ns;
};

extern struct driver_state driver;

/* Returns mapped, zeroed memory.  Ends the process with a message on failure. */
void *driver_map_memory(uint64_t bytes);

#endif
