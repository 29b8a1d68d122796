/* SPDX-License-Identifier: Apache-2.0 */
/* The trace that is replayed, into pieces of operations. */
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
 * The memory that is shared with the driver: its control block, and the pieces of operations
 * (driver/replay_ops.h).  All pieces lie there before a driver starts; or, of a streamed replay, a
 * ring of them is filled while it runs.
 */

/* A process of the replay driver, with an allocator preloaded. */

struct replay_process {
    pid_t id;
    bool has_ended; /* as far as was looked */
    int wait_status;
};

/* Starts `program`, which gets `file` as it is open here; `library` may be empty. */
enum step_status replay_process_start(struct replay_process *process, const char *program,
                                      const char *library, int file, struct step_error *error);
/* Looks, without waiting. */
void replay_process_kill(const struct replay_process *process);
/* Waits for the end; IO if it was by a signal or with another exit code than 0: the message names
 * the program and the allocator. */
enum step_status replay_process_wait(struct replay_process *process, const char *program,
                                     const char *allocator, struct step_error *error);
/* That error: also of a driver that left without a result. */
enum step_status replay_process_failed(const struct replay_process *process, const char *program,
                                       const char *allocator, struct step_error *error);

/* What is to be replayed, and how. */

struct replay_settings {
    const char *path;                  /* of a file that can be read again and again */
    const char *name;                  /* what the person calls it */
    const struct trace_format *format; /* NULL: by ending and content */
    bool is_threaded;
    bool is_paced;
    bool refuses;
    uint32_t touch; /* enum replay_touch */
    uint64_t repeat;
    uint64_t memory_bytes; /* for operations; what needs more is streamed; 0: a quarter of all */
    char driver[PATH_MAX];
};

struct replay_pieces {
    int file; /* -1: none */
    struct replay_control *control;
    struct replay_piece *piece; /* that is being filled */
    uint64_t count;
    uint64_t memory_bytes; /* that whole replays may take */
    bool is_streamed;
    bool is_full;                  /* the trace needs more than memory_bytes */
    struct replay_process *driver; /* who empties the ring; borrowed */
};

/* Only the control block is there yet.  Close is allowed after a failure. */
enum step_status replay_pieces_open(struct replay_pieces *pieces, uint64_t memory_bytes,
                                    struct replay_process *driver, struct step_error *error);
/* The control block for a driver that is to be started; `is_empty`: without an allocator. */
void replay_pieces_prepare(struct replay_pieces *pieces, const struct replay_settings *settings,
                           bool is_empty);
void replay_pieces_close(struct replay_pieces *pieces);

/* Of a streamed replay: there are no more. */
void replay_pieces_complete(struct replay_pieces *pieces);

/* What decoding the trace told. */
struct replay_trace {
    struct replay_counts counts;
    bool is_damaged; /* said to people, once: what was good is replayed */
};

/* Goes through the trace once. */
enum step_status replay_trace_decode(struct replay_trace *trace,
                                     const struct replay_settings *settings,
                                     struct replay_pieces *pieces, struct step_error *error);

#endif
