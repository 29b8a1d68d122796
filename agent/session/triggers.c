/* SPDX-License-Identifier: Apache-2.0 */
/* The session that waits for a start= method, the effects of start= and stop= methods, and the call
 * whose return ends the trace. */
#include "agent/session/triggers.h"

#include "agent/base/patience.h"
#include "agent/bytecode/watched_methods.h"
#include "agent/events/engine.h"
#include "agent/hotspot/hash_state.h"
#include "agent/records/threads.h"
#include "agent/session/engine_choice.h"
#include "agent/session/session.h"
#include "capture/log.h"

/* The call that ends the trace: its session and thread (number in the trace, 0: none yet), and how
 * many such calls that thread has open. */
static struct {
    _Atomic uint64_t session, thread;
    uint64_t depth; /* used by that thread only */
} last_call;

void stop_call_expect(const struct session *session)
{
    atomic_store(&last_call.thread, 0);
    atomic_store(&last_call.session, session->number);
}

/* Returns the calling thread's number in the session, or 0 if it has none. */
static uint64_t thread_number(struct session *session, struct os_thread *os)
{
    const struct java_thread *java = thread_current(session, os, NULL);
    return java != NULL ? java->id : 0;
}

/* Call when the calling thread enters such a method. */
static void stop_call_enter(void)
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

/* Call when it leaves one. Returns true if this ends the trace. */
static bool stop_call_leave(void)
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

#define BEGIN_PATIENCE_NS SECOND_NS

static struct session *_Atomic waiting; /* prepared, not begun */
/* One thread begins the session. Others wait for that at most BEGIN_PATIENCE_NS, then go on
 * untraced. */
static void begin(JNIEnv *jni)
{
    hash_state_enter();
    if (control_take(BEGIN_PATIENCE_NS)) {
        struct session *session = tracer.dying ? NULL : atomic_exchange(&waiting, NULL);
        if (session != NULL)
            session_begin(session, jni);
        control_give_back();
    }
    hash_state_leave();
}

/* A thread that starts or stops a trace runs Java code for it, which is not the program's. */
static void entered(JNIEnv *jni, unsigned triggers)
{
    if (control_is_mine())
        return;
    if ((triggers & TRIGGER_START) != 0 && atomic_load(&waiting) != NULL)
        begin(jni);
    if ((triggers & TRIGGER_STOP) != 0)
        stop_call_enter();
}

static void left(unsigned triggers)
{
    if ((triggers & TRIGGER_STOP) != 0 && !control_is_mine() && stop_call_leave())
        session_stop(END_STOPPED, PATIENCE_NS);
}

void triggers_initialize(void)
{
    static const struct watch_actions actions = {entered, left};
    watched_methods_act(&actions);
}

bool trigger_arm(struct session *session, JNIEnv *jni)
{
    if (!engine_choice_settle(session, jni) || !engine_arm(session, jni)) {
        session_discard(session);
        return false;
    }
    atomic_store(&waiting, session);
    return true;
}

bool trigger_disarm(void)
{
    if (!control_take(tracer.dying ? SECOND_NS : PATIENCE_NS))
        return false;
    struct session *session = atomic_exchange(&waiting, NULL);
    if (session != NULL) {
        log_message("%s: no trace was made: no method of start= was entered",
                    session->options.file);
        engine_disarm(session);
        session_discard(session);
    }
    control_give_back();
    return session != NULL;
}

bool trigger_is_armed(void)
{
    return atomic_load(&waiting) != NULL;
}
