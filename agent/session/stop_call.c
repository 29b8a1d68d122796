/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the call of a stop= method whose return ends the trace. */
#include "agent/session/session.h"

#include "agent/records/threads.h"

/* The call that ends the trace: its session and thread (number in the trace, 0: none yet), and how
 * many such calls that thread has open. */
static struct {
    _Atomic uint64_t session, thread;
    uint64_t depth; /* used by that thread only */
} last_call;

void stop_call_expect(const struct session *session)
{
    bool has_methods = session->options.stop_at.count != 0; /* else those of a window that waits */
    atomic_store(&last_call.thread, 0);
    atomic_store(&last_call.session, has_methods ? session->number : 0);
}

/* Returns the calling thread's number in the session, or 0 if it has none. */
static uint64_t thread_number(struct session *session, struct os_thread *os)
{
    const struct java_thread *java = thread_current(session, os, NULL);
    return java != NULL ? java->id : 0;
}

void stop_call_enter(void)
{
    struct os_thread *os;
    struct session *session = probe_enter(&os);
    if (session == NULL)
        return;
    uint64_t thread = thread_number(session, os), none = 0;
    if (thread != 0 && atomic_load(&last_call.session) == session->number) {
        if (atomic_compare_exchange_strong(&last_call.thread, &none, thread))
            last_call.depth = 1;
        else if (none == thread)
            last_call.depth++;
    }
    probe_leave(os);
}

bool stop_call_leave(void)
{
    struct os_thread *os;
    struct session *session = probe_enter(&os);
    if (session == NULL)
        return false;
    uint64_t chosen = atomic_load(&last_call.thread);
    bool end = chosen != 0 && atomic_load(&last_call.session) == session->number &&
               thread_number(session, os) == chosen && --last_call.depth == 0;
    if (end)
        atomic_store(&last_call.session, 0);
    probe_leave(os);
    return end;
}
