/* SPDX-License-Identifier: Apache-2.0 */
/* Bounded waits.
 *
 * A thread may stop for ever inside a call of JNI or JVMTI: a debugger suspends it, or it waits for
 * a class initializer. A lock that is held during such a call is therefore taken with
 * lock_within(), and callers continue without it if that fails. docs/hotspot-internals.md lists all
 * waits. */
#ifndef AGENT_BASE_PATIENCE_H
#define AGENT_BASE_PATIENCE_H

#include "agent/base/tracer.h"

#define SECOND_NS UINT64_C(1000000000)
/* How long a thread of the program waits at most for another thread in the agent. */
#define PATIENCE_NS (10 * SECOND_NS)
/* How long a command waits at most. */
#define COMMAND_PATIENCE_NS (60 * SECOND_NS)

/* Waits until `attempt` returns true. Returns false if it did not within `limit_ns`. */
bool succeeds_within(bool (*attempt)(void *), void *what, uint64_t limit_ns);
/* Takes the lock. Returns false if it was not available within `limit_ns`. */
bool lock_within(pthread_mutex_t *lock, uint64_t limit_ns);
/* Takes a lock without which the session cannot continue. After PATIENCE_NS gives up the session
 * and returns false. Once it is given up, returns false without waiting. */
bool session_lock(struct session *session, pthread_mutex_t *lock);
/* Asks the drain thread to end the trace.  A failure does not replace an end that was already asked
 * for; nothing does once the end has begun. */
void session_want_end(struct session *session, enum session_end end);
/* Ends the trace as failed. Logs the reason of the first call. */
void session_give_up(struct session *session, const char *reason);
/* Returns true if the drain thread has closed the trace and no longer uses the session. */
bool session_has_ended(struct session *session);
/* Initialises a condition that is waited for by the monotonic clock. */
void condition_initialize(pthread_cond_t *changed);
/* Waits for the semaphore. Returns false if it was not posted within `limit_ns`. */
bool semaphore_within(sem_t *semaphore, uint64_t limit_ns);

/* Takes the control lock, which is held while a trace is started or stopped. Returns false after
 * `limit_ns`, or if the calling thread already holds it: the agent's own Java code reaches probes,
 * too. */
bool control_take(uint64_t limit_ns);
void control_give_back(void);
bool control_is_mine(void);

#endif
