/* SPDX-License-Identifier: Apache-2.0 */
/* A thread of the driver for each of the trace, with a queue of what it is to do. */
#ifndef CONVERTER_REPLAY_DRIVER_DRIVER_WORKERS_H
#define CONVERTER_REPLAY_DRIVER_DRIVER_WORKERS_H

#include "converter/replay/driver/replay_ops.h"

void driver_workers_init(void);
/* Gives a section to its thread, which is started where it does not run, and which counts
 * `*open_sections` down when it is done with it.  Waits while the thread has too much to do. */
void driver_workers_give(struct replay_piece *piece, const struct replay_section *section,
                         _Atomic uint32_t *open_sections);
/* Ends all threads that still run; those that have ended are joined. */
void driver_workers_join(void);

#endif
