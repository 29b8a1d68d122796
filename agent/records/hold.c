/* SPDX-License-Identifier: Apache-2.0 */
/* Synchronises collections with holds. */
#include "agent/records/hold.h"

#include <sched.h>

#include "agent/hotspot/slots.h"
#include "capture/log.h"

_Atomic bool holds_refused = true, places_refused = true;
const volatile int64_t *_Atomic silent_counters[2];

static hold_leaf *leaf;

static struct {
    pthread_mutex_t lock;
    bool allowed, forbidden;
    unsigned pauses; /* announced and not over; pauses may be nested */
} state = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Waits for threads that began a hold before holds were refused. All threads that could hold are on
 * the list: a thread is pushed before its first probe. sched_yield() matters on one processor: the
 * thread that holds may not be running, and it is not stopped by the safepoint, since it is in
 * native code. */
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

/* The caller holds the lock. `pauses` is a count, because announcements may be nested
 * (collections.h): the end of the inner one must not allow holds while the outer one still moves
 * objects. */
static void hold_publish(void)
{
    bool refused = !state.allowed || state.forbidden || state.pauses != 0;
    atomic_store(&places_refused, refused);
    atomic_store(&holds_refused, refused || collections_may_be_silent());
}

void holds_allow(bool allowed)
{
    pthread_mutex_lock(&state.lock);
    state.allowed = allowed;
    if (allowed)
        atomic_fetch_add(&tracer.collections_begun, 1);
    hold_publish();
    pthread_mutex_unlock(&state.lock);
    if (!allowed)
        wait_for_holds();
}

void holds_forbid(void)
{
    pthread_mutex_lock(&state.lock);
    state.forbidden = true;
    hold_publish();
    pthread_mutex_unlock(&state.lock);
}

static bool are_forbidden(void)
{
    pthread_mutex_lock(&state.lock);
    bool forbidden = state.forbidden;
    pthread_mutex_unlock(&state.lock);
    return forbidden;
}

bool holds_are_good(const struct session *session)
{
    return session->holds && !are_forbidden();
}

bool places_are_good(const struct session *session)
{
    return session->places && !are_forbidden();
}

void holds_set_leaf(hold_leaf *call)
{
    leaf = call;
}

bool hold_with(struct os_thread *os, JNIEnv *jni, jobject object, hold_action *action,
               void *context)
{
    if (collections_may_be_silent())
        return leaf != NULL && !atomic_load(&places_refused) &&
               leaf(os, jni, object, action, context);
    if (!hold_begin(os))
        return false;
    action(slot_word(object), context);
    hold_end(os);
    return true;
}

/* Holds are refused before the lock is given up, and waited for afterwards: the wait may take as
 * long as a thread is without a processor, and threads that ask holds_are_good() must not wait for
 * it. */
void holds_wait(void)
{
    pthread_mutex_lock(&state.lock);
    state.pauses++;
    bool allowed = state.allowed && !collections_may_be_silent();
    atomic_store(&holds_refused, true);
    atomic_store(&places_refused, true);
    pthread_mutex_unlock(&state.lock);
    if (allowed)
        wait_for_holds();
}

/* The beginning of a pause is not reported while a session's events are switched on or off, so an
 * end may come without a beginning. It must not make the count wrap, which would refuse holds for
 * ever. */
void holds_go_on(void)
{
    pthread_mutex_lock(&state.lock);
    if (state.pauses != 0)
        state.pauses--;
    hold_publish();
    pthread_mutex_unlock(&state.lock);
}
