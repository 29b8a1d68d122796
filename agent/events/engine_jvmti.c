/* SPDX-License-Identifier: Apache-2.0 */
/* engine=jvmti: allocation and method events from JVMTI. */
#include "agent/base/exceptions.h"
#include "agent/base/jvm_classes.h"
#include "agent/events/engine.h"
#include "agent/events/events.h"
#include "agent/records/method_counts.h"
#include "agent/records/methods.h"
#include "agent/records/put_record.h"

/* The distance to a thread's first sample is exponentially distributed, 512 KiB on average. */
#define ADVANCE_BYTES (1 << 16)
#define ADVANCES_MOST 256

/* True while engine_jvmti_advance() waits for a sample. */
static _Atomic bool is_advancing;

/* engine=sampled shares it. */
static void JNICALL on_sampled_alloc(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread, jobject object,
                                     jclass class, jlong size)
{
    (void) jvmti;
    if (atomic_load_explicit(&tracer.session, memory_order_relaxed) != NULL)
        event_alloc(jni, thread, object, class, size, ALLOC_SAMPLED);
    else if (atomic_load(&is_advancing))
        atomic_store(&is_advancing, false);
    else
        engine_switch_off();
}

/* Both events often report the same object that the VM allocates. */
static void JNICALL on_vm_alloc(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread, jobject object,
                                jclass class, jlong size)
{
    (void) jvmti;
    event_alloc(jni, thread, object, class, size, ALLOC_BY_VM);
}

/* Returns the id of `this` in the frame just entered. */
static uint64_t this_object(struct session *session, struct live_stream *stream, uint64_t thread,
                            JNIEnv *jni)
{
    bool is_new;
    jobject object = (session->options.events & TRACED_ALLOC) != 0 ? own_frame_object() : NULL;
    if (object == NULL)
        return 0;
    uint64_t id = event_tagged_object(session, stream, thread, jni, object, &is_new);
    (*jni)->DeleteLocalRef(jni, object);
    return id;
}

static void enter_method(struct session *session, struct os_thread *os, JNIEnv *jni, jthread thread,
                         jmethodID method)
{
    const struct method_entry *entry = method_lookup(session, method);
    if (entry == NULL || !entry->is_traced || entry->id == 0)
        return;
    struct java_thread *java = thread_current(session, os, thread);
    struct live_stream *stream = thread_stream(session, os);
    if (java == NULL || stream == NULL)
        return;
    if (session->options.method == METHOD_COUNT) {
        method_counts_enter(session, os, java, entry->id, method);
        return;
    }
    uint64_t object = entry->is_static ? 0 : this_object(session, stream, java->id, jni);
    uint64_t *room = reserve_event(session, stream, java->id, 3);
    if (room == NULL || !push_frame(java, (struct method_frame){entry->id, method, 0, NULL, 0}))
        return;
    write_event(session, stream, room, STEP_LIVE_ENTRY, entry->id, object);
}

static void JNICALL on_method_entry(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread, jmethodID method)
{
    struct os_thread *os;
    (void) jvmti;
    if (atomic_load_explicit(&tracer.session, memory_order_relaxed) == NULL)
        engine_switch_off();
    struct session *session = probe_enter(&os);
    if (session == NULL)
        return;
    enter_method(session, os, jni, thread, method);
    probe_leave(os);
}

/* Records the exit of the innermost frame. If there is no room, the frame stays, and the next exit
 * closes it. */
static bool write_exit(struct session *session, struct live_stream *stream,
                       struct java_thread *java, enum step_live_kind kind)
{
    uint64_t *room = reserve_event(session, stream, java->id, 2);
    if (room == NULL)
        return false;
    write_event(session, stream, room, kind, java->frames[--java->depth].method, 0);
    return true;
}

/* An exit closes its own entry. It pops frames above it that the JVM left without an event. The
 * exit of a frame that was entered before tracing is not recorded. */
static void leave_method(struct session *session, struct os_thread *os, jthread thread,
                         jmethodID method, bool by_exception)
{
    struct java_thread *java = thread_current(session, os, thread);
    struct live_stream *stream = thread_stream(session, os);
    if (java != NULL && session->options.method == METHOD_COUNT)
        method_counts_leave(session, os, java, method, by_exception ? LEAVE_UNWIND : LEAVE_RETURN);
    if (java == NULL || stream == NULL || java->depth == 0)
        return;
    size_t found = java->depth;
    while (found > 0 && java->frames[found - 1].key != method)
        found--;
    if (found == 0)
        return;
    while (java->depth > found)
        if (!write_exit(session, stream, java, STEP_LIVE_FRAME_POP))
            return;
    write_exit(session, stream, java, by_exception ? STEP_LIVE_FRAME_POP : STEP_LIVE_EXIT);
}

static void JNICALL on_method_exit(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread, jmethodID method,
                                   jboolean by_exception, jvalue value)
{
    struct os_thread *os;
    struct session *session = probe_enter(&os);
    (void) jvmti, (void) jni, (void) value;
    if (session == NULL)
        return;
    leave_method(session, os, thread, method, by_exception != JNI_FALSE);
    probe_leave(os);
}

static void jvmti_want_capabilities(uint32_t event, jvmtiCapabilities *wanted)
{
    if (event == TRACED_ALLOC) {
        wanted->can_generate_sampled_object_alloc_events = 1;
        wanted->can_generate_vm_object_alloc_events = 1;
    } else if (event == TRACED_METHOD) {
        wanted->can_generate_method_entry_events = 1;
        wanted->can_generate_method_exit_events = 1;
        wanted->can_access_local_variables = 1;
    } else if (event == TRACED_PHASE) {
        wanted->can_retransform_classes = 1;
        wanted->can_retransform_any_class = 1;
        wanted->can_generate_all_class_hook_events = 1;
    }
}

/* Set before any thread exists: a thread draws the distance to its first sample when it is created,
 * with the interval set at that time. */
static void jvmti_prepare(void)
{
    if ((tracer.capable & TRACED_ALLOC) != 0)
        (*tracer.jvmti)->SetHeapSamplingInterval(tracer.jvmti, 0);
}

/* Uses up the distance to the calling thread's first sample, which was drawn from an average of 512
 * KiB. The arrays are deleted one by one. The limit, 16 MiB, is 32 averages: an exponentially
 * distributed distance is longer with a chance of e^-32. */
void engine_jvmti_advance(JNIEnv *jni)
{
    jthrowable of_program = exception_set_aside(jni);
    atomic_store(&is_advancing, true);
    engine_notify(true, JVMTI_EVENT_SAMPLED_OBJECT_ALLOC);
    bool failed = false;
    for (int i = 0; i < ADVANCES_MOST && atomic_load(&is_advancing) && !failed; i++) {
        jobject array = (*jni)->NewByteArray(jni, ADVANCE_BYTES);
        failed = array == NULL;
        (*jni)->DeleteLocalRef(jni, array);
    }
    engine_notify(false, JVMTI_EVENT_SAMPLED_OBJECT_ALLOC);
    atomic_store(&is_advancing, false);
    exception_restore(jni, of_program, failed, THROWN_BY_ALLOCATION);
}

static void jvmti_set_callbacks(jvmtiEventCallbacks *callbacks)
{
    callbacks->SampledObjectAlloc = on_sampled_alloc;
    callbacks->MethodEntry = on_method_entry;
    callbacks->MethodExit = on_method_exit;
}

static void jvmti_enable(struct session *session, bool on)
{
    if ((session->options.events & TRACED_ALLOC) != 0) {
        engine_notify(on, JVMTI_EVENT_VM_OBJECT_ALLOC);
        engine_notify(on, JVMTI_EVENT_SAMPLED_OBJECT_ALLOC);
    }
}

/* Exits are enabled before entries and disabled after them, so each entry that is recorded can be
 * followed by its exit. An exit without an entry is dropped by leave_method(). */
static void enable_methods(struct session *session, bool on)
{
    (void) session;
    engine_notify(on, on ? JVMTI_EVENT_METHOD_EXIT : JVMTI_EVENT_METHOD_ENTRY);
    engine_notify(on, on ? JVMTI_EVENT_METHOD_ENTRY : JVMTI_EVENT_METHOD_EXIT);
}

const struct engine engine_jvmti = {.want_capabilities = jvmti_want_capabilities,
                                    .prepare = jvmti_prepare,
                                    .set_callbacks = jvmti_set_callbacks,
                                    .vm_object_alloc = on_vm_alloc,
                                    .enable = jvmti_enable,
                                    .enable_methods = enable_methods};
