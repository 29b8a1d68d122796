/* SPDX-License-Identifier: Apache-2.0 */
/* Code that all engines share: capabilities, the callback table, and the events of classes,
 * threads, frees and collections. */
#include "agent/events/engine.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/base/exceptions.h"
#include "agent/base/java_versions.h"
#include "agent/base/jvm_classes.h"
#include "agent/base/own_share.h"
#include "agent/base/patience.h"
#include "agent/events/collections.h"
#include "agent/events/events.h"
#include "agent/events/last_words.h"
#include "agent/hotspot/archived_classes.h"
#include "agent/records/classes.h"
#include "agent/records/hold.h"
#include "agent/records/method_counts.h"
#include "agent/records/phases.h"
#include "capture/log.h"

/* Events of JDK 21 and later, which JDK 17's headers do not define. */
#define EVENT_NUMBER_VIRTUAL_THREAD_START 87
#define EVENT_NUMBER_VIRTUAL_THREAD_END 88
#define EVENT_NUMBERS_END 96

/* Callback table with room for these: one pointer per event number. */
union callback_table {
    jvmtiEventCallbacks known;
    void *by_number[EVENT_NUMBERS_END - JVMTI_MIN_EVENT_TYPE_VAL];
};

/* The engine for which callbacks and capabilities are set. */
static const struct engine *_Atomic prepared_engine;

/* The engine may change between sessions, the callback table does not. */
static void JNICALL on_vm_object_alloc(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread, jobject object,
                                       jclass class, jlong size)
{
    jthrowable of_program = exception_set_aside(jni); /* the native method may return with one */
    atomic_load(&prepared_engine)->vm_object_alloc(jvmti, jni, thread, object, class, size);
    exception_restore(jni, of_program, false, THROWN_BY_NOTHING);
}

static void JNICALL on_object_free(jvmtiEnv *jvmti, jlong tag)
{
    (void) jvmti;
    event_free(tag);
}

/* Of the current pause, whose callbacks come one after the other: the agent's work at its start. */
static uint64_t begin_ns;

static void JNICALL on_collection_start(jvmtiEnv *jvmti)
{
    (void) jvmti;
    uint64_t from_ns = clock_monotonic_ns();
    own_share_collection_begins();
    collection_begins();
    const struct engine *engine = atomic_load(&prepared_engine);
    if (engine->collection_begins != NULL)
        engine->collection_begins();
    begin_ns = clock_monotonic_ns() - from_ns;
}

static void JNICALL on_collection_end(jvmtiEnv *jvmti)
{
    (void) jvmti;
    uint64_t from_ns = clock_monotonic_ns();
    const struct engine *engine = atomic_load(&prepared_engine);
    if (collection_ends() && engine->collection_ended != NULL)
        engine->collection_ended();
    own_share_stopped(OWN_STOP_COLLECTION, begin_ns + clock_monotonic_ns() - from_ns);
    begin_ns = 0;
    own_share_collection_ends();
}

void event_class_load(jclass class)
{
    struct os_thread *os;
    struct session *session = probe_enter(&os);
    if (session == NULL)
        return;
    if ((session->options.events & TRACED_CLASS) != 0)
        class_loaded(session, class, tracer_is_starting(session));
    probe_leave(os);
}

static void JNICALL on_class_load(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread, jclass class)
{
    (void) jvmti, (void) jni, (void) thread;
    archived_class_loaded(class);
    event_class_load(class);
}

static void thread_starts(jthread thread, bool is_virtual)
{
    struct os_thread *os;
    struct session *session = probe_enter(&os);
    if (session == NULL)
        return;
    thread_started(session, os, thread, is_virtual);
    if (!is_virtual && session->engine->thread_starts != NULL)
        session->engine->thread_starts(session, os);
    phases_take_over(session, os, thread);
    probe_leave(os);
}

static void JNICALL on_thread_start(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread)
{
    (void) jvmti, (void) jni;
    thread_starts(thread, false);
}

static void engine_leave(struct session *session, struct os_thread *os, JNIEnv *jni)
{
    struct java_thread *java = thread_known(session, os);
    if (java != NULL && session->engine->thread_leaves != NULL)
        session->engine->thread_leaves(session, os, jni, java);
}

/* The last words of a session that has just ended may mention the thread. */
static void end_unseen(JNIEnv *jni, jthread thread, bool is_virtual)
{
    const struct java_thread *java = thread_of(thread);
    if (java != NULL && (java->pending == 0 || last_words_pass(jni, java->session)))
        thread_ended_unseen(thread, is_virtual);
}

static void thread_ends(JNIEnv *jni, jthread thread, bool is_virtual)
{
    struct os_thread *os;
    struct session *session = probe_enter(&os);
    if (session == NULL) {
        end_unseen(jni, thread, is_virtual);
        return;
    }
    if (!is_virtual)
        engine_leave(session, os, jni);
    if (!is_virtual && session->engine->platform_thread_ends != NULL)
        session->engine->platform_thread_ends(jni, thread);
    phases_thread_ends(session, os, thread_of(thread));
    struct java_thread *java = thread_ended(session, os, thread);
    if (java != NULL)
        method_counts_thread_ended(session, os, java);
    thread_forget(os, java, is_virtual);
    probe_leave(os);
}

static void JNICALL on_thread_end(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread)
{
    (void) jvmti;
    collections_thread_ends(thread);
    thread_ends(jni, thread, false);
}

/* Loads the classes of a virtual thread's first timed wait, which VirtualThread.scheduleUnpark() of
 * JDK 21 passes to a ScheduledThreadPoolExecutor while the thread changes its carrier (later JDKs:
 * at another time). If such a class is loaded then, the JVM announces neither its class file nor
 * the class (JDK-8330146): it would have no probes, and no class load event before its first
 * object. */
static void load_carrier_classes(JNIEnv *jni)
{
    static const char *const names[] = {
        "java/util/concurrent/ScheduledThreadPoolExecutor$ScheduledFutureTask",
        "java/util/concurrent/FutureTask$WaitNode",
        "java/util/concurrent/Executors$RunnableAdapter",
        "java/util/concurrent/ThreadPoolExecutor$Worker"};
    static _Atomic bool loaded;
    if (tracer.java_major >= JAVA_WAITS_OPENLY || atomic_exchange(&loaded, true))
        return;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        (*jni)->DeleteLocalRef(jni, class_find(jni, names[i]));
}

static void JNICALL on_virtual_start(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread)
{
    (void) jvmti;
    thread_starts(thread, true);
    load_carrier_classes(jni);
    const struct engine *engine = atomic_load(&prepared_engine);
    if (engine->virtual_starts != NULL)
        engine->virtual_starts(jni);
}

static void JNICALL on_virtual_end(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread)
{
    (void) jvmti;
    thread_ends(jni, thread, true);
}

/* Extension events: jvmtiEnv, JNIEnv, the virtual thread. */
static void JNICALL on_mount(jvmtiEnv *jvmti, ...)
{
    va_list arguments;
    va_start(arguments, jvmti);
    (void) va_arg(arguments, JNIEnv *);
    jthread thread = va_arg(arguments, jthread);
    va_end(arguments);
    struct os_thread *os;
    struct session *session = probe_enter(&os);
    if (session == NULL)
        return;
    thread_mounted(session, os, thread);
    probe_leave(os);
}

static void JNICALL on_unmount(jvmtiEnv *jvmti, ...)
{
    va_list arguments;
    va_start(arguments, jvmti);
    JNIEnv *jni = va_arg(arguments, JNIEnv *);
    va_end(arguments);
    struct os_thread *os;
    struct session *session = probe_enter(&os);
    if (session == NULL)
        return;
    struct java_thread *java = thread_known(session, os);
    engine_leave(session, os, jni);
    if (java != NULL && java->is_virtual)
        method_counts_unmounted(os, java);
    thread_unmounted(session, os);
    probe_leave(os);
}

/* can_support_virtual_threads is the bit after the last capability that JDK 17 knows. */
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

static void engine_want_capabilities(const struct engine *engine, uint32_t event,
                                     jvmtiCapabilities *wanted)
{
    memset(wanted, 0, sizeof *wanted);
    wanted->can_tag_objects = 1; /* classes get their numbers through tags */
    if (event == TRACED_FREE)
        wanted->can_generate_object_free_events = 1;
    if (event == TRACED_FREE || event == TRACED_ALLOC)
        wanted->can_generate_garbage_collection_events = 1;
    engine->want_capabilities(event, wanted);
}

/* Requests the capabilities that these events still need; logs events that the JVM does not
 * support. */
static void add_capabilities(const struct engine *engine, uint32_t events)
{
    for (uint32_t event = TRACED_CLASS; event <= TRACED_PHASE; event <<= 1) {
        if ((events & event & ~tracer.capable) == 0)
            continue;
        jvmtiCapabilities wanted;
        char name[64];
        engine_want_capabilities(engine, event, &wanted);
        options_event_names(event, name, sizeof name);
        if (event == TRACED_PHASE)
            snprintf(name, sizeof name, "phase");
        if (jvm_add_capabilities(&wanted))
            tracer.capable |= event;
        else
            log_message("this JVM does not provide %s events%s: they are left out", name,
                        tracer.attached ? " to an agent that is loaded at run time" : "");
    }
    if ((tracer.capable & TRACED_ALLOC) == 0)
        tracer.capable &= ~(uint32_t) TRACED_FREE;
    if (tracer.java_major >= JAVA_VIRTUAL_THREADS && !tracer.has_virtual_threads) {
        jvmtiCapabilities wanted;
        memset(&wanted, 0, sizeof wanted);
        want_virtual_threads(&wanted);
        tracer.has_virtual_threads = jvm_add_capabilities(&wanted);
    }
}

bool engine_reserve(const struct engine *engine, uint32_t event)
{
    jvmtiCapabilities wanted;
    memset(&wanted, 0, sizeof wanted);
    engine->want_capabilities(event, &wanted);
    bool added = jvm_add_capabilities(&wanted);
    if (added && engine->prepare != NULL)
        engine->prepare();
    return added;
}

/* Sets the callback of the extension event whose id ends in `suffix`, and enables the event; a NULL
 * callback disables it. */
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
            engine_notify(callback != NULL, index);
        }
        jvm_free(events[i].id);
        jvm_free(events[i].short_description);
        for (jint j = 0; j < events[i].param_count; j++)
            jvm_free(events[i].params[j].name);
        jvm_free(events[i].params);
    }
    jvm_free(events);
}

/* Stores a function pointer in the table of object pointers. */
static void set_by_number(union callback_table *table, int number,
                          void(JNICALL *callback)(jvmtiEnv *, JNIEnv *, jthread))
{
    memcpy(&table->by_number[number - JVMTI_MIN_EVENT_TYPE_VAL], &callback, sizeof callback);
}

/* Set only once: with ObjectFree enabled, the JVM would report the dead objects first
 * (tagged_deaths.c). Therefore the table has the callbacks of all engines, and a callback finds the
 * engine by `prepared_engine` or the session. */
static bool engine_set_callbacks(const jvmtiEventCallbacks *of_others)
{
    static bool set;
    union callback_table table;
    memset(&table, 0, sizeof table);
    table.known = *of_others;
    table.known.ObjectFree = on_object_free;
    table.known.GarbageCollectionStart = on_collection_start;
    table.known.GarbageCollectionFinish = on_collection_end;
    table.known.ClassLoad = on_class_load;
    table.known.ThreadStart = on_thread_start;
    table.known.ThreadEnd = on_thread_end;
    table.known.VMObjectAlloc = on_vm_object_alloc;
    size_t size = sizeof table.known;
    if (tracer.java_major >= JAVA_VIRTUAL_THREADS) {
        set_by_number(&table, EVENT_NUMBER_VIRTUAL_THREAD_START, on_virtual_start);
        set_by_number(&table, EVENT_NUMBER_VIRTUAL_THREAD_END, on_virtual_end);
        size = (EVENT_NUMBER_VIRTUAL_THREAD_END + 1 - JVMTI_MIN_EVENT_TYPE_VAL) * sizeof(void *);
    }
    set = set || (*tracer.jvmti)->SetEventCallbacks(tracer.jvmti, &table.known, (jint) size) ==
                     JVMTI_ERROR_NONE;
    return set;
}

bool engine_prepare(const struct engine *engine, uint32_t events,
                    const jvmtiEventCallbacks *of_others)
{
    if (atomic_exchange(&prepared_engine, engine) != engine)
        tracer.capable = 0;
    add_capabilities(engine, events);
    if (engine->needs_allocs != NULL && (tracer.capable & TRACED_ALLOC) == 0) {
        log_message("%s", engine->needs_allocs);
        return false;
    }
    if ((tracer.capable & events) == 0) {
        log_message("this JVM provides none of the requested events");
        return false;
    }
    if (engine->prepare != NULL)
        engine->prepare();
    return engine_set_callbacks(of_others);
}

bool engine_arm(struct session *session, JNIEnv *jni)
{
    const struct engine *engine = session->engine;
    return engine->arm != NULL && engine->arm(jni, session, true);
}

void engine_disarm(struct session *session)
{
    JNIEnv *jni = jvm_jni();
    if (jni != NULL)
        session->engine->arm(jni, session, false);
}

static void count_class(void *count, JNIEnv *jni, jclass class)
{
    (void) jni, (void) class;
    ++*(unsigned *) count;
}

/* gentle=auto, without max-pause=: returns true if the JVM has loaded many classes. */
static bool has_many_classes(JNIEnv *jni)
{
    unsigned count = 0;
    class_each_loaded(jni, count_class, &count);
    return count > OPTION_GENTLE_CLASSES;
}

bool engine_instrument(struct session *session, JNIEnv *jni, char *out)
{
    struct options *options = &session->options;
    uint32_t classes = 0, slices = 0;
    out[0] = '\0';
    if (!session->late || options->start_at.count != 0 || session->engine->instrument == NULL ||
        options->gentle == GENTLE_NO ||
        (options->gentle == GENTLE_AUTO && options->max_pause_ns == 0 && !has_many_classes(jni)))
        return true;
    session->gentle = true;
    if ((options->named & NAMED_EXISTING) == 0 && options->existing) {
        options->existing = false;
        if (options->gentle == GENTLE_AUTO)
            log_message(
                "%s: %s: objects that exist already are left out; existing=yes records them",
                options->file,
                options->max_pause_ns != 0 ? "option max-pause"
                                           : "this JVM has many classes (option gentle)");
    }
    uint64_t from = clock_monotonic_ns();
    if (!session->engine->instrument(jni, session, &classes, &slices))
        return false;
    snprintf(out, ENGINE_GENTLE_TEXT, "%u classes in %u slices, %.2f s", classes, slices,
             (double) (clock_monotonic_ns() - from) / 1e9);
    return true;
}

void engine_restore(struct session *session)
{
    JNIEnv *jni = session->engine->restore != NULL ? jvm_jni() : NULL;
    if (jni != NULL)
        session->engine->restore(jni, session);
}

/* Called from callbacks and by the reaper, often, so it must not wait: the control lock is only
 * tried. `events_on` is exchanged under the lock, so it happens once. The session's end is checked,
 * because the same state exists for a moment while a session begins or ends. */
void engine_switch_off(void)
{
    if (atomic_load(&tracer.forked) || !atomic_load(&tracer.events_on) || !control_take(0))
        return;
    struct session *last = tracer.last;
    if (last != NULL && atomic_load(&tracer.session) == NULL && session_has_ended(last) &&
        atomic_exchange(&tracer.events_on, false)) {
        engine_enable(last, false);
        engine_restore(last);
    }
    control_give_back();
}

static void (*hook_phases)(struct session *session, bool on);

void engine_phases_by(void (*hook)(struct session *session, bool on))
{
    hook_phases = hook;
}

/* If the start of a collection is reported, its end must be, too: holds need both. So the event of
 * the end is enabled before that of the beginning, and disabled after it. A pause that runs while
 * these are switched may then report an end without a beginning, which holds_go_on() and
 * is_last_open() allow for; a beginning without an end would refuse holds for ever. */
static void enable_collections(const struct session *session, bool on)
{
    if (!on) {
        collections_watch_ends();
        holds_allow(false);
        engine_notify(on, JVMTI_EVENT_GARBAGE_COLLECTION_START);
    }
    if (on)
        collections_watch();
    engine_notify(on, JVMTI_EVENT_GARBAGE_COLLECTION_FINISH);
    if (on) {
        engine_notify(on, JVMTI_EVENT_GARBAGE_COLLECTION_START);
        holds_allow(session->places);
    }
}

/* These events stay enabled: the agent frees its state of a thread when the thread ends, with or
 * without a session. */
static void enable_thread_ends(void)
{
    engine_notify(true, JVMTI_EVENT_THREAD_END);
    if (tracer.has_virtual_threads)
        engine_notify(true, EVENT_NUMBER_VIRTUAL_THREAD_END);
}

/* Enables or disables a session's events, in an order that both directions need.
 *
 * When disabling, the fast paths end first: they rely on announcements of collections, which end
 * further down. Then methods, so that no frame is opened for an object that is not recorded any
 * more. engine=bytecode comes before the collections (`ends_first`), since its last search for the
 * dead needs their dates. Holds are refused before the announcements end (enable_collections()).
 * Deaths are flushed while the session still is published and collections are dated: objects that
 * the JVM has found dead but not yet reported must find both.
 *
 * When enabling, collections come first: an object that is allocated once the engine's events are
 * on may be moved by a collection, and holds must know of it. The engine comes last, when threads
 * and classes are reported already. */
void engine_enable(struct session *session, bool on)
{
    const struct engine *engine = session->engine;
    uint32_t events = session->options.events;
    if (!on)
        atomic_store(&session->quick_objects, false);
    if (!on && (events & TRACED_METHOD) != 0)
        engine->enable_methods(session, false);
    if (!on && engine->end_totals != NULL)
        engine->end_totals(session);
    if (!on && engine->ends_first)
        engine->enable(session, false);
    if (!on && (events & TRACED_FREE) != 0 && atomic_load(&tracer.session) != NULL)
        tagged_deaths_flush();
    if ((events & (TRACED_FREE | TRACED_ALLOC)) != 0)
        enable_collections(session, on);
    if (on && (events & TRACED_FREE) != 0)
        tagged_deaths_report();
    engine_notify(on, JVMTI_EVENT_THREAD_START);
    enable_thread_ends();
    if (tracer.has_virtual_threads) {
        engine_notify(on, EVENT_NUMBER_VIRTUAL_THREAD_START);
        set_extension_event("VirtualThreadMount", on ? on_mount : NULL);
        set_extension_event("VirtualThreadUnmount", on ? on_unmount : NULL);
    }
    if ((events & TRACED_CLASS) != 0)
        engine_notify(on, JVMTI_EVENT_CLASS_LOAD);
    if (on || !engine->ends_first)
        engine->enable(session, on);
    if ((events & TRACED_PHASE) != 0 && session->options.engine == ENGINE_JVMTI)
        hook_phases(session, on);
}
