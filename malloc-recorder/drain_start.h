/* SPDX-License-Identifier: Apache-2.0 */
/* Starting the drain of a recording. */
#ifndef MALLOC_RECORDER_DRAIN_START_H
#define MALLOC_RECORDER_DRAIN_START_H

#include "malloc-recorder/recorder.h"

/* Starts the process that writes the trace, no child of this one, and maps the file that it shares
 * with it.  A fault is told on stderr. */
bool drain_start(struct recording *recording, bool names_processes);

#endif
