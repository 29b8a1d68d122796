/* SPDX-License-Identifier: Apache-2.0 */
/* rotate=: a trace is followed by the next one, in a file of its own; keep= of them stay. */
#ifndef AGENT_SESSION_ROTATION_H
#define AGENT_SESSION_ROTATION_H

#include "agent/base/tracer.h"

/* At load: sets the function that begins a trace. */
typedef jint rotation_start(struct options *options);
void rotation_initialize(rotation_start *start);
/* After the first trace has begun: starts the thread that begins the others, if the options have
 * rotate=. Java threads only. */
void rotation_begin(const struct options *options);
/* Before a command ends the trace: no other will follow it. */
void rotation_end(void);
/* All objects, for window= or until a method of stop= has returned, in a file of their own; then
 * the sample goes on. With start=, the window waits until such a method is entered. Returns false,
 * with a message, if that is not possible. */
bool rotation_window(const struct options *options);
/* A thread has entered such a method: waits until the window has begun, PATIENCE_NS at most.
 * Returns false if no window waits, or if the files are being changed for a second already. */
bool rotation_window_entered(void);

#endif
