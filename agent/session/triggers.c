/* SPDX-License-Identifier: Apache-2.0 */
/* The session that waits for a start= method, and the effects of start= and stop= methods. */
#include "agent/session/triggers.h"

#include "agent/base/patience.h"
#include "agent/bytecode/watched_methods.h"
#include "agent/events/engine.h"
#include "agent/hotspot/hash_state.h"
#include "agent/session/engine_choice.h"
#include "agent/session/session.h"
#include "agent/session/stop_call.h"
#include "capture/log.h"

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
