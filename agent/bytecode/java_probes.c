/* SPDX-License-Identifier: Apache-2.0 */
/* Entry points from Java code into the agent: one function per probe. */
#include "agent/bytecode/java_probes.h"

#include <stdlib.h>

#include "agent/base/exceptions.h"
#include "agent/base/internals.h"
#include "agent/base/jvm_classes.h"
#include "agent/bytecode/class_hook.h"
#include "agent/bytecode/method_events.h"
#include "agent/bytecode/new_objects.h"
#include "agent/bytecode/phase_methods.h"
#include "agent/bytecode/quick_events.h"
#include "agent/bytecode/reference_stores.h"
#include "agent/bytecode/vm_objects.h"
#include "agent/records/method_counts.h"
#include "agent/references/sights.h"
#include "agent/rewriter/rewrite.h"
#include "agent/stacks/stacks.h"
#include "capture/log.h"

typedef void of_object(struct session *session, struct os_thread *os, JNIEnv *jni, jobject object);

/* Inlined together with the function that it calls. */
static inline void report_object(JNIEnv *jni, jobject object, of_object *take)
{
    struct os_thread *os;
    struct session *session = probe_enter(&os);
    if (session == NULL)
        return;
    take(session, os, jni, object);
    object_probe_leave(os, jni);
}

static void JNICALL on_alloc(JNIEnv *jni, jclass class, jobject object)
{
    (void) class;
    report_object(jni, object, object_made);
}

/* Same, called by alloc() in Java. The class of the probes is defined once per process: it may have
 * been for a session without call stacks, while this one has them. */
static void JNICALL on_alloc_aside(JNIEnv *jni, jclass class, jobject object)
{
    (void) class;
    stack_probes_between(1);
    report_object(jni, object, object_made);
    stack_probes_between(0);
}

enum clone { BY_CLASS, BY_SUPER, SURELY };

static void cloned(JNIEnv *jni, jobject from, jobject object, enum clone how)
{
    struct os_thread *os;
    struct session *session = probe_enter(&os);
    if (session == NULL)
        return;
    if (how == SURELY ||
        (object != NULL && clone_is_of_object(session, os, jni, from, how == BY_SUPER))) {
        object_made(session, os, jni, object);
        if (stores_wanted(session))
            store_clone(session, os, jni, from, object);
    }
    object_probe_leave(os, jni);
}

static void JNICALL on_alloc_cloned(JNIEnv *jni, jclass class, jobject from, jobject object)
{
    (void) class;
    cloned(jni, from, object, BY_CLASS);
}

static void JNICALL on_alloc_super_cloned(JNIEnv *jni, jclass class, jobject from, jobject object)
{
    (void) class;
    cloned(jni, from, object, BY_SUPER);
}

static void JNICALL on_store_clone(JNIEnv *jni, jclass class, jobject from, jobject object)
{
    (void) class;
    cloned(jni, from, object, SURELY);
}

static void JNICALL on_alloc_unless(JNIEnv *jni, jclass class, jobject object, jobject known)
{
    if (object != NULL && !(*jni)->IsSameObject(jni, object, known))
        on_alloc(jni, class, object);
}

static void JNICALL on_alloc_string(JNIEnv *jni, jclass class, jobject string)
{
    (void) class;
    report_object(jni, string, object_made_string);
    stores_of_vm(jni, string);
}

static void JNICALL on_alloc_trace(JNIEnv *jni, jclass class, jobject throwable)
{
    (void) class;
    report_object(jni, throwable, throwable_traced);
}

static void JNICALL on_alloc_message(JNIEnv *jni, jclass class, jobject throwable, jobject message)
{
    (void) class, (void) throwable;
    report_object(jni, message, throwable_named);
}

static void JNICALL on_alloc_arrays(JNIEnv *jni, jclass class, jobject array, jint dimensions)
{
    struct os_thread *os;
    struct session *session = probe_enter(&os);
    (void) class;
    if (session == NULL)
        return;
    object_made_arrays(session, os, jni, array, dimensions);
    if (stores_wanted(session))
        stores_of_arrays(session, os, jni, array, dimensions);
    object_probe_leave(os, jni);
}

/* What java_probes_link() was asked for: calls are counted; methods may begin or end the trace, and
 * there are no leaf calls. */
enum { COUNTS = 1, WATCHES = 2 };
static _Atomic unsigned modes;

static bool counts(void)
{
    return (atomic_load_explicit(&modes, memory_order_relaxed) & COUNTS) != 0;
}

/* Called first at an entry. Returns true if the event may take the fast path. */
static bool begins_quickly(JNIEnv *jni, jint number)
{
    if (__builtin_expect(atomic_load_explicit(&modes, memory_order_relaxed) == 0, 1))
        return true;
    if ((atomic_load(&modes) & WATCHES) != 0)
        watched_method_entered(jni, (uint32_t) number);
    return !counts();
}

enum entry { OF_METHOD, OF_CONSTRUCTOR, OF_CONSTRUCTOR_IN_SUPER };

static void java_probes_enter(JNIEnv *jni, jint number, jobject object, enum entry entry)
{
    struct os_thread *os;
    struct session *session = probe_enter(&os);
    if (session == NULL)
        return;
    if (session->options.method == METHOD_COUNT)
        method_counts_entered(session, os, (uint32_t) number);
    else
        method_entered(session, os, jni, (uint32_t) number, object, entry != OF_METHOD);
    if (entry == OF_CONSTRUCTOR_IN_SUPER)
        method_calls_super(session, os, (uint32_t) number);
    probe_leave(os);
}

static void JNICALL on_entry(JNIEnv *jni, jclass class, jint number)
{
    (void) class;
    if (!begins_quickly(jni, number) || !enter_quickly((uint32_t) number, false))
        java_probes_enter(jni, number, NULL, OF_METHOD);
}

static void JNICALL on_entry_this(JNIEnv *jni, jclass class, jint number, jobject object)
{
    (void) class;
    if (!begins_quickly(jni, number) || !enter_quickly((uint32_t) number, true))
        java_probes_enter(jni, number, object, OF_METHOD);
}

static void JNICALL on_entry_new(JNIEnv *jni, jclass class, jint number)
{
    (void) class;
    begins_quickly(jni, number);
    java_probes_enter(jni, number, NULL, OF_CONSTRUCTOR);
}

static void JNICALL on_entry_super(JNIEnv *jni, jclass class, jint number)
{
    (void) class;
    begins_quickly(jni, number);
    java_probes_enter(jni, number, NULL, OF_CONSTRUCTOR_IN_SUPER);
}

static void JNICALL on_super(JNIEnv *jni, jclass class, jint number)
{
    struct os_thread *os;
    struct session *session = counts() ? NULL : probe_enter(&os);
    (void) jni, (void) class;
    if (session == NULL)
        return;
    method_calls_super(session, os, (uint32_t) number);
    probe_leave(os);
}

static void JNICALL on_constructed(JNIEnv *jni, jclass class, jint number, jobject object)
{
    struct os_thread *os;
    struct session *session = counts() ? NULL : probe_enter(&os);
    (void) class;
    if (session == NULL)
        return;
    method_constructed(session, os, jni, (uint32_t) number, object);
    probe_leave(os);
}

static void java_probes_leave(jint number, enum method_leave how)
{
    struct os_thread *os;
    struct session *session = probe_enter(&os);
    if (session == NULL)
        return;
    if (session->options.method == METHOD_COUNT)
        method_counts_left(session, os, (uint32_t) number, how);
    else
        method_left(session, os, (uint32_t) number, how);
    probe_leave(os);
}

static void end_watch(jint number)
{
    if ((atomic_load_explicit(&modes, memory_order_relaxed) & WATCHES) != 0)
        watched_method_left((uint32_t) number);
}

static void JNICALL on_exit_normal(JNIEnv *jni, jclass class, jint number)
{
    (void) jni, (void) class;
    if (counts() || !leave_quickly((uint32_t) number))
        java_probes_leave(number, LEAVE_RETURN);
    end_watch(number);
}

static void JNICALL on_unwind(JNIEnv *jni, jclass class, jint number)
{
    (void) jni, (void) class;
    java_probes_leave(number, LEAVE_UNWIND);
    end_watch(number);
}

/* For a leaf method: nothing else has happened since its entry. */
static void called(JNIEnv *jni, jint number, enum method_leave how)
{
    struct os_thread *os;
    struct session *session = probe_enter(&os);
    if (session == NULL)
        return;
    if (session->options.method == METHOD_COUNT) {
        method_counts_called(session, os, (uint32_t) number, how);
    } else {
        method_entered(session, os, jni, (uint32_t) number, NULL, false);
        method_left(session, os, (uint32_t) number, how);
    }
    probe_leave(os);
}

static void JNICALL on_call(JNIEnv *jni, jclass class, jint number)
{
    (void) class;
    if (counts() || !call_quickly((uint32_t) number))
        called(jni, number, LEAVE_RETURN);
}

static void JNICALL on_call_unwind(JNIEnv *jni, jclass class, jint number)
{
    (void) class;
    called(jni, number, LEAVE_UNWIND);
}

static void JNICALL on_caught(JNIEnv *jni, jclass class, jint number)
{
    (void) jni, (void) class;
    java_probes_leave(number, LEAVE_CAUGHT);
}

union probe_function {
    void(JNICALL *object)(JNIEnv *, jclass, jobject);
    void(JNICALL *objects)(JNIEnv *, jclass, jobject, jobject);
    void(JNICALL *object_number)(JNIEnv *, jclass, jobject, jint);
    void(JNICALL *objects_number)(JNIEnv *, jclass, jobject, jobject, jint);
    void(JNICALL *element)(JNIEnv *, jclass, jobject, jint, jobject);
    void(JNICALL *range)(JNIEnv *, jclass, jobject, jint, jobject, jint, jint);
    void(JNICALL *offset)(JNIEnv *, jclass, jobject, jlong, jobject);
    void(JNICALL *set)(JNIEnv *, jclass, jboolean, jobject, jlong, jobject);
    void(JNICALL *exchanged)(JNIEnv *, jclass, jobject, jobject, jobject, jlong, jobject);
    void(JNICALL *number)(JNIEnv *, jclass, jint);
    void(JNICALL *number_object)(JNIEnv *, jclass, jint, jobject);
    void *address;
};

static const union probe_function functions[PROBE_COUNT] = {
    [PROBE_ALLOC] = {.object = on_alloc},
    [PROBE_ALLOC_CLONED] = {.objects = on_alloc_cloned},
    [PROBE_ALLOC_SUPER_CLONED] = {.objects = on_alloc_super_cloned},
    [PROBE_ALLOC_UNLESS] = {.objects = on_alloc_unless},
    [PROBE_ALLOC_STRING] = {.object = on_alloc_string},
    [PROBE_ALLOC_TRACE] = {.object = on_alloc_trace},
    [PROBE_ALLOC_MESSAGE] = {.objects = on_alloc_message},
    [PROBE_ALLOC_ARRAYS] = {.object_number = on_alloc_arrays},
    [PROBE_STORE_FIELD] = {.objects_number = on_store_field},
    [PROBE_STORE_STATIC] = {.object_number = on_store_static},
    [PROBE_STORE_ELEMENT] = {.element = on_store_element},
    [PROBE_STORE_CLONE] = {.objects = on_store_clone},
    [PROBE_STORE_COPY] = {.objects_number = on_store_copy},
    [PROBE_STORE_RANGE] = {.range = on_store_range},
    [PROBE_STORE_OFFSET] = {.offset = on_store_offset},
    [PROBE_STORE_SET] = {.set = on_store_set},
    [PROBE_STORE_EXCHANGED] = {.exchanged = on_store_exchanged},
    [PROBE_STORES_OF] = {.object = on_stores_of},
    [PROBE_STORES_OF_ELEMENTS] = {.object = on_stores_of_elements},
    [PROBE_STORES_OF_STATICS] = {.object = on_stores_of_statics},
    [PROBE_PHASE_ENTRY] = {.number = on_phase_entry},
    [PROBE_PHASE_ENTRY_OF] = {.number_object = on_phase_entry_of},
    [PROBE_PHASE_EXIT] = {.number = on_phase_exit},
    [PROBE_PHASE_UNWIND] = {.number = on_phase_exit},
    [PROBE_PHASE_CAUGHT] = {.number = on_phase_caught},
    [PROBE_ENTRY] = {.number = on_entry},
    [PROBE_ENTRY_THIS] = {.number_object = on_entry_this},
    [PROBE_ENTRY_NEW] = {.number = on_entry_new},
    [PROBE_ENTRY_SUPER] = {.number = on_entry_super},
    [PROBE_SUPER] = {.number = on_super},
    [PROBE_CONSTRUCTED] = {.number_object = on_constructed},
    [PROBE_EXIT] = {.number = on_exit_normal},
    [PROBE_UNWIND] = {.number = on_unwind},
    [PROBE_CAUGHT] = {.number = on_caught},
    [PROBE_CALL] = {.number = on_call},
    [PROBE_CALL_UNWIND] = {.number = on_call_unwind},
};

static const char *const descriptors[PROBE_COUNT] = {
#define PROBE_DESCRIPTOR(name, text, descriptor) descriptor,
    PROBE_METHODS(PROBE_DESCRIPTOR)
#undef PROBE_DESCRIPTOR
};

static struct {
    jclass probes; /* global reference */
    unsigned ways; /* which probes are in Java */
} linking;

static jclass java_probes_define_class(JNIEnv *jni)
{
    size_t size = 0;
    uint8_t *bytes = probe_class_file(linking.ways, &size);
    jclass class = NULL;
    if (bytes != NULL)
        class = (*jni)->DefineClass(jni, PROBE_CLASS, NULL, (const jbyte *) bytes, (jsize) size);
    free(bytes);
    return class;
}

/* The JNI table of methods has pointers without types and texts that are not const. */
static bool link_methods(JNIEnv *jni)
{
    JNINativeMethod methods[PROBE_COUNT];
    for (size_t i = 0; i < PROBE_COUNT; i++) {
        union {
            const char *in;
            char *out;
        } name = {probe_native_name((enum probe) i, linking.ways)}, descriptor = {descriptors[i]};
        methods[i] = (JNINativeMethod){name.out, descriptor.out, functions[i].address};
    }
    if ((linking.ways & PROBES_SHOW_NEW) != 0) {
        const union probe_function aside = {.object = on_alloc_aside};
        methods[PROBE_ALLOC].fnPtr = aside.address;
    }
    return natives_register(jni, linking.probes, methods, PROBE_COUNT);
}

/* Probes in Java are between a method and the native ones. */
static void note_ways(JNIEnv *jni)
{
    for (int i = 0; i < PROBE_COUNT; i++) {
        const char *name = probe_native_name((enum probe) i, 0);
        if (probe_native_name((enum probe) i, linking.ways) != name)
            method_called_through(
                (*jni)->GetStaticMethodID(jni, linking.probes, name, descriptors[i]));
    }
}

/* Once per process: a class of the boot loader cannot be removed, and rewritten classes are linked
 * to it. Which probes are in Java is therefore decided by the first session that needs the class.
 * Later ones switch what these do: leaf_calls_use() and sights_use() below. The natives are
 * registered before any class is rewritten, because a native method that is not linked is looked up
 * at its first call, which allocates, which calls a probe. */
static bool define_probes(JNIEnv *jni, bool methods, unsigned shows)
{
    if (linking.probes != NULL)
        return true;
    if (shows != 0 && !sights_possible())
        shows = 0;
    if ((methods || shows != 0) && internal_is_allowed(INTERNAL_TAN) && leaf_calls_possible())
        linking.ways = PROBES_LEAF | shows;
    jclass class = java_probes_define_class(jni);
    linking.probes = class != NULL ? (*jni)->NewGlobalRef(jni, class) : NULL;
    if (linking.probes == NULL)
        return false;
    natives_link_by(linking.probes);
    note_ways(jni);
    if ((linking.ways & (PROBES_SHOW | PROBES_SHOW_NEW)) != 0)
        sights_make(jni, linking.probes);
    return true;
}

/* Objects are shown if methods name them, or if new ones only have to be remembered. */
static unsigned what_is_shown(const struct options *options)
{
    if ((options->events & TRACED_ALLOC) == 0 || options->engine != ENGINE_BYTECODE)
        return 0;
    if ((options->events & TRACED_METHOD) != 0)
        return options->method != METHOD_COUNT ? PROBES_SHOW : 0;
    return (options->events & TRACED_REFERENCE) == 0 && !options->collects && options->stack == 0
               ? PROBES_SHOW_NEW
               : 0;
}

/* Another copy of the agent has the class: that is why it could not be defined. */
static bool is_another_agents(JNIEnv *jni)
{
    jclass found = linking.probes == NULL ? class_find(jni, PROBE_CLASS) : NULL;
    (*jni)->DeleteLocalRef(jni, found);
    return found != NULL;
}

static void say_unlinked(JNIEnv *jni)
{
    if (is_another_agents(jni)) {
        log_message("this JVM has another copy of the agent already");
        return;
    }
    (*jni)->ExceptionDescribe(jni);
    log_message("the class of the probes could not be defined");
}

bool java_probes_link(JNIEnv *jni, const struct options *options)
{
    static bool linked;
    bool counts = options->method == METHOD_COUNT;
    bool watched = options->start_at.count + options->stop_at.count != 0;
    bool of_engine = options->engine == ENGINE_BYTECODE; /* else only phases have probes */
    bool methods = of_engine && (options->events & TRACED_METHOD) != 0;
    enum leaf_mode quickly = counts ? LEAF_COUNT : LEAF_RECORD;
    unsigned shows = what_is_shown(options);
    atomic_store(&modes, (counts ? COUNTS : 0u) | (watched ? WATCHES : 0u));
    jthrowable of_program = exception_set_aside(jni);
    linked = linked || (define_probes(jni, methods, shows) && link_methods(jni));
    if (!linked)
        say_unlinked(jni);
    exception_restore(jni, of_program, !linked, THROWN_BY_JAVA);
    if (!linked)
        return false;
    if ((linking.ways & PROBES_LEAF) != 0)
        leaf_calls_use(jni, linking.probes, of_engine && !watched ? quickly : LEAF_LEAVE);
    sights_use(shows != 0 && !watched);
    return true;
}
