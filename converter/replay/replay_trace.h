/* SPDX-License-Identifier: Apache-2.0 */
/* Decodes the trace to be replayed into pieces of operations. */
#ifndef CONVERTER_REPLAY_REPLAY_TRACE_H
#define CONVERTER_REPLAY_REPLAY_TRACE_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "converter/formats/format_table.h"
#include "converter/replay/driver/replay_ops.h"
#include "converter/replay/replay_plan.h"
#include "steptrace/status.h"

/*
 * Memory shared with the driver: the control block, and the pieces of operations
 * (driver/replay_ops.h).  In a complete replay all pieces are there before a driver starts.  In a
 * streamed replay a ring of pieces is filled while the driver runs.
 */

/* A process of the replay driver, with a preloaded allocator. */

struct replay_process {
    pid_t id;
    bool has_ended; /* as of the last check */
    int wait_status;
};

/* Starts `program`, which inherits the open `file`.  `library` may be empty. */
enum step_status replay_process_start(struct replay_process *process, const char *program,
                                      const char *library, int file, struct step_error *error);
/* The first checks for the end without waiting. */
void replay_process_kill(const struct replay_process *process);
/* Waits for the end.  Returns IO if a signal ended the process or its exit code is not 0; the
 * message names the program and the allocator. */
enum step_status replay_process_wait(struct replay_process *process, const char *program,
                                     const char *allocator, struct step_error *error);
/* Returns that error, also for a driver that exited without a result. */
enum step_status replay_process_failed(const struct replay_process *process, const char *program,
                                       const char *allocator, struct step_error *error);

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

/* Allocates the control block only.  Close is allowed after a failure. */
enum step_status replay_pieces_open(struct replay_pieces *pieces, uint64_t memory_bytes,
                                    struct replay_process *driver, struct step_error *error);
/* Initialises the control block for the next driver.  `is_empty`: without an allocator. */
void replay_pieces_prepare(struct replay_pieces *pieces, const struct replay_settings *settings,
                           bool is_empty);
void replay_pieces_close(struct replay_pieces *pieces);

/* Marks a streamed replay as complete: no more pieces follow. */
void replay_pieces_complete(struct replay_pieces *pieces);

/* Result of decoding the trace. */
struct replay_trace {
    struct replay_counts counts;
    bool is_damaged; /* reported once; the intact part is replayed */
};

/* Reads the trace once. */
enum step_status replay_trace_decode(struct replay_trace *trace,
                                     const struct replay_settings *settings,
                                     struct replay_pieces *pieces, struct step_error *error);

#endif
