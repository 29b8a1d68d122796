/* SPDX-License-Identifier: Apache-2.0 */
/* Handles the JVM's start and death. */
#include "agent/session/vm_life.h"

#include <unistd.h>

#include "agent/base/patience.h"
#include "agent/bytecode/engine_bytecode.h"
#include "agent/deaths/reaper.h"
#include "agent/events/collections.h"
#include "agent/events/engine.h"
#include "agent/hotspot/hash_state.h"
#include "agent/records/source_files.h"
#include "agent/session/engine_choice.h"
#include "agent/session/rotation.h"
#include "agent/session/session.h"
#include "agent/session/triggers.h"
#include "capture/log.h"

/* created at load, begun at VM init */
static struct session *prepared;

static void JNICALL on_vm_start(jvmtiEnv *jvmti, JNIEnv *jni)
{
    (void) jvmti, (void) jni;
    tracer.start = clock_moment_now();
}

/* No code of the program has run yet. Runtime.halt() would wait for the JVM's start on some
 * JDKs. */
static void end_jvm(void)
{
    log_message("required=yes: the program does not run untraced");
    _exit(1);
}

static void JNICALL on_vm_init(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread)
{
    (void) jvmti, (void) thread;
    bool begun = true;
    hash_state_find(jni);
    hash_state_enter();
    bool taken = control_take(PATIENCE_NS);
    if (!taken)
        log_message("another trace is being started: none is begun");
    else if (prepared != NULL && prepared->options.start_at.count != 0)
        begun = trigger_arm(prepared, jni);
    else if (prepared != NULL)
        begun = session_begin(prepared, jni);
    prepared = NULL;
    if (taken)
        control_give_back();
    hash_state_leave();
    if (!begun && tracer.options.required)
        end_jvm();
    if (taken && begun)
        rotation_begin(&tracer.options);
}

static void JNICALL on_vm_death(jvmtiEnv *jvmti, JNIEnv *jni)
{
    (void) jvmti;
    collections_are_silent(jni);
    atomic_store(&tracer.death_ns, clock_monotonic_ns());
    tracer.dying = true;
    tracer.closer = pthread_self();
    atomic_store(&tracer.closing, true);
    session_stop(END_VM_DEATH, 0);
    atomic_store(&tracer.closing, false);
    trigger_disarm();
    reaper_wake();
}

bool vm_life_prepare_engine(const struct options *options)
{
    jvmtiEventCallbacks callbacks = {
        .VMStart = on_vm_start, .VMInit = on_vm_init, .VMDeath = on_vm_death};
    engine_jvmti.set_callbacks(&callbacks);
    engine_bytecode.set_callbacks(&callbacks);
    if (options->stack != 0 || (options->events & EVENT_METHOD) != 0)
        source_files_prepare();
    return engine_prepare(engine_of_options(options), options->events, &callbacks);
}

bool vm_life_prepare_session(void)
{
    prepared = session_prepare(&tracer.options);
    return prepared != NULL;
}
