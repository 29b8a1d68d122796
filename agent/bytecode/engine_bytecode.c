/* SPDX-License-Identifier: Apache-2.0 */
/* engine=bytecode: rewrites classes so that they call probes (agent/rewriter/rewrite.h). Loaded
 * classes are retransformed, and restored afterwards. */
#include "agent/bytecode/engine_bytecode.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "agent/base/exceptions.h"
#include "agent/base/internals.h"
#include "agent/base/java_versions.h"
#include "agent/base/jvm_classes.h"
#include "agent/base/patience.h"
#include "agent/base/tracer.h"
#include "agent/bytecode/class_hook.h"
#include "agent/bytecode/constructors.h"
#include "agent/bytecode/java_probes.h"
#include "agent/bytecode/method_events.h"
#include "agent/bytecode/native_methods.h"
#include "agent/bytecode/not_probed.h"
#include "agent/bytecode/plain_calls.h"
#include "agent/bytecode/reference_stores.h"
#include "agent/bytecode/vm_objects.h"
#include "agent/deaths/reaper.h"
#include "agent/events/events.h"
#include "agent/hotspot/archived_classes.h"
#include "agent/hotspot/boxes.h"
#include "agent/hotspot/hash_state.h"
#include "agent/references/sights.h"

#define HIDDEN 2 /* MethodHandleNatives.Constants.HIDDEN_CLASS */

typedef jclass(JNICALL define_function)(JNIEnv *, jclass, jobject, jclass, jstring, jbyteArray,
                                        jint, jint, jobject, jboolean, jint, jobject);

static void *original;

/* A hidden class that is about to be defined. */
struct definition {
    jbyteArray data;
    jint offset, length;
    bool archived; /* without the agent it would have come from the archive, linked */
};

/* Adds probes to the class file. Returns false if there is no memory for it. */
static bool rewrite(JNIEnv *jni, jobject loader, const uint8_t *bytes, struct definition *class)
{
    size_t length = 0;
    uint8_t *changed = class_hook_hidden(jni, loader, bytes, (size_t) class->length, &length);
    jbyteArray array =
        changed != NULL && length <= INT32_MAX ? plain_bytes(jni, (jsize) length) : NULL;
    if (array != NULL) {
        (*jni)->SetByteArrayRegion(jni, array, 0, (jsize) length, (const jbyte *) changed);
        *class = (struct definition){array, 0, (jint) length, class->archived};
    }
    free(changed);
    return changed == NULL || array != NULL;
}

static void bytecode_prepare(JNIEnv *jni, jobject loader, jclass lookup, struct definition *class)
{
    bool whole = class->offset >= 0 && class->length > 0 &&
                 class->length <= (*jni)->GetArrayLength(jni, class->data) - class->offset;
    uint8_t *bytes = whole ? malloc((size_t) class->length) : NULL;
    if (bytes == NULL)
        return;
    jthrowable of_program = exception_set_aside(jni);
    (*jni)->GetByteArrayRegion(jni, class->data, class->offset, class->length, (jbyte *) bytes);
    if (loader == NULL)
        class->archived = archived_class_has_lambda(lookup, bytes, (size_t) class->length);
    bool written = rewrite(jni, loader, bytes, class);
    exception_restore(jni, of_program, !written, THROWN_BY_ALLOCATION);
    free(bytes);
}

/* Does what the events of a new class would do. The JVM sends none while a virtual thread changes
 * its carrier. If it has sent them, only stores are recorded again. */
static void announce(JNIEnv *jni, jclass class)
{
    jthrowable of_program = exception_set_aside(jni);
    event_class_load(class);
    stores_of_vm(jni, class);
    stores_of_constants(jni, class);
    exception_restore(jni, of_program, false, THROWN_BY_NOTHING);
}

static jclass JNICALL bytecode_define_class(JNIEnv *jni, jclass caller, jobject loader,
                                            jclass lookup, jstring name, jbyteArray data,
                                            jint offset, jint length, jobject domain,
                                            jboolean initialize, jint flags, jobject extra)
{
    struct definition class = {data, offset, length, false};
    if ((flags & HIDDEN) != 0 && data != NULL && class_hook_is_on() &&
        internal_is_allowed(INTERNAL_DEFINE))
        bytecode_prepare(jni, loader, lookup, &class);
    if (class.archived)
        hash_state_enter();
    jclass defined = ((define_function *) (uintptr_t) original)(
        jni, caller, loader, lookup, name, class.data, class.offset, class.length, domain,
        initialize, flags, extra);
    if (class.archived)
        hash_state_leave();
    if (defined != NULL && (flags & HIDDEN) != 0 && tracer.java_major >= JAVA_VIRTUAL_THREADS)
        announce(jni, defined);
    return defined;
}

/* Replaces ClassLoader.defineClass0(), once per process. */
static void hidden_classes_intercept(JNIEnv *jni)
{
    static bool done;
    static char name[] = "defineClass0";
    static char descriptor[] = "(Ljava/lang/ClassLoader;Ljava/lang/Class;Ljava/lang/String;"
                               "[BIILjava/security/ProtectionDomain;ZILjava/lang/Object;)"
                               "Ljava/lang/Class;";
    if (!internal_is_allowed(INTERNAL_DEFINE))
        return;
    void *library = done ? NULL : dlopen("libjava.so", RTLD_LAZY | RTLD_NOLOAD);
    if (library == NULL) {
        internal_settled(INTERNAL_DEFINE, done ? NULL : "libjava.so is not loaded");
        return;
    }
    jclass loader = class_find(jni, "java/lang/ClassLoader");
    JNINativeMethod method = {name, descriptor, (void *) (uintptr_t) bytecode_define_class};
    done = natives_replace(jni, loader, &method, library, "Java_java_lang_ClassLoader_defineClass0",
                           &original);
    internal_settled(INTERNAL_DEFINE, done ? NULL : "the JDK has none with these arguments");
    (*jni)->DeleteLocalRef(jni, loader);
}

#define LEAF_RESOLUTION_NS 1000u

static void bytecode_want_capabilities(uint32_t event, jvmtiCapabilities *wanted)
{
    if (event == TRACED_ALLOC) {
        wanted->can_generate_vm_object_alloc_events = 1;
        wanted->can_generate_garbage_collection_events = 1;
        wanted->can_get_bytecodes = 1;
    }
    if (event == TRACED_ALLOC || event == TRACED_METHOD || event == TRACED_PHASE) {
        wanted->can_retransform_classes = 1;
        wanted->can_retransform_any_class = 1;
        wanted->can_generate_all_class_hook_events = 1;
    }
    if (event == TRACED_METHOD)
        wanted->can_generate_native_method_bind_events = 1;
}

static void JNICALL on_vm_object_alloc(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread, jobject object,
                                       jclass class, jlong size_bytes)
{
    (void) jvmti, (void) thread;
    if (vm_objects_alloc(jni, object, class, size_bytes) && class_hook.references)
        stores_of_vm(jni, object);
}

/* Records what the JVM stored into a new class: its module, its loader, constants of static fields.
 * No bytecode does that. The class's initializer, which has probes, runs later. */
static void JNICALL on_class_prepare(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread, jclass class)
{
    (void) jvmti, (void) thread;
    /* JDK 17 counts those of the code that the event interrupts, as of a retransformation */
    if (!references_allow(jni))
        return;
    stores_of_vm(jni, class); /* the JVM has set its module, loader and more */
    stores_of_constants(jni, class);
}

static void bytecode_set_callbacks(jvmtiEventCallbacks *callbacks)
{
    callbacks->ClassPrepare = on_class_prepare;
    callbacks->ClassFileLoadHook = class_hook_on_file;
    callbacks->NativeMethodBind = native_methods_on_bind;
}

/* Mirrors of archived classes are handled when these have been loaded. A sample that goes on while
 * a window waits may want the event, too. */
static void notify_classes(bool on)
{
    const struct session *session = atomic_load(&tracer.session);
    bool is_wanted = session != NULL && (session->options.events & TRACED_CLASS) != 0;
    engine_notify(on, JVMTI_EVENT_CLASS_FILE_LOAD_HOOK);
    engine_notify(on || is_wanted, JVMTI_EVENT_CLASS_LOAD);
}

/* ---- probes=keep ----
 *
 * To give all classes probes and to restore them takes a second, much longer than many a trace that
 * a program makes of a part of itself. Between two such traces the probes stay, and do nothing, as
 * no session is there; the hook stays on, so that new classes get theirs. The hook cannot have the
 * options of a session, which is freed: it has a copy. The next trace differs in its phases alone
 * (the rules of options exclude the rest), or else the probes are taken away before it begins. What
 * the last trace said of classes without probes is true of the next one, too, and is repeated. */

static struct options *kept; /* NULL: no probes are kept, nor will be */
static bool have_probes;     /* the classes have those of this session from an earlier one */

/* A dying JVM keeps its classes as they are. */
static void remove_probes(JNIEnv *jni, bool gentle)
{
    bool unused = class_hook_off();
    boxes_let_go();
    if (!tracer.dying)
        class_hook_retransform(jni, CLASSES_CHANGED, gentle);
    if (unused)
        free(kept);
    kept = NULL;
}

static bool probes_serve(const struct options *options)
{
    return options->engine == ENGINE_BYTECODE &&
           (options->events & (TRACED_ALLOC | TRACED_METHOD | TRACED_REFERENCE)) == TRACED_ALLOC &&
           options->start_at.count + options->stop_at.count == 0;
}

static void restore_classes(JNIEnv *jni, bool gentle)
{
    remove_probes(jni, gentle);
    notify_classes(false);
    class_hook_forget();
}

void engine_bytecode_settle(JNIEnv *jni, const struct session *session)
{
    if (kept != NULL && !(probes_serve(&session->options) && boxes_may_stay()))
        restore_classes(jni, false);
}

static bool have_same(const struct options *left, const struct glob_list *of_left,
                      const struct options *right, const struct glob_list *of_right)
{
    char texts[2][2 * OPTION_TEXT] = {"", ""};
    options_list_methods(left, of_left, texts[0], sizeof texts[0]);
    options_list_methods(right, of_right, texts[1], sizeof texts[1]);
    return strcmp(texts[0], texts[1]) == 0;
}

static bool have_same_phases(const struct options *left, const struct options *right)
{
    return left->phases == right->phases && left->phases_known == right->phases_known &&
           have_same(left, &left->phase_at, right, &right->phase_at) &&
           have_same(left, &left->threads_phase_at, right, &right->threads_phase_at) &&
           have_same(left, &left->program_phase_at, right, &right->program_phase_at);
}

/* The classes have probes already. */
static void take_over(JNIEnv *jni, struct session *session)
{
    class_hook.session = session;
    hidden_classes_intercept(jni);
    boxes_stay();
    if (have_same_phases(kept, &session->options))
        return;
    struct options *last = kept, *copy = options_copy(&session->options);
    if (copy == NULL) {
        session_give_up(session, "out of memory");
        return;
    }
    kept = copy;
    bool unused = class_hook_take_options(copy);
    class_hook_change_phases(jni, last);
    if (unused)
        free(last);
}

/* Returns true if the classes keep their probes when the session ends. */
static bool stay(const struct session *session)
{
    return kept != NULL && session->options.probes == PROBES_KEPT;
}

static void rest(void)
{
    class_hook.session = NULL;
    not_probed_rest();
    engine_notify(false, JVMTI_EVENT_CLASS_LOAD);
}

static bool arm(JNIEnv *jni, struct session *session, bool on)
{
    if (on && !java_probes_link(jni, &session->options))
        return false;
    engine_bytecode_settle(jni, session);
    if (!on)
        class_hook_off();
    class_hook.session = session;
    atomic_store(&class_hook.options, &session->options);
    class_hook.alloc = class_hook.method = class_hook.references = class_hook.leaf = false;
    class_hook.armed = on;
    watched_methods_forget();
    if (on) {
        archived_classes_read();
        class_hook_on();
        notify_classes(true);
    }
    if (!tracer.dying)
        class_hook_retransform(jni, on ? CLASSES_WATCHED : CLASSES_CHANGED, false);
    if (!on)
        notify_classes(false);
    return true;
}

/* Returns false if times are finer than the difference, or if something may happen in between: an
 * exception of the JVM whose constructors are traced. */
bool leaf_methods_have_one_time(const struct options *options)
{
    static const char *const thrown[] = {"java/lang/Throwable",
                                         "java/lang/Exception",
                                         "java/lang/RuntimeException",
                                         "java/lang/NullPointerException",
                                         "java/lang/ClassCastException",
                                         "java/lang/ArithmeticException",
                                         "java/lang/ArrayStoreException",
                                         "java/lang/IndexOutOfBoundsException",
                                         "java/lang/ArrayIndexOutOfBoundsException"};
    bool traced = false;
    for (size_t i = 0; options->include.count != 0 && i < sizeof thrown / sizeof thrown[0]; i++)
        traced = traced || options_trace_class(options, thrown[i]);
    return !traced && options->engine == ENGINE_BYTECODE &&
           (options->events & (TRACED_ALLOC | TRACED_METHOD | TRACED_REFERENCE)) == TRACED_METHOD &&
           options->start_at.count + options->stop_at.count == 0 &&
           (options->resolution_ns == 0 || options->resolution_ns >= LEAF_RESOLUTION_NS);
}

static void prepare_for(struct session *session)
{
    uint32_t events = session->options.events;
    class_hook.armed = false;
    class_hook.session = session;
    atomic_store(&class_hook.options, &session->options);
    class_hook.alloc = (events & TRACED_ALLOC) != 0;
    class_hook.method = (events & TRACED_METHOD) != 0;
    class_hook.references = (events & TRACED_REFERENCE) != 0;
    class_hook.nameless = !session->names_objects;
    class_hook.leaf = leaf_methods_have_one_time(&session->options);
}

/* Gives the JDK's classes probes, or restores them. */
static void switch_for_proof(bool on, bool hook)
{
    if (on)
        class_hook_on();
    else
        class_hook_off();
    notify_classes(hook);
}

static bool needs_probes(const struct session *session)
{
    return (session->options.events & (TRACED_ALLOC | TRACED_METHOD)) != 0;
}

/* A success holds for all later sessions. */
static const char *bytecode_prove(JNIEnv *jni, struct session *session)
{
    static bool works;
    if (!needs_probes(session) || works)
        return NULL;
    if (!java_probes_link(jni, &session->options))
        return "the class of the probes could not be defined";
    prepare_for(session);
    const char *fault = engine_proof(jni, switch_for_proof);
    works = fault == NULL;
    return fault;
}

static bool prepare_hook(JNIEnv *jni, struct session *session)
{
    if (!java_probes_link(jni, &session->options))
        return false;
    have_probes = kept != NULL;
    if (have_probes) {
        take_over(jni, session);
        return true;
    }
    watched_methods_forget();
    archived_classes_read();
    hidden_classes_intercept(jni);
    prepare_for(session);
    class_hook.compiled_bytes = huge_methods_begin();
    if (session->options.probes == PROBES_KEPT)
        kept = options_copy(&session->options); /* no memory: as without the option */
    if (kept != NULL)
        atomic_store(&class_hook.options, kept);
    if (kept != NULL || session->gentle)
        not_probed_hold(kept != NULL);
    return true;
}

static struct retransformed add_probes(JNIEnv *jni, bool gentle)
{
    class_hook_on();
    notify_classes(true);
    if (have_probes)
        return (struct retransformed){0};
    if (class_hook.alloc)
        boxes_keep();
    class_hook_meet(jni);
    return class_hook_retransform(jni, CLASSES_WANTED, gentle);
}

/* New classes get probes from now on, too. */
static bool instrument(JNIEnv *jni, struct session *session, uint32_t *classes, uint32_t *slices)
{
    if (!needs_probes(session))
        return true;
    if (!prepare_hook(jni, session))
        return false;
    struct retransformed changed = add_probes(jni, true);
    *classes = changed.classes;
    *slices = changed.slices;
    return !tracer.dying;
}

/* Events and interceptions are enabled before the classes get their probes. An object that the VM
 * makes for a method without probes then is reported at least once; the other way round, a method
 * with probes could call a native method whose objects nobody reports. */
static void bytecode_start(JNIEnv *jni, struct session *session)
{
    if (!session->gentle && !prepare_hook(jni, session))
        return;
    if (class_hook.alloc) {
        reaper_start(jni);
        engine_notify(true, JVMTI_EVENT_VM_OBJECT_ALLOC);
        jni_calls_intercept(true, class_hook.references);
        vm_natives_intercept(jni);
    }
    if (class_hook.references)
        engine_notify(true, JVMTI_EVENT_CLASS_PREPARE);
    if (class_hook.method && native_methods_possible())
        engine_notify(true, JVMTI_EVENT_NATIVE_METHOD_BIND);
    if (!session->gentle)
        add_probes(jni, false);
    if (session->gentle || kept != NULL)
        not_probed_report();
}

/* Of engine=jvmti: the class hook adds the probes of phases, and no others. */
static void hook_phases(struct session *session, bool on)
{
    JNIEnv *jni = jvm_jni();
    if (jni == NULL)
        return;
    if (on) {
        if (!java_probes_link(jni, &session->options))
            return;
        prepare_for(session);
        class_hook.alloc = class_hook.method = class_hook.references = false;
        class_hook_on();
        engine_notify(true, JVMTI_EVENT_CLASS_FILE_LOAD_HOOK);
        class_hook_retransform(jni, CLASSES_WANTED, false);
        return;
    }
    remove_probes(jni, false);
    engine_notify(false, JVMTI_EVENT_CLASS_FILE_LOAD_HOOK);
    class_hook_forget();
}

void engine_bytecode_initialize(void)
{
    engine_phases_by(hook_phases);
}

/* The hook and the leaf calls end first: no more classes get probes, and no more code is compiled
 * with the agent's routine. The last search for the dead comes after the events of new objects are
 * off, but before those of collections (`ends_first`): it still needs the date of the last
 * collection and holds. The probes stay in the classes until restore(); the session is gone by
 * then. */
static void bytecode_stop(JNIEnv *jni, const struct session *session)
{
    if (!stay(session))
        class_hook_off();
    leaf_calls_end();
    if (class_hook.method)
        engine_notify(false, JVMTI_EVENT_NATIVE_METHOD_BIND);
    if (class_hook.references)
        engine_notify(false, JVMTI_EVENT_CLASS_PREPARE);
    if (class_hook.alloc) {
        engine_notify(false, JVMTI_EVENT_VM_OBJECT_ALLOC);
        jni_calls_intercept(false, false);
        reaper_pass(jni, true);
    }
}

static void restore(JNIEnv *jni, struct session *session)
{
    if (!needs_probes(session))
        return;
    if (stay(session))
        rest();
    else
        restore_classes(jni, session->gentle);
}

static void bytecode_enable(struct session *session, bool on)
{
    JNIEnv *jni = needs_probes(session) ? jvm_jni() : NULL;
    if (jni == NULL)
        return;
    if (on)
        bytecode_start(jni, session);
    else
        bytecode_stop(jni, session);
}

/* `methods_on` stops the native probes of methods until the start snapshot is done, `quick_methods`
 * the leaf calls. The latter have no fence and read the processor's counter, so both must be
 * available. */
static void enable_methods(struct session *session, bool on)
{
    atomic_store(&session->methods_on, on);
    atomic_store(&session->quick_methods, on && !probes_need_fence && clock_uses_counter);
}

/* The hooks of native methods and the generator of hashes check internal_is_allowed() at each
 * call. */
static void end_writes(void)
{
    leaf_calls_end();
    sights_end();
}

const struct engine engine_bytecode = {.want_capabilities = bytecode_want_capabilities,
                                       .prove = bytecode_prove,
                                       .set_callbacks = bytecode_set_callbacks,
                                       .vm_object_alloc = on_vm_object_alloc,
                                       .arm = arm,
                                       .instrument = instrument,
                                       .enable = bytecode_enable,
                                       .restore = restore,
                                       .enable_methods = enable_methods,
                                       .collection_ended = reaper_collection_ended,
                                       .virtual_starts = stores_of_continuations,
                                       .thread_leaves = constructors_leave,
                                       .last_words = constructors_end,
                                       .end_writes = end_writes,
                                       .ends_first = true};
