/* SPDX-License-Identifier: Apache-2.0 */
/* engine=jvmti: every event from JVMTI itself. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "log.h"
#include "probes.h"
#include "tracer.h"

/* Events of JDK 21 and later, which the headers of JDK 17 do not have. */
#define EVENT_NUMBER_VIRTUAL_THREAD_START 87
#define EVENT_NUMBER_VIRTUAL_THREAD_END 88
#define EVENT_NUMBERS_END 96
#define VIRTUAL_THREADS_SINCE 21

/* The callback table, long enough for those: one pointer for each event number. */
union callback_table {
    jvmtiEventCallbacks known;
    void *by_number[EVENT_NUMBERS_END - JVMTI_MIN_EVENT_TYPE_VAL];
};

/* After a trace ended by itself (its limit, a full disk) the first Java thread that comes by
 * switches the JVM's events off: the drain thread cannot. */
static void switch_off(void)
{
    if (atomic_load(&tracer.session) == NULL && !atomic_load(&tracer.forked) &&
        atomic_exchange(&tracer.events_on, false))
        engine_enable(tracer.last, false);
}

static void JNICALL on_sampled_alloc(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread, jobject object,
                                     jclass class, jlong size)
{
    (void) jvmti;
    if (atomic_load_explicit(&tracer.session, memory_order_relaxed) == NULL)
        switch_off();
    else
        probe_alloc(jni, thread, object, class, size, ALLOC_SAMPLED);
}

/* The VM's own allocations are often reported by both events. */
static void JNICALL on_vm_alloc(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread, jobject object,
                                jclass class, jlong size)
{
    (void) jvmti;
    probe_alloc(jni, thread, object, class, size, ALLOC_BY_VM);
}

static void JNICALL on_object_free(jvmtiEnv *jvmti, jlong tag)
{
    (void) jvmti;
    probe_free(tag);
}

static void JNICALL on_collection_end(jvmtiEnv *jvmti)
{
    (void) jvmti;
    atomic_fetch_add(&tracer.collections, 1);
}

static void JNICALL on_class_load(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread, jclass class)
{
    (void) jvmti, (void) jni;
    probe_class_load(thread, class);
}

static void JNICALL on_thread_start(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread)
{
    (void) jvmti, (void) jni;
    probe_thread_start(thread, false);
}

static void JNICALL on_thread_end(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread)
{
    (void) jvmti, (void) jni;
    probe_thread_end(thread, false);
}

static void JNICALL on_virtual_start(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread)
{
    (void) jvmti, (void) jni;
    probe_thread_start(thread, true);
}

static void JNICALL on_virtual_end(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread)
{
    (void) jvmti, (void) jni;
    probe_thread_end(thread, true);
}

/* Extension events: jvmtiEnv, JNIEnv, the virtual thread. */
static void JNICALL on_mount(jvmtiEnv *jvmti, ...)
{
    va_list arguments;
    va_start(arguments, jvmti);
    (void) va_arg(arguments, JNIEnv *);
    jthread thread = va_arg(arguments, jthread);
    va_end(arguments);
    probe_mount(thread);
}

static void JNICALL on_unmount(jvmtiEnv *jvmti, ...)
{
    (void) jvmti;
    probe_unmount();
}

static void JNICALL on_method_entry(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread, jmethodID method)
{
    (void) jvmti;
    if (atomic_load_explicit(&tracer.session, memory_order_relaxed) == NULL)
        switch_off();
    else
        probe_method_entry(jni, thread, method);
}

static void JNICALL on_method_exit(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread, jmethodID method,
                                   jboolean by_exception, jvalue value)
{
    (void) jvmti, (void) jni, (void) value;
    probe_method_exit(thread, method, by_exception != JNI_FALSE);
}

/* What each event word of the options needs of the JVM. */
static void want_capabilities(uint32_t event, jvmtiCapabilities *wanted)
{
    memset(wanted, 0, sizeof *wanted);
    switch (event) {
    case EVENT_ALLOC:
        wanted->can_tag_objects = 1;
        wanted->can_generate_sampled_object_alloc_events = 1;
        wanted->can_generate_vm_object_alloc_events = 1;
        break;
    case EVENT_FREE:
        wanted->can_tag_objects = 1;
        wanted->can_generate_object_free_events = 1;
        wanted->can_generate_garbage_collection_events = 1;
        break;
    case EVENT_METHOD:
        wanted->can_tag_objects = 1;
        wanted->can_generate_method_entry_events = 1;
        wanted->can_generate_method_exit_events = 1;
        wanted->can_access_local_variables = 1;
        break;
    default: /* classes get their numbers through tags */
        wanted->can_tag_objects = 1;
        break;
    }
}

/* can_support_virtual_threads stands behind the last capability that JDK 17 knows. */
static void want_virtual_threads(jvmtiCapabilities *wanted)
{
    unsigned char *bytes = (unsigned char *) wanted;
    jvmtiCapabilities last;
    memset(&last, 0, sizeof last);
    last.can_generate_sampled_object_alloc_events = 1;
    const unsigned char *last_bytes = (const unsigned char *) &last;
    for (size_t bit = 0; bit + 1 < 8 * sizeof last; bit++)
        if ((last_bytes[bit / 8] >> (bit % 8) & 1) != 0)
            bytes[(bit + 1) / 8] |= (unsigned char) (1u << ((bit + 1) % 8));
}

/* Asks for what these events need and was not given yet; names what cannot be had. */
static void add_capabilities(uint32_t events)
{
    for (uint32_t event = EVENT_CLASS; event <= EVENT_METHOD; event <<= 1) {
        if ((events & event & ~tracer.capable) == 0)
            continue;
        jvmtiCapabilities wanted;
        char name[64];
        want_capabilities(event, &wanted);
        options_event_names(event, name, sizeof name);
        if ((*tracer.jvmti)->AddCapabilities(tracer.jvmti, &wanted) == JVMTI_ERROR_NONE)
            tracer.capable |= event;
        else
            log_message("this JVM %s give %s events: they are left out",
                        tracer.attached ? "does not, once it runs," : "does not", name);
    }
    if ((tracer.capable & EVENT_ALLOC) == 0)
        tracer.capable &= ~(uint32_t) EVENT_FREE;
    if (tracer.java_major >= VIRTUAL_THREADS_SINCE && !tracer.has_virtual_threads) {
        jvmtiCapabilities wanted;
        memset(&wanted, 0, sizeof wanted);
        want_virtual_threads(&wanted);
        tracer.has_virtual_threads =
            (*tracer.jvmti)->AddCapabilities(tracer.jvmti, &wanted) == JVMTI_ERROR_NONE;
    }
}

static void notify(bool on, int event)
{
    (*tracer.jvmti)
        ->SetEventNotificationMode(tracer.jvmti, on ? JVMTI_ENABLE : JVMTI_DISABLE,
                                   (jvmtiEvent) event, NULL);
}

/* Sets the callback of the extension event whose name ends so, and switches it on or off. */
static void set_extension_event(const char *suffix, jvmtiExtensionEvent callback)
{
    jvmtiEnv *jvmti = tracer.jvmti;
    jint count = 0;
    jvmtiExtensionEventInfo *events = NULL;
    if ((*jvmti)->GetExtensionEvents(jvmti, &count, &events) != JVMTI_ERROR_NONE)
        return;
    for (jint i = 0; i < count; i++) {
        size_t length = strlen(events[i].id), wanted = strlen(suffix);
        if (length >= wanted && strcmp(events[i].id + length - wanted, suffix) == 0) {
            jint index = events[i].extension_event_index;
            (*jvmti)->SetExtensionEventCallback(jvmti, index, callback);
            notify(callback != NULL, index);
        }
        (*jvmti)->Deallocate(jvmti, (unsigned char *) events[i].id);
        (*jvmti)->Deallocate(jvmti, (unsigned char *) events[i].short_description);
        for (jint j = 0; j < events[i].param_count; j++)
            (*jvmti)->Deallocate(jvmti, (unsigned char *) events[i].params[j].name);
        (*jvmti)->Deallocate(jvmti, (unsigned char *) events[i].params);
    }
    (*jvmti)->Deallocate(jvmti, (unsigned char *) events);
}

/* Function pointers as the table of object pointers has them. */
static void set_by_number(union callback_table *table, int number,
                          void(JNICALL *callback)(jvmtiEnv *, JNIEnv *, jthread))
{
    memcpy(&table->by_number[number - JVMTI_MIN_EVENT_TYPE_VAL], &callback, sizeof callback);
}

static bool set_callbacks(void)
{
    union callback_table table;
    memset(&table, 0, sizeof table);
    main_callbacks(&table.known);
    table.known.SampledObjectAlloc = on_sampled_alloc;
    table.known.VMObjectAlloc = on_vm_alloc;
    table.known.ObjectFree = on_object_free;
    table.known.GarbageCollectionFinish = on_collection_end;
    table.known.ClassLoad = on_class_load;
    table.known.ThreadStart = on_thread_start;
    table.known.ThreadEnd = on_thread_end;
    table.known.MethodEntry = on_method_entry;
    table.known.MethodExit = on_method_exit;
    size_t size = sizeof table.known;
    if (tracer.has_virtual_threads) {
        set_by_number(&table, EVENT_NUMBER_VIRTUAL_THREAD_START, on_virtual_start);
        set_by_number(&table, EVENT_NUMBER_VIRTUAL_THREAD_END, on_virtual_end);
        size = (EVENT_NUMBER_VIRTUAL_THREAD_END + 1 - JVMTI_MIN_EVENT_TYPE_VAL) * sizeof(void *);
    }
    return (*tracer.jvmti)->SetEventCallbacks(tracer.jvmti, &table.known, (jint) size) ==
           JVMTI_ERROR_NONE;
}

bool engine_prepare(uint32_t events)
{
    add_capabilities(events);
    if ((tracer.capable & events) == 0) {
        log_message("this JVM gives none of the events that were asked for");
        return false;
    }
    /* Before any thread exists: a thread draws the distance to its first sample when it is made,
     * with the interval that is set then. */
    if ((tracer.capable & EVENT_ALLOC) != 0)
        (*tracer.jvmti)->SetHeapSamplingInterval(tracer.jvmti, 0);
    return set_callbacks();
}

void engine_enable_methods(const struct session *session)
{
    if ((session->options.events & EVENT_METHOD) == 0)
        return;
    notify(true, JVMTI_EVENT_METHOD_EXIT);
    notify(true, JVMTI_EVENT_METHOD_ENTRY);
}

/* Frees are switched off first and last on: what the JVM has found dead but not yet told is sent
 * when the event is disabled, and must find the session. */
void engine_enable(const struct session *session, bool on)
{
    uint32_t events = session->options.events;
    if (!on && (events & EVENT_METHOD) != 0) {
        notify(false, JVMTI_EVENT_METHOD_ENTRY);
        notify(false, JVMTI_EVENT_METHOD_EXIT);
    }
    if ((events & EVENT_FREE) != 0) {
        notify(on, JVMTI_EVENT_GARBAGE_COLLECTION_FINISH);
        notify(on, JVMTI_EVENT_OBJECT_FREE);
    }
    notify(on, JVMTI_EVENT_THREAD_START);
    notify(on, JVMTI_EVENT_THREAD_END);
    if (tracer.has_virtual_threads) {
        notify(on, EVENT_NUMBER_VIRTUAL_THREAD_START);
        notify(on, EVENT_NUMBER_VIRTUAL_THREAD_END);
        set_extension_event("VirtualThreadMount", on ? on_mount : NULL);
        set_extension_event("VirtualThreadUnmount", on ? on_unmount : NULL);
    }
    if ((events & EVENT_CLASS) != 0)
        notify(on, JVMTI_EVENT_CLASS_LOAD);
    if ((events & EVENT_ALLOC) != 0) {
        notify(on, JVMTI_EVENT_VM_OBJECT_ALLOC);
        notify(on, JVMTI_EVENT_SAMPLED_OBJECT_ALLOC);
    }
}
