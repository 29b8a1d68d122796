/* SPDX-License-Identifier: Apache-2.0 */
/* Bounded waits. Those for locks and semaphores poll, so that setting the system's clock does not
 * affect them. */
#include "agent/base/patience.h"

#include <time.h>

#include "capture/log.h"

#define SHORTEST_NS 10000L
#define LONGEST_NS 1000000L

static __thread bool has_control __attribute__((tls_model("initial-exec")));

static bool try_lock(void *lock)
{
    return pthread_mutex_trylock(lock) == 0;
}

static bool try_semaphore(void *semaphore)
{
    return sem_trywait(semaphore) == 0;
}

bool succeeds_within(bool (*attempt)(void *), void *what, uint64_t limit_ns)
{
    if (attempt(what))
        return true;
    uint64_t from = clock_monotonic_ns();
    for (long rest_ns = SHORTEST_NS; !attempt(what);) {
        if (clock_monotonic_ns() - from >= limit_ns)
            return false;
        nanosleep(&(struct timespec){0, rest_ns}, NULL);
        rest_ns = rest_ns * 2 < LONGEST_NS ? rest_ns * 2 : LONGEST_NS;
    }
    return true;
}

void condition_initialize(pthread_cond_t *changed)
{
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(changed, &attributes);
    pthread_condattr_destroy(&attributes);
}

bool lock_within(pthread_mutex_t *lock, uint64_t limit_ns)
{
    return succeeds_within(try_lock, lock, limit_ns);
}

bool semaphore_within(sem_t *semaphore, uint64_t limit_ns)
{
    return succeeds_within(try_semaphore, semaphore, limit_ns);
}

/* Why a session is given up and not just this one record: a thread that is suspended while it holds
 * a table's lock may stay so for hours, as under a debugger. Each probe of each thread would then
 * wait for PATIENCE_NS, one after the other. The first one that has waited ends the trace, and no
 * other waits again. */
bool session_lock(struct session *session, pthread_mutex_t *lock)
{
    if (atomic_load_explicit(&session->given_up, memory_order_relaxed))
        return false;
    if (lock_within(lock, PATIENCE_NS))
        return true;
    session_give_up(session, "a thread is still inside the agent (is it suspended?)");
    return false;
}

void session_want_end(struct session *session, enum session_end end)
{
    pthread_mutex_lock(&session->state_lock);
    bool is_second = end == END_FAILED && atomic_load(&session->end_wanted);
    if (!session->ending && !is_second) {
        session->wanted_end = atomic_load(&session->given_up) ? END_FAILED : end;
        atomic_store(&session->wanted_ns, clock_monotonic_ns());
        atomic_store(&session->end_wanted, true);
        futex_gate_open(&session->map->shared->work);
    }
    pthread_mutex_unlock(&session->state_lock);
}

void session_give_up(struct session *session, const char *reason)
{
    if (atomic_exchange(&session->given_up, true))
        return;
    log_message("%s: the trace ends here: %s", session->options.file, reason);
    session_want_end(session, END_FAILED);
}

bool session_has_ended(struct session *session)
{
    pthread_mutex_lock(&session->state_lock);
    bool ended = session->ended;
    pthread_mutex_unlock(&session->state_lock);
    return ended;
}

/* The lock is not recursive. A thread that starts a trace runs Java code of the JDK, and perhaps of
 * another agent that sees the classes change; that code reaches probes, and with start= or stop=
 * methods the code that takes this lock. It is refused at once, by the thread's own mark, instead
 * of waiting for itself. */
bool control_take(uint64_t limit_ns)
{
    if (has_control || !lock_within(&tracer.control_lock, limit_ns))
        return false;
    return has_control = true;
}

void control_give_back(void)
{
    has_control = false;
    pthread_mutex_unlock(&tracer.control_lock);
}

bool control_is_mine(void)
{
    return has_control;
}
