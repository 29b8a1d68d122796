/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From an allocation to the number of its stack.  A stack that was met before is known by the
 * machine's frames (frame_walk.h); for a new one, or one that has frames which are not understood,
 * the JVM is asked.
 */
#include "agent/stacks/stacks.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "agent/base/internals.h"
#include "agent/records/threads.h"
#include "agent/stacks/frame_walk.h"
#include "agent/stacks/stack_known.h"
#include "agent/stacks/stack_tree.h"
#include "capture/log.h"
#include "format/core/hash.h"

/* An object's own, which a probe in the last of them finds above where it is made. */
#define CONSTRUCTORS 6u
#define PROBES 1u
#define MAKINGS 512u /* a power of two */

/* Whether a method is a constructor that makes an object of a class. */
enum making { MAKING_NOT, MAKING_OWN, MAKING_SUPER };

struct making_entry {
    jmethodID method;
    uint64_t session, class;
    enum making making;
};

struct thread_stacks {
    uint32_t capacity; /* frames */
    bool walker_tried;
    struct frame_walker *walker; /* NULL: this thread's frames cannot be walked */
    struct making_entry makings[MAKINGS];
    jvmtiFrameInfo frames[];
};

static struct {
    bool on; /* frames are walked */
    _Atomic uint64_t compared, different, asked, unknown;
} walking;

void stacks_begin(struct session *session, JNIEnv *jni)
{
    const char *reason = "";
    if (session->stacks == NULL)
        return;
    atomic_store(&walking.compared, 0);
    atomic_store(&walking.different, 0);
    atomic_store(&walking.asked, 0);
    atomic_store(&walking.unknown, 0);
    walking.on = false;
    if (session->options.walk == WALK_JVMTI || !internal_is_allowed(INTERNAL_FRAMES))
        return;
    reason = "this JVM is none of those that were tested";
    walking.on = internal_try(INTERNAL_FRAMES) && frame_walk_prepare(jni, &reason);
    if (walking.on)
        internal_used(INTERNAL_FRAMES);
    else
        internal_refused(INTERNAL_FRAMES, reason);
    if (!walking.on)
        log_message("call stacks: the JVM is asked for each, which is slow: %s", reason);
}

void stacks_report(const struct session *session)
{
    if (session->options.walk == WALK_CHECK)
        log_message("call stacks: %" PRIu64 " known ones compared, %" PRIu64 " different, %" PRIu64
                    " asked for, %" PRIu64 " of them not walked",
                    atomic_load(&walking.compared), atomic_load(&walking.different),
                    atomic_load(&walking.asked), atomic_load(&walking.unknown));
}

static void thread_stacks_destroy(struct thread_stacks *stacks)
{
    if (stacks == NULL)
        return;
    frame_walker_destroy(stacks->walker);
    free(stacks);
}

void stacks_thread_ended(struct os_thread *os)
{
    thread_stacks_destroy(os->stacks);
    os->stacks = NULL;
}

static struct thread_stacks *stacks_of(struct os_thread *os, JNIEnv *jni, uint32_t capacity)
{
    struct thread_stacks *stacks = os->stacks;
    if (stacks == NULL || stacks->capacity < capacity) {
        thread_stacks_destroy(stacks);
        os->stacks = stacks = calloc(1, sizeof *stacks + capacity * sizeof stacks->frames[0]);
        if (stacks == NULL)
            return NULL;
        stacks->capacity = capacity;
    }
    if (!stacks->walker_tried && walking.on) {
        stacks->walker = frame_walker_create(jni);
        stacks->walker_tried = true;
    }
    return stacks;
}

/* Constructors go from Object.<init> out to that of the object's own class. */
static enum making ask_making(JNIEnv *jni, jmethodID method, jobject object)
{
    char *name = NULL;
    jclass declaring = NULL;
    if ((*tracer.jvmti)->GetMethodName(tracer.jvmti, method, &name, NULL, NULL) != JVMTI_ERROR_NONE)
        return MAKING_NOT;
    bool is_constructor = strcmp(name, "<init>") == 0;
    (*tracer.jvmti)->Deallocate(tracer.jvmti, (unsigned char *) name);
    if (!is_constructor ||
        (*tracer.jvmti)->GetMethodDeclaringClass(tracer.jvmti, method, &declaring) !=
            JVMTI_ERROR_NONE)
        return MAKING_NOT;
    jclass own = (*jni)->GetObjectClass(jni, object);
    enum making making = MAKING_NOT;
    if ((*jni)->IsSameObject(jni, declaring, own))
        making = MAKING_OWN;
    else if ((*jni)->IsInstanceOf(jni, object, declaring))
        making = MAKING_SUPER;
    (*jni)->DeleteLocalRef(jni, own);
    (*jni)->DeleteLocalRef(jni, declaring);
    return making;
}

static enum making making_of(struct session *session, struct thread_stacks *stacks, JNIEnv *jni,
                             jmethodID method, jobject object, uint64_t class)
{
    uint64_t hash = step_hash_join(class, (uint64_t) (uintptr_t) method);
    struct making_entry *entry = &stacks->makings[hash % MAKINGS];
    if (entry->method != method || entry->session != session->number || entry->class != class)
        *entry = (struct making_entry){.method = method,
                                       .session = session->number,
                                       .class = class,
                                       .making = ask_making(jni, method, object)};
    return entry->making;
}

/* How many of the innermost frames are making the object. */
static size_t frames_of_making(struct session *session, struct thread_stacks *stacks, JNIEnv *jni,
                               size_t depth, jobject object, uint64_t class)
{
    size_t count = 0;
    for (bool is_own = false; count < depth; count++) {
        enum making making =
            making_of(session, stacks, jni, stacks->frames[count].method, object, class);
        if (making == MAKING_NOT || (making == MAKING_SUPER && is_own))
            break;
        is_own = making == MAKING_OWN;
    }
    return count;
}

static struct stack_key key_of_frames(const jvmtiFrameInfo *frames, size_t depth)
{
    struct stack_key key = {~UINT64_C(0), depth};
    for (size_t i = 0; i < depth; i++) {
        uint64_t method = (uint64_t) (uintptr_t) frames[i].method;
        key.low = step_hash_join(step_hash_join(key.low, method), (uint64_t) frames[i].location);
        key.high = step_hash_join(key.high, method + ((uint64_t) frames[i].location << 48));
    }
    return key;
}

/* The JVM is asked for the frames; 0 if it has none. */
static uint32_t ask(struct session *session, struct thread_stacks *stacks, JNIEnv *jni,
                    jobject made, uint64_t class, size_t *making)
{
    struct stack_known *known = stack_tree_known(session->stacks);
    uint32_t wanted = session->options.stack, above = made != NULL ? CONSTRUCTORS : 0, number;
    jint got = 0;
    *making = 0;
    if ((*tracer.jvmti)
            ->GetStackTrace(tracer.jvmti, NULL, made != NULL ? PROBES : 0, (jint) (wanted + above),
                            stacks->frames, &got) != JVMTI_ERROR_NONE)
        return 0;
    size_t depth = (size_t) got, first = 0;
    if (made != NULL)
        first = frames_of_making(session, stacks, jni, depth, made, class);
    *making = first;
    size_t count = first + wanted < depth ? wanted : depth - first;
    struct stack_key key = key_of_frames(stacks->frames + first, count);
    if (stack_known_find(known, &key, &number))
        return number;
    number = stack_tree_walk(session, stacks->frames + first, count);
    stack_known_add(known, &key, number);
    return number;
}

static void compare(struct session *session, struct thread_stacks *stacks, JNIEnv *jni,
                    jobject made, uint64_t class, uint32_t number)
{
    size_t making;
    atomic_fetch_add_explicit(&walking.compared, 1, memory_order_relaxed);
    uint32_t right = ask(session, stacks, jni, made, class, &making);
    if (right != number && atomic_fetch_add(&walking.different, 1) < 10)
        log_message("call stacks: %" PRIu32 " should be %" PRIu32, number, right);
}

/* What distinguishes the calling thread's stack from others, if anything does. */
static bool find_key(const struct session *session, struct thread_stacks *stacks, bool in_java,
                     uint64_t class, struct stack_key *key)
{
    const struct frame_limit limit = {.wanted = session->options.stack,
                                      .passed = in_java ? PROBES : 0,
                                      .making = in_java ? CONSTRUCTORS : 0,
                                      .salt = step_hash_join(session->number, class)};
    return stacks->walker != NULL && walking.on && frame_walk(stacks->walker, &limit, key);
}

/* A stack that is not known; it becomes so unless a method was redefined, or a class unloaded, in
 * between. */
static uint32_t ask_and_learn(struct session *session, struct thread_stacks *stacks, JNIEnv *jni,
                              jobject made, uint64_t class, const struct stack_key *key)
{
    struct stack_key again;
    size_t making;
    uint32_t number = ask(session, stacks, jni, made, class, &making);
    atomic_fetch_add_explicit(&walking.asked, 1, memory_order_relaxed);
    if (key == NULL)
        atomic_fetch_add_explicit(&walking.unknown, 1, memory_order_relaxed);
    else if (find_key(session, stacks, made != NULL, class, &again) && again.low == key->low &&
             again.high == key->high) {
        stack_known_add(stack_tree_known(session->stacks), key, number);
        frame_walk_learn(stacks->walker, (uint32_t) making);
    }
    return number;
}

uint64_t stack_of_allocation(struct session *session, struct os_thread *os, JNIEnv *jni,
                             jobject made, uint64_t class)
{
    if (session->stacks == NULL)
        return 0;
    struct thread_stacks *stacks =
        stacks_of(os, jni, session->options.stack + (made != NULL ? CONSTRUCTORS : 0));
    if (stacks == NULL)
        return 0;
    struct stack_key key;
    uint32_t number;
    if (!find_key(session, stacks, made != NULL, class, &key))
        return ask_and_learn(session, stacks, jni, made, class, NULL);
    if (!stack_known_find(stack_tree_known(session->stacks), &key, &number))
        return ask_and_learn(session, stacks, jni, made, class, &key);
    if (__builtin_expect(session->options.walk == WALK_CHECK, 0))
        compare(session, stacks, jni, made, class, number);
    return number;
}
