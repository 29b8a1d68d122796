/* SPDX-License-Identifier: Apache-2.0 */
/* Stamps of some events only (resolution=16events): which ones, and the pulse.
 *
 * A stamp is most of what a method event costs. With this option each 16th event of a thread reads
 * the clock, and events between go without: of methods as a word that says so, whose time the
 * decoder interpolates (format/live/live_between.h), allocations with the stamp before them. Their
 * order in the thread is the stream's, which needs no stamp. Events that name objects, of threads,
 * classes, phases and references always have one.
 *
 * Other threads' events have an order with these where the program makes one. What holds:
 *
 * - An allocation is never later than it was, a use of the object by another thread never earlier.
 * - Nothing that happens after a class was loaded, a thread begun, a collection ended, a snapshot
 *   taken or a phase of the program begun or ended comes before it. These change the pulse after
 *   they have their own stamp, and an event that finds the pulse changed takes a stamp. Whoever
 *   comes after them in the program sees it changed.
 * - A stream's events without a stamp are interpolated between stamps of one thread only: a switch
 *   of threads ends them, and a virtual thread's unmounting.
 *
 * A thread that has waited would spread that time over the events before. So the pulse changes with
 * each millisecond, too, which ends a run of events without stamps; and where events are more than
 * a microsecond apart, each has a stamp. */
#ifndef AGENT_RECORDS_PULSE_H
#define AGENT_RECORDS_PULSE_H

#include "agent/records/stamps.h"

/* Settles which events have stamps, and starts the thread that changes the pulse. Call it when the
 * engine is settled. Without that thread all events have one, with a message. */
void pulse_begin(struct session *session);
/* Ends that thread, if it runs. */
void pulse_end(struct session *session);

#endif
