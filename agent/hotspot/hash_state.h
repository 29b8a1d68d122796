/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The generator from which the JVM draws identity hashes on the calling thread.  What the agent
 * does on a program's thread may draw some; between hash_state_enter() and hash_state_leave()
 * they come from words of the agent's own, so that the program's objects get the hashes that they
 * would have without the agent.
 */
#ifndef AGENT_HOTSPOT_HASH_STATE_H
#define AGENT_HOTSPOT_HASH_STATE_H

#include <jni.h>
#include <stdbool.h>

/* Looks for the generator, once, before any other thread may call the functions below.  Where it
 * isn't found (another mode of hashCode, another JVM) they do nothing. */
void hash_state_find(JNIEnv *jni);

/* May be nested. */
void hash_state_enter(void);
void hash_state_leave(void);

/* Records whether they do something (internals.h). */
void hash_state_report(void);

/* It was found, and may be used. */
bool hash_state_is_known(void);

#endif
