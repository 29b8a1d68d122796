/* SPDX-License-Identifier: Apache-2.0 */
/* Synchronises collections with holds. */
#include "agent/records/hold.h"

#include <sched.h>

#include "capture/log.h"

_Atomic bool holds_refused = true;

static struct {
    pthread_mutex_t lock;
    bool allowed, forbidden;
    unsigned pauses; /* announced and not over; pauses may be nested */
} state = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Waits for threads that began a hold before holds were refused. */
static void wait_for_holds(void)
{
    if (!threads_barrier()) {
        log_message("the kernel refuses membarrier() now: objects are no longer inspected");
        holds_forbid();
    }
    for (struct os_thread *os = threads_first(); os != NULL; os = os->next_all)
        while (atomic_load_explicit(&os->holds, memory_order_acquire) != 0)
            sched_yield();
}

/* The caller holds the lock. */
static void publish(void)
{
    atomic_store(&holds_refused, !state.allowed || state.forbidden || state.pauses != 0);
}

void holds_allow(bool allowed)
{
    pthread_mutex_lock(&state.lock);
    state.allowed = allowed;
    if (allowed)
        atomic_fetch_add(&tracer.collections_begun, 1);
    publish();
    pthread_mutex_unlock(&state.lock);
    if (!allowed)
        wait_for_holds();
}

void holds_forbid(void)
{
    pthread_mutex_lock(&state.lock);
    state.forbidden = true;
    publish();
    pthread_mutex_unlock(&state.lock);
}

bool holds_are_good(const struct session *session)
{
    pthread_mutex_lock(&state.lock);
    bool forbidden = state.forbidden;
    pthread_mutex_unlock(&state.lock);
    return session->holds && !forbidden;
}

void holds_wait(void)
{
    pthread_mutex_lock(&state.lock);
    state.pauses++;
    bool allowed = state.allowed;
    atomic_store(&holds_refused, true);
    pthread_mutex_unlock(&state.lock);
    if (allowed)
        wait_for_holds();
}

/* The beginning of a pause is not reported while a session's events are switched on or off. */
void holds_go_on(void)
{
    pthread_mutex_lock(&state.lock);
    if (state.pauses != 0)
        state.pauses--;
    publish();
    pthread_mutex_unlock(&state.lock);
}
