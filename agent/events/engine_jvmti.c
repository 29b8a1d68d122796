/* SPDX-License-Identifier: Apache-2.0 */
/* engine=jvmti: allocation and method events from JVMTI. */
#include <string.h>

#include "agent/base/exceptions.h"
#include "agent/events/engine.h"
#include "agent/events/events.h"

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

static void JNICALL on_method_entry(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread, jmethodID method)
{
    (void) jvmti;
    if (atomic_load_explicit(&tracer.session, memory_order_relaxed) == NULL)
        engine_switch_off();
    else
        event_method_entry(jni, thread, method);
}

static void JNICALL on_method_exit(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread, jmethodID method,
                                   jboolean by_exception, jvalue value)
{
    (void) jvmti, (void) jni, (void) value;
    event_method_exit(thread, method, by_exception != JNI_FALSE);
}

static void want_capabilities(uint32_t event, jvmtiCapabilities *wanted)
{
    if (event == EVENT_ALLOC) {
        wanted->can_generate_sampled_object_alloc_events = 1;
        wanted->can_generate_vm_object_alloc_events = 1;
    } else if (event == EVENT_METHOD) {
        wanted->can_generate_method_entry_events = 1;
        wanted->can_generate_method_exit_events = 1;
        wanted->can_access_local_variables = 1;
    } else if (event == EVENT_PHASE) {
        wanted->can_retransform_classes = 1;
        wanted->can_retransform_any_class = 1;
        wanted->can_generate_all_class_hook_events = 1;
    }
}

/* Set before any thread exists: a thread draws the distance to its first sample when it is created,
 * with the interval set at that time. */
static void prepare(void)
{
    if ((tracer.capable & EVENT_ALLOC) != 0)
        (*tracer.jvmti)->SetHeapSamplingInterval(tracer.jvmti, 0);
}

void engine_jvmti_advance(JNIEnv *jni)
{
    jthrowable of_program = exception_set_aside(jni);
    atomic_store(&is_advancing, true);
    engine_notify(true, JVMTI_EVENT_SAMPLED_OBJECT_ALLOC);
    for (int i = 0; i < ADVANCES_MOST && atomic_load(&is_advancing); i++) {
        jobject array = (*jni)->NewByteArray(jni, ADVANCE_BYTES);
        if (array == NULL)
            break;
        (*jni)->DeleteLocalRef(jni, array);
    }
    engine_notify(false, JVMTI_EVENT_SAMPLED_OBJECT_ALLOC);
    atomic_store(&is_advancing, false);
    exception_restore(jni, of_program);
}

static void set_callbacks(jvmtiEventCallbacks *callbacks)
{
    callbacks->SampledObjectAlloc = on_sampled_alloc;
    callbacks->MethodEntry = on_method_entry;
    callbacks->MethodExit = on_method_exit;
}

static void enable(struct session *session, bool on)
{
    if ((session->options.events & EVENT_ALLOC) != 0) {
        engine_notify(on, JVMTI_EVENT_VM_OBJECT_ALLOC);
        engine_notify(on, JVMTI_EVENT_SAMPLED_OBJECT_ALLOC);
    }
}

static void enable_methods(struct session *session, bool on)
{
    (void) session;
    engine_notify(on, on ? JVMTI_EVENT_METHOD_EXIT : JVMTI_EVENT_METHOD_ENTRY);
    engine_notify(on, on ? JVMTI_EVENT_METHOD_ENTRY : JVMTI_EVENT_METHOD_EXIT);
}

const struct engine engine_jvmti = {.want_capabilities = want_capabilities,
                                    .prepare = prepare,
                                    .set_callbacks = set_callbacks,
                                    .vm_object_alloc = on_vm_alloc,
                                    .enable = enable,
                                    .enable_methods = enable_methods};
