/* SPDX-License-Identifier: Apache-2.0 */
/* A snapshot: all roots and references at one moment, as JVMTI's FollowReferences finds them while
 * the program stands still.
 *
 * Its callbacks must not call the JVM, and see objects only by their tags. So each object of the
 * weak references gets a tag with its id before the walk, and loses it afterwards. Objects that are
 * allocated meanwhile have none: edges from and to them are counted, not recorded. The records take
 * the usual way, since the drain thread, which the JVM does not know, continues while the JVM
 * stands still. */
#ifndef AGENT_REFERENCES_HEAP_GRAPH_H
#define AGENT_REFERENCES_HEAP_GRAPH_H

#include "agent/base/tracer.h"

/* Takes a snapshot. Java threads only, outside of probes. Returns false if no session records
 * objects and times, or if another snapshot or pass does not end. */
bool heap_graph_take(JNIEnv *jni, enum step_live_snapshot reason);
/* snapshot=every:TIME: takes a snapshot if it is due. */
void heap_graph_take_if_due(JNIEnv *jni);

#endif
