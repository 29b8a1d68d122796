/* SPDX-License-Identifier: Apache-2.0 */
/* Walks eden while the program stands still, and records what is new there by class. */
#ifndef AGENT_EVENTS_EDEN_WALK_H
#define AGENT_EVENTS_EDEN_WALK_H

#include "agent/base/tracer.h"

/* Returns why eden cannot be walked in this JVM, or NULL: walks it while known objects are
 * allocated. What exists then is no part of the trace. Call on a Java thread, without a session. */
const char *eden_walk_prove(JNIEnv *jni);
/* Call after that: from now on survivors are counted, too, if that is allowed and proven. */
void eden_walk_prove_survivors(JNIEnv *jni);
/* Returns whether the last proof was good, and nothing wrong was found since. */
bool eden_walk_is_proven(void);
/* Call when the session's events begin: what exists now is no part of the trace. Returns false if
 * that is not proven, or the program could not be made to stand still. */
bool eden_walk_begin(struct session *session, JNIEnv *jni);
/* Call before they end: walks what eden has then. */
void eden_walk_end(struct session *session, JNIEnv *jni);
/* The JVM's announcements, in a pause: before anything moves, and at its end. */
void eden_walk_collection_begins(void);
void eden_walk_collection_ended(void);

#endif
