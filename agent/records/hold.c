/* SPDX-License-Identifier: Apache-2.0 */
/* Collections against holds. */
#include "agent/records/hold.h"

#include <sched.h>

_Atomic bool holds_refused = true;

static struct {
    pthread_mutex_t lock;
    bool allowed;
    unsigned pauses; /* that were announced and are not over: one may be told of within another */
} state = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Whoever began before holds were refused is waited for. */
static void wait_for_holds(void)
{
    threads_order_probes();
    for (struct os_thread *os = threads_first(); os != NULL; os = os->next_all)
        while (atomic_load_explicit(&os->holds, memory_order_acquire) != 0)
            sched_yield();
}

void holds_allow(bool allowed)
{
    pthread_mutex_lock(&state.lock);
    state.allowed = allowed;
    atomic_store(&holds_refused, !allowed || state.pauses != 0);
    pthread_mutex_unlock(&state.lock);
    if (!allowed)
        wait_for_holds();
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

/* The beginning of a pause is not told of while a session's events are switched on or off. */
void holds_go_on(void)
{
    pthread_mutex_lock(&state.lock);
    if (state.pauses != 0)
        state.pauses--;
    atomic_store(&holds_refused, !state.allowed || state.pauses != 0);
    pthread_mutex_unlock(&state.lock);
}
