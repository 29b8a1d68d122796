/* SPDX-License-Identifier: Apache-2.0 */
/* libtracer.so's entry points, which the JVM calls when it loads, attaches and unloads the agent,
 * and the commands to an agent in a running JVM. */
#include <jvmti.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/base/internals.h"
#include "agent/base/java_versions.h"
#include "agent/base/jvm_classes.h"
#include "agent/base/patience.h"
#include "agent/base/tracer.h"
#include "agent/bytecode/engine_bytecode.h"
#include "agent/bytecode/native_methods.h"
#include "agent/bytecode/reference_stores.h"
#include "agent/deaths/reaper.h"
#include "agent/events/collections.h"
#include "agent/events/engine.h"
#include "agent/hotspot/archive_dump.h"
#include "agent/hotspot/hash_state.h"
#include "agent/records/methods.h"
#include "agent/records/threads.h"
#include "agent/references/heap_graph.h"
#include "agent/references/object_ids.h"
#include "agent/session/session.h"
#include "agent/stacks/stacks.h"
#include "capture/attach_client.h"
#include "capture/log.h"
#include "capture/modules/late_zstd.h"
#include "capture/provenance.h"
#include "capture/writer_process.h"

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

static bool begin_first(JNIEnv *jni)
{
    struct session *session = session_prepare(&tracer.options);
    if (session == NULL)
        return false;
    return session->options.start_at.count != 0 ? trigger_arm(session, jni)
                                                : session_begin(session, jni);
}

/* The first trace is created here, not at load: a JVM that does not start, as for an unknown
 * module, ends by _exit(), and would leave an empty one. */
static void JNICALL on_vm_init(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread)
{
    (void) jvmti, (void) thread;
    bool begun = false;
    hash_state_find(jni);
    hash_state_enter();
    bool taken = control_take(PATIENCE_NS);
    const uint64_t duration_ns = tracer.options.duration_ns;
    if (!taken)
        log_message("another trace is being started: no second one is begun");
    else
        begun = duration_prepare(duration_ns) && begin_first(jni);
    duration_settle(duration_ns, begun);
    if (taken)
        control_give_back();
    hash_state_leave();
    if (!begun && tracer.options.required)
        end_jvm();
    if (begun)
        rotation_begin(&tracer.options);
}

/* The JVM sends this while the program's daemon threads still run, and ends when the callback
 * returns. collections_are_silent() is first: some JDKs announce no collection from here on, so
 * addresses must not be used any more. `death_ns` starts the time of finish=. `closer` is set
 * before `closing`, whose store pairs with the acquire load in probe_enter(): the thread that ends
 * the trace reaches probes itself, and must find that it is the closer. While `closing` is set,
 * other threads rest at each probe, so that they do not take the processors from the drain thread,
 * for which the whole JVM waits. The armed trace of start= is discarded afterwards, and the reaper
 * is woken to see that it must end: the JVM waits for threads in native code. */
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

/* Before a session: calls engine_prepare() for these options, with the callbacks of the VM's start
 * and death. */
static bool vm_life_prepare_engine(const struct options *options)
{
    jvmtiEventCallbacks callbacks = {
        .VMStart = on_vm_start, .VMInit = on_vm_init, .VMDeath = on_vm_death};
    engine_jvmti.set_callbacks(&callbacks);
    engine_bytecode.set_callbacks(&callbacks);
    if (options->stack != 0 || (options->events & TRACED_METHOD) != 0)
        source_files_prepare();
    return engine_prepare(engine_of_options(options), options->events, &callbacks);
}

static bool is_running(void)
{
    return atomic_load(&tracer.session) != NULL;
}

/* The control lock keeps the session. */
static void report_running(void)
{
    bool taken = control_take(COMMAND_PATIENCE_NS);
    log_message("start: this JVM is being recorded already, to %s",
                taken && tracer.last != NULL ? tracer.last->options.file : "another trace");
    if (taken)
        control_give_back();
}

/* Begins a trace. Java threads only.
 *
 * A second, third... trace of the process. A trace that ended by itself (limit, full disk) has left
 * its drain thread to be joined; session_stop() does that first. Internals are decided anew for
 * each trace, by its own options. The capabilities are asked for outside the control lock, since
 * they need no session, and the session is prepared and begun inside it: of two commands at once
 * the second finds the session of the first in last_is_over(). What an earlier trace has left
 * (tags, entries of methods, caches) carries that session's number. So a stale entry is recognised
 * by one comparison, and need not be found and removed. */
static jint attach_start(struct options *options)
{
    JNIEnv *jni = jvm_jni();
    if (jni == NULL)
        return JNI_ERR;
    if (is_running()) {
        report_running();
        return JNI_ERR;
    }
    if (!archive_dump_allows(options))
        return JNI_ERR;
    session_stop(END_STOPPED, COMMAND_PATIENCE_NS); /* a session that ended by itself is not joined
                                                     * yet */
    internals_begin(options->internals, options->internals_proven);
    hash_state_find(jni);
    if (!vm_life_prepare_engine(options))
        return JNI_ERR;
    jint code = JNI_ERR;
    if (!control_take(COMMAND_PATIENCE_NS)) {
        log_message("start: another trace is being started or stopped");
        return JNI_ERR;
    }
    struct session *session = tracer.dying ? NULL : session_prepare(options);
    if (session != NULL &&
        (options->start_at.count != 0 ? trigger_arm(session, jni) : session_begin(session, jni)))
        code = JNI_OK;
    control_give_back();
    return code;
}

static jint entry_points_begin(struct options *options)
{
    if (options->window_ns != 0)
        return rotation_window(options) ? JNI_OK : JNI_ERR;
    const char *waits = trigger_who_waits();
    if (waits != NULL && !is_running()) {
        log_message("start: %s is already waiting for its start= method", waits);
        return JNI_ERR;
    }
    if (is_running()) {
        report_running();
        return JNI_ERR;
    }
    rotation_end();    /* of a ring that waits for its next file */
    duration_forget(); /* of a trace that ended before it was due */
    if (!duration_prepare(options->duration_ns))
        return JNI_ERR;
    jint code = attach_start(options);
    duration_settle(options->duration_ns, code == JNI_OK);
    if (code == JNI_OK)
        rotation_begin(options);
    return code;
}

/* Ends all that records or waits. Returns false if there is nothing. */
static bool end_all(bool *closed)
{
    rotation_end();
    bool waited = trigger_disarm();
    bool running = is_running();
    *closed = !running || session_stop(END_STOPPED, COMMAND_PATIENCE_NS);
    return waited || running;
}

static void end_by_duration(void)
{
    bool closed;
    end_all(&closed);
}

static void report_missed(void)
{
    bool taken = control_take(COMMAND_PATIENCE_NS);
    if (taken && tracer.last != NULL && tracer.last->joined)
        missed_bytes_report(tracer.last);
    if (taken)
        control_give_back();
}

/* The end of a trace with duration=, by the program that began it: it may have ended by itself. */
static jint stop_after(void)
{
    bool closed = session_stop(END_STOPPED, COMMAND_PATIENCE_NS);
    const struct session *session = tracer.last;
    if (closed && session != NULL && session->end == END_STOPPED) {
        report_missed();
        return JNI_OK;
    }
    if (session != NULL)
        log_message("%s: ended (%s)", session->options.file, session_end_name(session->end));
    return JNI_ERR;
}

static jint entry_points_stop(struct options *options)
{
    const struct session *running = atomic_load(&tracer.session);
    bool closed = true;
    if (options->duration_ns != 0 && running != NULL &&
        running->options.duration_ns != options->duration_ns)
        return JNI_OK; /* that trace is over: this one is another's */
    duration_forget();
    if (end_all(&closed)) {
        report_missed();
        return closed ? JNI_OK : JNI_ERR;
    }
    if (options->duration_ns != 0)
        return stop_after();
    log_message("stop: no trace is being recorded");
    return JNI_ERR;
}

static jint entry_points_flush(struct options *options)
{
    (void) options;
    if (!is_running() || !session_flush()) {
        log_message("flush: no trace is being recorded");
        return JNI_ERR;
    }
    return JNI_OK;
}

static jint snapshot(struct options *options)
{
    JNIEnv *jni = jvm_jni();
    (void) options;
    if (jni != NULL && heap_graph_take(jni, STEP_LIVE_BY_COMMAND))
        return JNI_OK;
    log_message("snapshot: no trace of objects, with times, is being recorded");
    return JNI_ERR;
}

static jint status(struct options *options)
{
    (void) options;
    const char *waits = trigger_who_waits();
    if (waits != NULL)
        log_message("status: %s waits for its start= method", waits);
    session_log_status();
    return JNI_OK;
}

struct tracer tracer = {.control_lock = PTHREAD_MUTEX_INITIALIZER};

/* The child of a fork shares the buffers' pages but has no drain thread: it records nothing. The
 * session pointer is left alone, since the parent's chunks are in memory that both map: the child
 * must not close, flush or free anything of it. probe_enter() looks at `forked`; the fast paths do
 * not, so they are switched off here. */
static void after_fork(void)
{
    struct session *session = atomic_load(&tracer.session);
    atomic_store(&tracer.forked, true);
    if (session != NULL) {
        atomic_store(&session->quick_methods, false);
        atomic_store(&session->quick_objects, false);
    }
}

static int java_major_version(void)
{
    char *text = jvm_property("java.vm.specification.version");
    int major = text != NULL ? atoi(text) : 0;
    jvm_free(text);
    return major;
}

static bool get_jvmti(JavaVM *vm)
{
    if ((*vm)->GetEnv(vm, (void **) &tracer.jvmti, JVMTI_VERSION_11) != JNI_OK) {
        log_message("this JVM has no JVMTI 11: JDK %d or later is needed%s", JAVA_OLDEST,
                    session_consequence());
        return false;
    }
    tracer.java_major = java_major_version();
    if (tracer.java_major < JAVA_OLDEST) {
        log_message("this JVM is of Java %d: JDK %d or later is needed%s", tracer.java_major,
                    JAVA_OLDEST, session_consequence());
        return false;
    }
    tracer.vm = vm;
    tracer.early_collection = tracer.java_major < JAVA_SAMPLES_ALL;
    return true;
}

static bool entry_points_enable(jvmtiEvent event)
{
    return (*tracer.jvmti)->SetEventNotificationMode(tracer.jvmti, JVMTI_ENABLE, event, NULL) ==
           JVMTI_ERROR_NONE;
}

static bool set_clock(void)
{
    if (clock_select((enum option_clock) tracer.options.clock))
        return true;
    log_message("option clock: this machine's time stamp counter is not invariant");
    return false;
}

/* Sets up the agent, once per process. */
static bool initialize(JavaVM *vm)
{
    if (tracer.vm != NULL)
        return true;
    if (!late_zstd_load(session_consequence()) || !get_jvmti(vm))
        return false;
    threads_initialize();
    thread_at_end(reaper_thread_ended);
    thread_at_end(stacks_thread_ended);
    thread_at_end(object_ids_thread_ended);
    thread_at_end(native_methods_thread_ended);
    object_ids_at_first_sight(stores_of_seen);
    triggers_initialize(rotation_window_entered);
    rotation_initialize(attach_start);
    duration_initialize(end_by_duration);
    engine_bytecode_initialize();
    reaper_also(heap_graph_take_if_due);
    pthread_atfork(NULL, NULL, after_fork);
    return entry_points_enable(JVMTI_EVENT_VM_DEATH);
}

/* The library's file and its directory are not looked at again: steptrace.jar removes them. */
static void keep_library(void)
{
    writer_process_keep_library();
    late_zstd_find();
}

/* Returns false if there is no agent for commands. */
static bool attach_first(JavaVM *vm, const struct options *options)
{
    if (tracer.vm != NULL)
        return true;
    tracer.attached = true;
    tracer.options = *options;
    if (!set_clock() || !initialize(vm))
        return false;
    tracer.start = clock_moment_now();
    return true;
}

static jint refuse_dormant(struct options *options)
{
    (void) options;
    log_message("dormant: this word is for -agentpath alone");
    return JNI_ERR;
}

/* Agent_OnAttach() runs again for each command, in the library that is loaded already, so all state
 * that outlives a command is set up only by the first one. An agent that came with the JVM accepts
 * commands as well: then `tracer.vm` is set, and its options of load time stay. */
static jint attach(JavaVM *vm, struct options *options)
{
    static pthread_mutex_t first_lock = PTHREAD_MUTEX_INITIALIZER; /* attach and wake= at once */
    if (!lock_within(&first_lock, COMMAND_PATIENCE_NS))
        return JNI_ERR;
    bool ready = attach_first(vm, options);
    pthread_mutex_unlock(&first_lock);
    if (!ready)
        return JNI_ERR;
    static jint (*const commands[])(struct options *) = {
        [COMMAND_START] = entry_points_begin, [COMMAND_STOP] = entry_points_stop,
        [COMMAND_FLUSH] = entry_points_flush, [COMMAND_STATUS] = status,
        [COMMAND_SNAPSHOT] = snapshot,        [COMMAND_DORMANT] = refuse_dormant,
    };
    return commands[options->command](options);
}

static jint take_command(JavaVM *vm, const char *text)
{
    struct options *parsed = malloc(sizeof *parsed);
    jint code = parsed != NULL && dormant_parse(parsed, text) ? JNI_OK : JNI_ERR;
    if (code == JNI_OK && parsed->help)
        options_print_help(false);
    else if (code == JNI_OK)
        code = attach(vm, parsed);
    free(parsed);
    return code;
}

JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM *vm, char *options, void *reserved)
{
    (void) reserved;
    keep_library();
    if (tracer.vm != NULL) {
        log_message("the agent is loaded twice");
        return JNI_ERR;
    }
    if (!options_parse(&tracer.options, options))
        return JNI_ERR;
    if (tracer.options.help) {
        options_print_help(false);
        exit(0);
    }
    if (tracer.options.command == COMMAND_DORMANT)
        return dormant_begin(vm, &tracer.options, take_command) ? JNI_OK : JNI_ERR;
    if (tracer.options.wake[0] != '\0') {
        log_message("option wake: it needs the word dormant");
        return JNI_ERR;
    }
    if (!archive_dump_allows(&tracer.options))
        return JNI_OK;
    if (!set_clock())
        return JNI_ERR;
    if (!initialize(vm) || !vm_life_prepare_engine(&tracer.options))
        return tracer.options.required ? JNI_ERR : JNI_OK;
    engine_choice_prepare(&tracer.options);
    tracer.start = clock_moment_now();
    internals_begin(tracer.options.internals, tracer.options.internals_proven);
    return entry_points_enable(JVMTI_EVENT_VM_START) && entry_points_enable(JVMTI_EVENT_VM_INIT)
               ? JNI_OK
               : JNI_ERR;
}

JNIEXPORT jint JNICALL Agent_OnAttach(JavaVM *vm, char *options, void *reserved)
{
    (void) reserved;
    keep_library();
    const char *command = options;
    int client;
    if (!attach_client_take(&command, &client))
        return JNI_ERR;
    jint code = take_command(vm, command);
    attach_client_leave(client);
    return code;
}

JNIEXPORT void JNICALL Agent_OnUnload(JavaVM *vm)
{
    (void) vm;
}

/* ---- for Java code that loads the agent into its own JVM, as java/src/steptrace/Agent.java does:
 * System.load() calls JNI_OnLoad(), which gives that class its native method ---- */

#define LOADER "steptrace/Agent"

/* Runs a command as a later attach does, from the bytes of its text. */
static jint JNICALL entry_points_run(JNIEnv *jni, jclass class, jbyteArray text)
{
    JavaVM *vm = NULL;
    (void) class;
    if ((*jni)->GetJavaVM(jni, &vm) != JNI_OK)
        return JNI_ERR;
    jsize length = (*jni)->GetArrayLength(jni, text);
    char *options = malloc((size_t) length + 1);
    if (options == NULL)
        return JNI_ENOMEM;
    (*jni)->GetByteArrayRegion(jni, text, 0, length, (jbyte *) options);
    options[length] = '\0';
    jint code = Agent_OnAttach(vm, options, NULL);
    free(options);
    return code;
}

/* The JVM does not call it for -agentpath, nor when a tool attaches. */
JNIEXPORT jint JNICALL JNI_OnLoad(JavaVM *vm, void *reserved)
{
    static const JNINativeMethod method = {"run", "([B)I", (void *) entry_points_run};
    JNIEnv *jni = NULL;
    (void) reserved;
    keep_library();
    if ((*vm)->GetEnv(vm, (void **) &jni, JNI_VERSION_1_8) != JNI_OK)
        return JNI_ERR;
    jclass class = (*jni)->FindClass(jni, LOADER);
    if (class == NULL || (*jni)->RegisterNatives(jni, class, &method, 1) != 0)
        return JNI_ERR; /* with its exception */
    return JNI_VERSION_1_8;
}
