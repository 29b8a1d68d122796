/* SPDX-License-Identifier: Apache-2.0 */
/* The generator from which the JVM draws identity hashes on the calling thread. The agent may draw
 * some on a program's thread. Between hash_state_enter() and hash_state_leave() they are drawn from
 * the agent's own state, so that the program's objects get the same hashes as without the agent. */
#ifndef AGENT_HOTSPOT_HASH_STATE_H
#define AGENT_HOTSPOT_HASH_STATE_H

#include <jni.h>
#include <stdbool.h>

/* Searches for the generator, once, before any other thread may call the functions below. If it is
 * not found (another hashCode mode, another JVM), they do nothing. */
void hash_state_find(JNIEnv *jni);

/* These calls may be nested. */
void hash_state_enter(void);
void hash_state_leave(void);

/* Records whether they have an effect (internals.h). */
void hash_state_report(void);

/* Returns true if the generator was found and may be used. */
bool hash_state_is_known(void);

#endif
