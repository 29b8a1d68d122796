/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A snapshot: all roots and references of a moment, as JVMTI's FollowReferences finds them while
 * the program stands still.
 *
 * Its callbacks may ask nothing of the JVM and see objects by their tags only.  So each object that
 * a weak reference knows gets a tag with its id before, and loses it afterwards; what is made
 * meanwhile has none, and edges from and to it are counted, not recorded.  The records go the way
 * of all others: the drain thread, which the JVM does not know, goes on while the JVM stands still.
 */
#ifndef AGENT_REFERENCES_HEAP_GRAPH_H
#define AGENT_REFERENCES_HEAP_GRAPH_H

#include "agent/base/tracer.h"

/* On a Java thread, outside of probes.  False: there is no session that has objects. */
bool heap_graph_take(JNIEnv *jni, enum step_live_snapshot reason);
/* snapshot=every:TIME: takes one if it is due. */
void heap_graph_take_if_due(JNIEnv *jni);

#endif
