/* SPDX-License-Identifier: Apache-2.0 */
/* Last words of a session: handed from the drain thread to a Java thread. */
#include "agent/events/last_words.h"

#include <time.h>

#include "agent/base/patience.h"
#include "agent/events/engine.h"

#define POLL_NS 100000L

/* The thread that takes the session out writes its last words. The session stays valid until
 * then. */
static _Atomic(struct session *) waiting;
/* Number of the session whose last words are awaited or being written. */
static _Atomic uint64_t expected;

void last_words_expect(const struct session *session)
{
    atomic_store(&expected, session->number);
}

/* The session is handed over by one word. Whoever exchanges it out has it: the Java thread to
 * write, or the drain thread to do without. So the drain thread cannot free a session whose last
 * words are being written, and a Java thread that comes late finds nothing. If the writer has taken
 * it and does not return, this never becomes true, and the drain gives up by its own limit
 * (gives_up() in session_drain.c). */
bool last_words_are_said(struct session *session)
{
    if (atomic_load(&session->last_words.said))
        return true;
    if (session->engine->last_words == NULL || !session->names_objects ||
        atomic_load(&session->map->shared->failed) || atomic_load(&session->map->shared->stopping))
        return true;
    if (session->last_words.until == 0) {
        session->last_words.until = clock_monotonic_ns() + PATIENCE_NS;
        atomic_store(&waiting, session);
        if (session->engine->collection_ended != NULL)
            session->engine->collection_ended(); /* wakes the engine's own thread */
        return false;
    }
    struct session *self = session;
    return clock_monotonic_ns() > session->last_words.until &&
           atomic_compare_exchange_strong(&waiting, &self, NULL);
}

void last_words_say(JNIEnv *jni)
{
    if (atomic_load_explicit(&waiting, memory_order_relaxed) == NULL)
        return;
    struct session *session = atomic_exchange(&waiting, NULL);
    if (session == NULL)
        return;
    session->engine->last_words(session, jni);
    atomic_store(&session->last_words.said, true);
    atomic_store(&expected, 0);
}

void last_words_end(struct session *session)
{
    struct session *self = session;
    if (session->last_words.until == 0 || atomic_compare_exchange_strong(&waiting, &self, NULL))
        atomic_store(&expected, 0); /* no thread writes them any more */
}

/* Called by a thread that is about to end, without a session. It may be the one that writes, since
 * no other Java thread of the agent need be awake. */
bool last_words_pass(JNIEnv *jni, uint64_t session)
{
    for (uint64_t from = clock_monotonic_ns(); atomic_load(&expected) == session;) {
        if (clock_monotonic_ns() - from >= PATIENCE_NS)
            return false;
        last_words_say(jni);
        nanosleep(&(struct timespec){0, POLL_NS}, NULL);
    }
    return true;
}
