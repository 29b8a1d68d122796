/* SPDX-License-Identifier: Apache-2.0 */
/* Phases: named spans of a thread's or of the whole program's execution (docs/phases.md).
 *
 * A record of a phase's begin or end stands in its thread's stream, so its order among the
 * thread's events is exact. Begin and end of a phase of the program have ticks that no earlier and
 * no later event of another thread has. */
#ifndef AGENT_RECORDS_PHASES_H
#define AGENT_RECORDS_PHASES_H

#include "agent/records/threads.h"

/* PHASE_OF_THREADS: of a thread, and of those that it starts meanwhile, until they end. */
enum phase_scope { PHASE_OF_THREAD, PHASE_OF_PROGRAM, PHASE_OF_THREADS };

/* Key of phases that the program begins and ends by name; methods have other keys. */
#define PHASE_BY_NAME 0u

/* Returns the number of a phase's name, modified UTF-8, in the session's dictionary. A name of more
 * than 65,536 bytes is cut and ends with three dots. 0: the name cannot be recorded. */
uint64_t phase_name(struct session *session, const char *name);

/* Begins a phase. */
void phase_begin(struct session *session, struct os_thread *os, enum phase_scope scope,
                 uint32_t key, uint64_t name);
/* Ends the innermost open phase with this key and, unless it is 0, this name. In a thread, the
 * phases that began after it end before it. No effect if there is none. */
void phase_end(struct session *session, struct os_thread *os, enum phase_scope scope, uint32_t key,
               uint64_t name);
/* Ends the phases of methods that the innermost open method with this key called: an exception has
 * left them. */
void phase_caught(struct session *session, struct os_thread *os, uint32_t key);
/* The thread `os` is about to start `thread`, which gets its phases that are handed on. */
void phases_hand_on(struct session *session, struct os_thread *os, JNIEnv *jni, jobject thread);
/* `thread` has started in `os`: begins what was handed on to it. */
void phases_take_over(struct session *session, struct os_thread *os, jobject thread);
/* Ends all phases of a thread that is about to end; `java` may be NULL. */
void phases_thread_ends(struct session *session, struct os_thread *os, struct java_thread *java);

#endif
