/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Waits with a limit.
 *
 * A thread may stop for good inside a call of JNI or JVMTI: a debugger suspends it there, or the
 * class that it asks for waits for an initializer.  So a lock that is held over such a call is
 * taken with lock_within(), and the rest goes without it.  The table of all waits is in
 * docs/hotspot-internals.md.
 */
#ifndef AGENT_BASE_PATIENCE_H
#define AGENT_BASE_PATIENCE_H

#include "agent/base/tracer.h"

#define SECOND_NS UINT64_C(1000000000)
/* What a thread of the program waits at most for another one that is in the agent. */
#define PATIENCE_NS (10 * SECOND_NS)
/* What a command waits at most. */
#define COMMAND_PATIENCE_NS (60 * SECOND_NS)

/* Takes the lock; false if another thread kept it for that long. */
bool lock_within(pthread_mutex_t *lock, uint64_t limit_ns);
/* The same for a lock without which the session cannot go on: at the limit its trace ends, as
 * failed, and from then on nothing waits for it. */
bool session_lock(struct session *session, pthread_mutex_t *lock);
/* Ends the trace as failed, for this reason; the first reason is logged. */
void session_give_up(struct session *session, const char *reason);
/* The drain thread has closed the trace and touches the session no more. */
bool session_has_ended(struct session *session);
/* Waits for the semaphore; false if it was not posted in that time. */
bool semaphore_within(sem_t *semaphore, uint64_t limit_ns);

/* The control lock: whoever starts or stops a trace holds it.  False if that takes longer, or if
 * the calling thread holds it: the agent's own Java code reaches probes, too. */
bool control_take(uint64_t limit_ns);
void control_give_back(void);
bool control_is_mine(void);

#endif
