/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a replay: operations in shared memory, and a driver process for each run of an allocator. */
#ifndef ANALYSES_REPLAY_REPLAY_RUN_H
#define ANALYSES_REPLAY_REPLAY_RUN_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "analyses/replay/driver/replay_ops.h"
#include "analyses/replay/replay_plan.h"
#include "converter/formats/format_table.h"
#include "steptrace/status.h"

/* A process of the replay driver, with a preloaded allocator. */

struct replay_process {
    pid_t id;
    bool has_ended; /* as of the last check */
    int wait_status;
};

/* Starts `program`, which inherits the open `file`.  `library` may be empty. */
enum step_status replay_process_start(struct replay_process *process, const char *program,
                                      const char *library, int file, struct step_error *error);
bool replay_process_has_ended(struct replay_process *process);
/* Waits for the end.  Returns IO if a signal ended the process or its exit code is not 0; the
 * message names the program and the allocator. */
enum step_status replay_process_wait(struct replay_process *process, const char *program,
                                     const char *allocator, struct step_error *error);
/* Returns that error, also for a driver that exited without a result. */
enum step_status replay_process_failed(const struct replay_process *process, const char *program,
                                       const char *allocator, struct step_error *error);
/* Returns IO, with `what` and the text of errno. */
enum step_status replay_system_error(struct step_error *error, const char *what);

/* What to replay, and how. */

struct replay_settings {
    const char *path;                  /* of a file that can be read repeatedly */
    const char *name;                  /* name shown to the user */
    const struct trace_format *format; /* NULL: by extension and content */
    bool is_threaded;
    bool is_paced;
    bool refuses;
    uint32_t touch; /* enum replay_touch */
    uint64_t repeat;
    uint64_t memory_bytes; /* limit for operations; larger replays are streamed; 0: a quarter of
                              physical memory */
    char driver[PATH_MAX];
};

/*
 * Memory shared with the driver: the control block, and the pieces of operations
 * (driver/replay_ops.h).  In a complete replay all pieces are there before a driver starts.  In a
 * streamed replay a ring of pieces is filled while the driver runs.
 */

struct replay_pieces {
    int file; /* -1: none */
    struct replay_control *control;
    struct replay_piece *piece; /* the piece being filled */
    uint64_t count;
    uint64_t memory_bytes; /* limit for complete replays */
    bool is_streamed;
    bool is_full;                  /* the trace needs more than memory_bytes */
    struct replay_process *driver; /* reader of the ring; borrowed */
};

/* Result of decoding the trace. */
struct replay_trace {
    struct replay_counts counts;
    bool is_damaged; /* or incomplete; reported once, and the rest is replayed */
};

/* Allocates the control block only.  Close is allowed after a failure. */
enum step_status replay_pieces_open(struct replay_pieces *pieces, uint64_t memory_bytes,
                                    struct replay_process *driver, struct step_error *error);
/* Initialises the control block for the next driver.  `is_empty`: without an allocator. */
void replay_pieces_prepare(struct replay_pieces *pieces, const struct replay_settings *settings,
                           bool is_empty);
/* Marks a streamed replay as complete: no more pieces follow. */
void replay_pieces_complete(struct replay_pieces *pieces);
void replay_pieces_close(struct replay_pieces *pieces);
/* Reads the trace once, and fills the pieces. */
enum step_status replay_trace_decode(struct replay_trace *trace,
                                     const struct replay_settings *settings,
                                     struct replay_pieces *pieces, struct step_error *error);

/* The allocators to replay under: the library and the results of each. */

struct replay_allocator {
    const char *name;            /* borrowed */
    char library[PATH_MAX];      /* empty: the C library's */
    struct replay_control *best; /* the fastest run; NULL: none */
    uint64_t *busy_ns;           /* of each run */
    size_t run_count, run_capacity;
};

/* To initialise, zero the structure. */
struct replay_allocators {
    struct replay_allocator *items;
    size_t count, capacity;
};

/* Adds an allocator by name ("glibc", "jemalloc", ...) or library ("./my.so").  Returns NOT_FOUND
 * if it is not installed. */
enum step_status replay_allocators_add(struct replay_allocators *allocators, const char *name,
                                       struct step_error *error);
/* Adds all known allocators that are installed. */
enum step_status replay_allocators_add_installed(struct replay_allocators *allocators,
                                                 struct step_error *error);

/* Stores a run's result, with a copy if it is the best so far. */
enum step_status replay_allocator_keep(struct replay_allocator *allocator,
                                       const struct replay_control *result,
                                       struct step_error *error);
void replay_allocator_reset(struct replay_allocator *allocator);

struct replay {
    struct replay_settings settings;
    struct replay_trace trace;
    struct replay_allocator driver; /* no allocator: the loop alone */
    struct replay_allocators allocators;
    struct replay_pieces pieces;
    struct replay_process process;
};

/* Copies the settings.  The objects that they borrow must outlive the replay. */
void replay_init(struct replay *replay, const struct replay_settings *settings);
/* Decodes the trace and runs all allocators. */
enum step_status replay_run(struct replay *replay, struct step_error *error);
void replay_reset(struct replay *replay);

/* Return ns per call: of the allocator (without the driver's own time), and of the driver. */
double replay_ns_per_call(const struct replay *replay, const struct replay_allocator *allocator);
double replay_driver_ns_per_call(const struct replay *replay);

/* The forms of the result. */
void replay_print_table(const struct replay *replay);
void replay_print_csv(const struct replay *replay);
void replay_print_json(const struct replay *replay);
/* Prints an SVG of live bytes, and of the resident bytes of each allocator, over the trace's
 * calls.  For output_file_print(). */
bool replay_print_picture(const void *replay, FILE *out);

#endif
