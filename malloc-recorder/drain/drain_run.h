/* SPDX-License-Identifier: Apache-2.0 */
/* The drain's main loop. */
#ifndef MALLOC_RECORDER_DRAIN_DRAIN_RUN_H
#define MALLOC_RECORDER_DRAIN_DRAIN_RUN_H

#include <signal.h>

#include "malloc-recorder/drain/native_trace.h"

/* Set when another program replaced the traced one in its process (exec). */
extern volatile sig_atomic_t drain_successor_is_there;

/* Runs until the program has ended in any way.  The trace is complete then; its name becomes free
 * only afterwards. */
void drain_run(struct native_trace *trace);

#endif
