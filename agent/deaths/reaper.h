/* SPDX-License-Identifier: Apache-2.0 */
/* Finds deaths with engine=bytecode: after each collection a Java thread of the agent scans the
 * weak references and writes one batch of frees with the time at which the collection ended. */
#ifndef AGENT_DEATHS_REAPER_H
#define AGENT_DEATHS_REAPER_H

#include "agent/base/tracer.h"
#include "agent/deaths/weak_table.h"

struct os_thread;

/* References of the running session, or of one that ended until they are deleted. */
extern struct weak_table reaper_table;

/* Starts the thread, once per process. Returns false, with a message, on failure. */
bool reaper_start(JNIEnv *jni);
/* Call when a native thread ends: passes its references to the reaper. */
void reaper_thread_ended(struct os_thread *os);
void reaper_wake(void);
/* Wakes the reaper; called in the pause when a collection ends. */
void reaper_collection_ended(void);
/* Makes one pass, on the calling Java thread; `last`: of this session. */
void reaper_pass(JNIEnv *jni, bool last);
/* Returns true if this thread is in a pass or has stopped passes: it must not request another. */
bool reaper_is_mine(void);
/* Lets no pass run and no reference be recycled until reaper_go_on(). Call outside of probes.
 * Returns false, without effect, if another thread is in a pass that does not end. */
bool reaper_stop_passes(void);
void reaper_go_on(void);
/* While passes are stopped: calls `visit` for each reference of the session, some perhaps twice,
 * with the id of its object. */
void reaper_visit(const struct session *session,
                  void (*visit)(void *context, jobject object, uint64_t id), void *context);
/* Sets a function that the reaper's thread calls at least once a second. */
void reaper_also(void (*call)(JNIEnv *jni));
/* Before a session: frees what an earlier one left. Returns false if there is a session, or if a
 * thread is still in a probe of an earlier one or in a pass after `limit_ns`. */
bool reaper_clear(JNIEnv *jni, uint64_t limit_ns);

#endif
