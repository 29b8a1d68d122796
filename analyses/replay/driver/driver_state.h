/* SPDX-License-Identifier: Apache-2.0 */
/* What the driver's files share: its state, one driver per process, and what each file does.  All
 * its memory is mapped. */
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

/* driver_clocks.c */

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
/* At the end of a thread. */
void driver_clocks_close(void);

/* driver_samples.c */

/* Resident memory up to now belongs to the driver. */
void driver_samples_begin(void);
/* Takes a sample; thread-safe.  If there are many, the sampling rate falls, so at most
 * REPLAY_SAMPLES are kept. */
void driver_samples_take(uint64_t live_bytes, uint64_t operations);
void driver_samples_end(void);

/* driver_run.c */

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

/* driver_workers.c */

void driver_workers_begin(void);
/* Passes a section to its thread, which is started if necessary, and which decrements
 * `*open_sections` when done.  Waits while the thread's queue is full. */
void driver_workers_give(struct replay_piece *piece, const struct replay_section *section,
                         _Atomic uint32_t *open_sections);
/* Ends and joins all threads. */
void driver_workers_join(void);

/* driver_pieces.c */

/* Run all pieces: in the trace's order in this thread, or each thread of the trace in one of the
 * driver's. */
void driver_pieces_run_single(void);
void driver_pieces_run_threaded(void);

#endif
