/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Deaths with engine=bytecode: after each collection the agent's own Java thread looks through the
 * weak references and writes one batch of frees with the time at which the collection ended.
 */
#ifndef AGENT_DEATHS_REAPER_H
#define AGENT_DEATHS_REAPER_H

#include "agent/base/tracer.h"
#include "agent/deaths/weak_table.h"

struct os_thread;

/* The references of the running session, and of one that ended until they are deleted. */
extern struct weak_table reaper_table;

/* Starts the thread, once in a process; false, and said why, if it cannot be. */
bool reaper_start(JNIEnv *jni);
/* A native thread ends: its references go to the reaper. */
void reaper_thread_ended(struct os_thread *os);
/* A collection ended; called in the pause. */
void reaper_wake(void);
/* One pass now, on the calling Java thread. */
void reaper_pass(JNIEnv *jni);
/* The same, and no other in this session. */
void reaper_last_pass(JNIEnv *jni);
/* Called by a thread that has filled a page: while the reaper is far behind the program it waits a
 * little, unless the session never waits. */
void reaper_keep_pace(const struct session *session, const struct os_thread *os);
/* This thread is in a pass, or has stopped them: it must not ask for another. */
bool reaper_is_mine(void);
/* No pass runs until reaper_go_on(), nor is any reference given back; called outside of probes.
 * False, and nothing is stopped: another thread is in a pass that does not end. */
bool reaper_stop_passes(void);
void reaper_go_on(void);
/* Meanwhile: each reference of the session, some perhaps twice, and the id of what it refers to. */
void reaper_visit(const struct session *session,
                  void (*visit)(void *context, jobject object, uint64_t id), void *context);
/* Called by the reaper's thread at least once a second. */
void reaper_also(void (*call)(JNIEnv *jni));
/* Before a session: what an earlier one left is given back.  False as long as there is a session,
 * or a thread is in a probe of an earlier one, or in a pass: that is waited for so long. */
bool reaper_clear(JNIEnv *jni, uint64_t limit_ns);

#endif
