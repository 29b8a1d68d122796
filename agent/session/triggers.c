/* SPDX-License-Identifier: Apache-2.0 */
/* The session that waits for a start= method, and the effects of start= and stop= methods. */
#include "agent/session/session.h"

#include <stdlib.h>

#include "agent/base/patience.h"
#include "agent/bytecode/class_hook.h"
#include "agent/events/engine.h"
#include "agent/hotspot/hash_state.h"
#include "capture/log.h"

#define BEGIN_PATIENCE_NS SECOND_NS

static struct session *_Atomic waiting; /* prepared, not begun; a window's has no files */
static _Atomic bool is_of_window, was_entered;
static bool (*window_entered)(void);

/* One thread begins the session. Others wait for that at most BEGIN_PATIENCE_NS, then go on
 * untraced. The exchange decides which thread it is: the control lock alone would let each waiting
 * thread begin it again. The identity hashes that the JVM draws here are the agent's
 * (hash_state.h), although the thread is the program's. */
static void triggers_begin(JNIEnv *jni)
{
    uint64_t from_ns = clock_monotonic_ns();
    hash_state_enter();
    if (control_take(BEGIN_PATIENCE_NS)) {
        struct session *session = tracer.dying ? NULL : atomic_exchange(&waiting, NULL);
        if (session != NULL && session_begin(session, jni))
            atomic_store(&session->start_wait_ns, clock_monotonic_ns() - from_ns);
        control_give_back();
    }
    hash_state_leave();
}

/* One thread asks for the window and waits for it. Others go on. */
static void begin_window(void)
{
    if (!atomic_exchange(&was_entered, true) && !window_entered())
        atomic_store(&was_entered, false);
}

/* A thread that starts or stops a trace runs Java code for it, which is not the program's. */
static void entered(JNIEnv *jni, unsigned triggers)
{
    if (control_is_mine() || atomic_load(&tracer.forked))
        return;
    if ((triggers & TRIGGER_START) != 0 && atomic_load(&waiting) != NULL)
        atomic_load(&is_of_window) ? begin_window() : triggers_begin(jni);
    if ((triggers & TRIGGER_STOP) != 0)
        stop_call_enter();
}

static void left(unsigned triggers)
{
    if ((triggers & TRIGGER_STOP) != 0 && !control_is_mine() && stop_call_leave())
        session_stop(END_STOPPED, PATIENCE_NS);
}

void triggers_initialize(bool (*window)(void))
{
    static const struct watch_actions actions = {entered, left};
    window_entered = window;
    watched_methods_act(&actions);
}

/* Takes ownership of the session. */
static bool arm(struct session *session, JNIEnv *jni, bool of_window)
{
    if (!engine_arm(session, jni)) {
        session_discard(session);
        return false;
    }
    atomic_store(&was_entered, false);
    atomic_store(&is_of_window, of_window);
    atomic_store(&waiting, session);
    return true;
}

bool trigger_arm(struct session *session, JNIEnv *jni)
{
    if (engine_choice_settle(session, jni))
        return arm(session, jni, false);
    session_discard(session);
    return false;
}

bool trigger_arm_window(const struct options *options, JNIEnv *jni)
{
    struct session *session = calloc(1, sizeof *session);
    if (session == NULL || !control_take(COMMAND_PATIENCE_NS)) {
        free(session);
        return false;
    }
    session->options = *options;
    engine_choice_apply(session);
    bool can_change = engine_reserve(session->engine, TRACED_PHASE);
    if (!can_change)
        log_message("option window: this JVM does not allow loaded classes to be changed");
    bool armed = can_change && arm(session, jni, true);
    if (!can_change)
        session_discard(session);
    control_give_back();
    return armed;
}

static void report_not_entered(const struct session *session)
{
    if (!atomic_load(&is_of_window))
        log_message("%s: no trace was made: no method of start= was entered",
                    session->options.file);
    else if (!atomic_load(&was_entered))
        log_message("%s: there is no exact window: no method of start= was entered",
                    session->options.file);
}

/* The session is taken out before its probes are removed. A thread that enters a method of start=
 * meanwhile finds nothing that waits, and goes on. */
bool trigger_disarm(void)
{
    if (!control_take(tracer.dying ? SECOND_NS : PATIENCE_NS))
        return false;
    struct session *session = atomic_exchange(&waiting, NULL);
    if (session != NULL) {
        report_not_entered(session);
        engine_disarm(session);
        session_discard(session);
    }
    control_give_back();
    return session != NULL;
}

const char *trigger_who_waits(void)
{
    return atomic_load(&waiting) == NULL ? NULL
           : atomic_load(&is_of_window)  ? "an exact window"
                                         : "the trace";
}

bool trigger_was_entered(void)
{
    return atomic_load(&was_entered);
}
