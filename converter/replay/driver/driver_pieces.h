/* SPDX-License-Identifier: Apache-2.0 */
/* The pieces of operations, one after the other. */
#ifndef CONVERTER_REPLAY_DRIVER_DRIVER_PIECES_H
#define CONVERTER_REPLAY_DRIVER_DRIVER_PIECES_H

/* In the trace's order, by this thread; or each thread of the trace by one of the driver's. */
void driver_pieces_run_single(void);
void driver_pieces_run_threaded(void);

#endif
