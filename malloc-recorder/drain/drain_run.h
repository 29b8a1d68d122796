/* SPDX-License-Identifier: Apache-2.0 */
/* The drain's loop. */
#ifndef MALLOC_RECORDER_DRAIN_DRAIN_RUN_H
#define MALLOC_RECORDER_DRAIN_DRAIN_RUN_H

#include <signal.h>

#include "malloc-recorder/drain/native_trace.h"

/* Another program has taken the traced one's place in its process. */
extern volatile sig_atomic_t drain_successor_is_there;

/* Until the program has ended, in whatever way; the trace is whole then, and its name free only
 * after it. */
void drain_run(struct native_trace *trace);

#endif
