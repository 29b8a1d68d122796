/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The memory that is shared with the driver: its control block, and the pieces of operations
 * (driver/replay_ops.h).  All pieces lie there before a driver starts; or, of a streamed replay, a
 * ring of them is filled while it runs.
 */
#ifndef CONVERTER_REPLAY_REPLAY_PIECES_H
#define CONVERTER_REPLAY_REPLAY_PIECES_H

#include "converter/replay/driver/replay_ops.h"
#include "converter/replay/replay_process.h"
#include "converter/replay/replay_settings.h"

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

/* Pieces from the first on, by begin and end in turn, as in struct replay_plan_options; NULL: no
 * room (is_full), or a streamed replay's driver has ended. */
void replay_pieces_restart(struct replay_pieces *pieces);
struct replay_piece *replay_pieces_begin(void *pieces);
void replay_pieces_end(void *pieces);
/* Of a streamed replay: there are no more. */
void replay_pieces_complete(struct replay_pieces *pieces);

#endif
