/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the number of an allocation's call stack. A known stack is identified by its machine frames
 * (frame_walk.h). For a new one, or one that cannot be walked, the JVM is asked. */
#include "agent/stacks/stacks.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "agent/base/internals.h"
#include "agent/base/jvm_classes.h"
#include "agent/records/code_places.h"
#include "agent/records/threads.h"
#include "agent/stacks/composed_stacks.h"
#include "agent/stacks/frame_walk.h"
#include "agent/stacks/method_changes.h"
#include "agent/stacks/stack_known.h"
#include "agent/stacks/stack_tree.h"
#include "capture/log.h"
#include "format/core/hash.h"

/* An object's constructors, above which a probe in the last of them finds its allocation: as many
 * as the JVM is asked for at first, and as many as a walk knows stacks behind. */
#define CONSTRUCTORS 6u
#define CONSTRUCTORS_WALKED 14u
#define CONSTRUCTORS_MOST 256u /* each time the JVM begins with the innermost frame */
/* Frames of probes: the native one's, and one in Java. */
#define BETWEEN_MOST 2u
#define MAKINGS 512u /* a power of two, as is MET */
#define MET 1024u
/* Stacks with a kind of frame that must be right before that kind is trusted, and how many are then
 * taken for one that is compared. */
#define PROOFS 400u
#define TRUSTED 255u

/* How the number of a stack was found without the JVM, each of which is proven for itself. */
enum stack_finding { FOUND_KNOWN, FOUND_COMPOSED, FINDINGS };

/* The role of a frame in creating an object: none, its class's constructor, or a superclass's. */
enum making { MAKING_NOT, MAKING_OWN, MAKING_SUPER };

struct making_entry {
    jvmtiFrameInfo frame;
    uint64_t session, class;
    uint32_t age;
    enum making making;
};

/* A stack that the thread has met; number 0: free. */
struct met_stack {
    struct stack_key key;
    uint32_t number;
};

struct thread_stacks {
    uint32_t capacity; /* frames */
    bool walker_tried;
    uint32_t trusted[FINDINGS];  /* stacks that were not compared since the last that was */
    uint64_t session;            /* session in which the thread was checked for carrying virtual
                                  * threads */
    struct frame_walker *walker; /* NULL: this thread's frames cannot be walked */
    struct frame_trail *trail;   /* NULL: its new stacks are not put together */
    struct making_entry makings[MAKINGS];
    struct met_stack met[MET];
    jvmtiFrameInfo frames[];
};

static __thread uint32_t between __attribute__((tls_model("initial-exec")));

void stack_probes_between(uint32_t count)
{
    between = count;
}

/* The innermost frames that are no part of a stack: the native probe's, and those between. */
static uint32_t frames_of_probe(bool in_java)
{
    return in_java ? 1 + between : 0;
}

#define ATTEMPTS 4
#define MISREAD "a call stack differed from the JVM's"

static struct {
    _Atomic bool on;  /* frames are walked */
    bool no_carriers; /* except those of threads that carry virtual threads */
    bool to_be_proven;
    _Atomic bool misread; /* in this process: never again */
    /* stacks with such a frame that were right */
    _Atomic uint32_t proofs[FINDINGS][FRAME_KINDS];
    _Atomic uint64_t compared, different, composed, asked, unknown;
} walking;

/* Called here and not by the drain thread, which creates the tree: the JVM refuses threads that it
 * does not know. */
static void want_line_numbers(void)
{
    jvmtiCapabilities wanted;
    memset(&wanted, 0, sizeof wanted);
    wanted.can_get_line_numbers = 1;
    if (!jvm_add_capabilities(&wanted))
        log_message("call stacks: this JVM provides no line numbers");
}

static void say_that_jvm_is_asked(const char *reason)
{
    log_message("call stacks: falling back to JVMTI (slow): %s", reason);
}

void stacks_begin(struct session *session, JNIEnv *jni)
{
    const char *reason = internal_never_reason(INTERNAL_FRAMES);
    if (session->stacks == NULL)
        return;
    want_line_numbers();
    atomic_store(&walking.compared, 0);
    atomic_store(&walking.different, 0);
    atomic_store(&walking.composed, 0);
    atomic_store(&walking.asked, 0);
    atomic_store(&walking.unknown, 0);
    walking.on = false;
    if (session->options.walk != WALK_JVMTI && reason != NULL)
        say_that_jvm_is_asked(reason);
    if (session->options.walk == WALK_JVMTI || !internal_is_allowed(INTERNAL_FRAMES))
        return;
    reason = MISREAD;
    walking.to_be_proven = internals_are_to_be_proven();
    walking.on = !atomic_load(&walking.misread) && frame_walk_prepare(jni, &reason);
    walking.no_carriers = walking.on && !frame_walk_sees_carriers();
    if (walking.no_carriers && !tracer.has_virtual_threads) {
        walking.on = false;
        reason = "virtual threads are not announced";
    }
    internal_settled(INTERNAL_FRAMES, walking.on ? NULL : reason);
    if (!walking.on)
        say_that_jvm_is_asked(reason);
}

void stacks_report(const struct session *session)
{
    if (session->options.walk == WALK_CHECK)
        log_message("call stacks: %" PRIu64 " known ones compared, %" PRIu64 " different, %" PRIu64
                    " asked for, %" PRIu64 " of them not walked; %" PRIu64 " new ones composed",
                    atomic_load(&walking.compared), atomic_load(&walking.different),
                    atomic_load(&walking.asked), atomic_load(&walking.unknown),
                    atomic_load(&walking.composed));
}

static void thread_stacks_destroy(struct thread_stacks *stacks)
{
    if (stacks == NULL)
        return;
    frame_walker_destroy(stacks->walker);
    free(stacks->trail);
    free(stacks);
}

void stacks_thread_ended(struct os_thread *os)
{
    thread_stacks_destroy(os->stacks);
    os->stacks = NULL;
    os->carries = false;
}

static bool is_no_carrier(const char *signature)
{
    return strcmp(signature, "Ljdk/internal/misc/CarrierThread;") != 0 &&
           strcmp(signature, "Ljava/lang/VirtualThread;") != 0;
}

/* Announced virtual threads set os->carries; those from before the session's begin did not. */
static bool is_carrier(JNIEnv *jni)
{
    jthread thread = jvm_thread();
    if (thread == NULL)
        return true;
    jclass class = (*jni)->GetObjectClass(jni, thread);
    bool is = !class_passes(class, is_no_carrier);
    (*jni)->DeleteLocalRef(jni, class);
    (*jni)->DeleteLocalRef(jni, thread);
    return is;
}

/* Returns true if the calling thread's frames can be walked. */
static bool is_walked(const struct session *session, struct os_thread *os, JNIEnv *jni)
{
    struct thread_stacks *stacks = os->stacks;
    if (stacks->walker == NULL || !walking.on)
        return false;
    if (!walking.no_carriers)
        return true;
    if (stacks->session != session->number && !os->carries)
        os->carries = is_carrier(jni);
    stacks->session = session->number;
    return !os->carries;
}

static struct frame_trail *trail_create(uint32_t capacity)
{
    struct frame_trail *trail = malloc(sizeof *trail + capacity * sizeof trail->frames[0]);
    if (trail != NULL)
        trail->capacity = capacity;
    return trail;
}

static struct thread_stacks *stacks_of(struct os_thread *os, uint32_t capacity)
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
        stacks->walker = frame_walker_create();
        stacks->trail = stacks->walker != NULL
                            ? trail_create(capacity + CONSTRUCTORS_WALKED + BETWEEN_MOST)
                            : NULL;
        stacks->walker_tried = true;
    }
    return stacks;
}

/* Returns true if the frame calls a constructor of an object that it creates: then its code has the
 * creation at another place. A call of super() or this() has none. */
static bool creates(const jvmtiFrameInfo *frame)
{
    return code_place_of(frame->method, frame->location, true) !=
           code_place_of(frame->method, frame->location, false);
}

/* Constructors run from Object.<init> outwards to that of the object's own class. */
static enum making ask_making(JNIEnv *jni, const jvmtiFrameInfo *frame, jobject object)
{
    jclass declaring = method_is_constructor(frame->method) ? method_owner(frame->method) : NULL;
    if (declaring == NULL)
        return MAKING_NOT;
    jclass own = (*jni)->GetObjectClass(jni, object);
    enum making making = MAKING_NOT;
    if ((*jni)->IsSameObject(jni, declaring, own))
        making = MAKING_OWN;
    else if ((*jni)->IsInstanceOf(jni, object, declaring))
        making = MAKING_SUPER;
    (*jni)->DeleteLocalRef(jni, own);
    (*jni)->DeleteLocalRef(jni, declaring);
    return making != MAKING_NOT && creates(frame) ? MAKING_NOT : making;
}

static enum making making_of(struct session *session, struct thread_stacks *stacks, JNIEnv *jni,
                             const jvmtiFrameInfo *frame, jobject object, uint64_t class,
                             uint32_t age)
{
    uint64_t place = step_hash_join(class, (uint64_t) frame->location);
    uint64_t hash = step_hash_join(place, (uint64_t) (uintptr_t) frame->method);
    struct making_entry *entry = &stacks->makings[hash % MAKINGS];
    if (entry->frame.method != frame->method || entry->frame.location != frame->location ||
        entry->session != session->number || entry->class != class || entry->age != age)
        *entry = (struct making_entry){.frame = *frame,
                                       .session = session->number,
                                       .class = class,
                                       .age = age,
                                       .making = ask_making(jni, frame, object)};
    return entry->making;
}

/* Returns how many of the innermost frames make the object. Constructors run from Object.<init>
 * outwards to that of the object's own class: first superclasses, then its own, perhaps several
 * (this()). A constructor of a superclass after one of its own (`*is_own`) is of another object,
 * which creates this one. */
static size_t frames_of_making(struct session *session, struct thread_stacks *stacks, JNIEnv *jni,
                               size_t depth, jobject object, uint64_t class, uint32_t age,
                               bool *is_own)
{
    size_t count = 0;
    for (; count < depth; count++) {
        enum making making =
            making_of(session, stacks, jni, &stacks->frames[count], object, class, age);
        if (making == MAKING_NOT || (making == MAKING_SUPER && *is_own))
            break;
        *is_own = making == MAKING_OWN;
    }
    return count;
}

static struct stack_key key_of_frames(const jvmtiFrameInfo *frames, size_t depth, uint32_t age)
{
    struct stack_key key = {~(uint64_t) age, depth};
    for (size_t i = 0; i < depth; i++) {
        uint64_t method = (uint64_t) (uintptr_t) frames[i].method;
        key.low = step_hash_join(step_hash_join(key.low, method), (uint64_t) frames[i].location);
        key.high = step_hash_join(key.high, method + ((uint64_t) frames[i].location << 48));
    }
    return key;
}

/* What the JVM has answered: how many frames make the object, and the frames of the stack behind
 * them. `age` is that of the methods' ids. */
struct stack_answer {
    size_t making, count;
    const jvmtiFrameInfo *frames;
    uint32_t age;
};

/* Asks the JVM for all frames that make the object, and those of the stack behind them: first for
 * as many as suffice if CONSTRUCTORS make it, then from where these end. */
static void ask_frames(struct session *session, struct thread_stacks *stacks, JNIEnv *jni,
                       jobject made, uint64_t class, struct stack_answer *answer)
{
    uint32_t wanted = session->options.stack, most = wanted + (made != NULL ? CONSTRUCTORS : 0);
    size_t passed = frames_of_probe(made != NULL), depth, first = 0;
    bool is_own = false;
    answer->making = 0;
    do {
        passed += first;
        depth = (size_t) own_frames((jint) passed, (jint) most, stacks->frames);
        first = made != NULL ? frames_of_making(session, stacks, jni, depth, made, class,
                                                answer->age, &is_own)
                             : 0;
        answer->making += first;
    } while (first != 0 && first + wanted > depth && depth == most &&
             answer->making < CONSTRUCTORS_MOST);
    answer->frames = stacks->frames + first;
    answer->count = first + wanted < depth ? wanted : depth - first;
}

/* Returns 0 if the JVM has no frames. */
static uint32_t ask_once(struct session *session, struct thread_stacks *stacks, JNIEnv *jni,
                         jobject made, uint64_t class, struct stack_answer *answer)
{
    struct stack_known *known = stack_tree_known(session->stacks);
    uint32_t number;
    ask_frames(session, stacks, jni, made, class, answer);
    if (answer->count == 0)
        return 0;
    struct stack_key key = key_of_frames(answer->frames, answer->count, answer->age);
    if (stack_known_find(known, &key, &number))
        return number;
    number = stack_tree_walk(session, answer->frames, answer->count, answer->age);
    stack_known_add(known, &key, number);
    return number;
}

/* Asks the JVM for the stack, and returns its number. A method may be redefined after its frame is
 * read and before its line is: then its id means the new method. Reading the frame again gives
 * another id.
 *
 * The age works like the counter of a sequence lock: odd while methods are redefined, and different
 * afterwards. The answer counts if the age was even and has not changed. While it is odd for long,
 * two equal answers in a row are accepted; the attempts are limited, because this thread may be the
 * one for which the redefinition waits. */
static uint32_t stacks_ask(struct session *session, struct thread_stacks *stacks, JNIEnv *jni,
                           jobject made, uint64_t class, struct stack_answer *answer)
{
    uint32_t number = 0, before;
    int attempts = 0;
    do {
        before = number;
        answer->age = method_changes_moment(session);
        number = ask_once(session, stacks, jni, made, class, answer);
    } while ((answer->age != method_changes_moment(session) ||
              (answer->age % 2 != 0 && number != before)) &&
             ++attempts < ATTEMPTS);
    return number;
}

/* Asks the JVM for a stack that was found as well, and sets `*number` to what it says. Returns
 * false if that differs, unless methods may have changed in between. */
static bool stacks_compare(struct session *session, struct thread_stacks *stacks, JNIEnv *jni,
                           jobject made, uint64_t class, uint32_t *number)
{
    struct stack_answer answer;
    uint32_t found = *number;
    *number = stacks_ask(session, stacks, jni, made, class, &answer);
    if (!method_changes_settled())
        return true;
    atomic_fetch_add_explicit(&walking.compared, 1, memory_order_relaxed);
    if (*number != found && atomic_fetch_add(&walking.different, 1) < 10)
        log_message("call stacks: %" PRIu32 " should be %" PRIu32, found, *number);
    return *number == found;
}

/* Returns true if enough stacks with each of these kinds of frames were right. */
static bool is_proven(enum stack_finding finding, uint32_t kinds)
{
    for (int kind = 0; kind < FRAME_KINDS; kind++)
        if ((kinds >> kind & 1) != 0 &&
            atomic_load_explicit(&walking.proofs[finding][kind], memory_order_relaxed) < PROOFS)
            return false;
    return true;
}

static void misread(struct session *session)
{
    bool trusted = false;
    if (atomic_exchange(&walking.misread, true))
        return;
    atomic_store(&walking.on, false);
    internal_settled(INTERNAL_FRAMES, MISREAD);
    for (int kind = 0; kind < FRAME_KINDS; kind++)
        trusted |= is_proven(FOUND_KNOWN, 1u << kind) || is_proven(FOUND_COMPOSED, 1u << kind);
    if (trusted)
        session->stacks_fault = MISREAD;
    log_message("call stacks: falling back to JVMTI (slow) from now on: " MISREAD);
}

/* The self-test of `frames`, with the stacks of the program: a kind of frame is trusted once PROOFS
 * stacks with it were right. The first that is wrong ends the walking.
 *
 * What frames a program has is not known at load, so no test there could cover them. Until all
 * kinds of a stack are trusted the JVM's answer is recorded, so the trace is right whatever the
 * walk says. Afterwards one stack in 256 of each thread is still compared: a fault that the first
 * 400 did not show is found, late but not silently, and the trace is marked. Each kind is read in
 * one way, whatever the method, so a wrong layout shows at the first stack. */
static uint32_t stacks_prove(struct session *session, struct thread_stacks *stacks, JNIEnv *jni,
                             jobject made, uint64_t class, enum stack_finding finding,
                             uint32_t number)
{
    uint32_t kinds = frame_walk_kinds(stacks->walker);
    if (is_proven(finding, kinds) && stacks->trusted[finding]++ < TRUSTED)
        return number;
    stacks->trusted[finding] = 0;
    bool is_right = stacks_compare(session, stacks, jni, made, class, &number);
    if (!is_right)
        misread(session);
    for (int kind = 0; kind < FRAME_KINDS && is_right && method_changes_settled(); kind++)
        if ((kinds >> kind & 1) != 0)
            atomic_fetch_add_explicit(&walking.proofs[finding][kind], 1, memory_order_relaxed);
    return number;
}

/* Sets a key that distinguishes the calling thread's stack. Returns false if its frames cannot be
 * walked. */
static bool find_key(const struct session *session, struct os_thread *os, JNIEnv *jni, bool in_java,
                     uint64_t class, struct stack_key *key, struct frame_trail *trail)
{
    const struct frame_limit limit = {.wanted = session->options.stack,
                                      .passed = frames_of_probe(in_java),
                                      .making = in_java ? CONSTRUCTORS_WALKED : 0,
                                      .salt =
                                          frame_salt(session->number, class, method_changes_age())};
    return is_walked(session, os, jni) && frame_walk(os->stacks->walker, jni, &limit, key, trail);
}

/* Learns from the JVM's answer what the frames of the last walk are. */
static void learn_frames(struct session *session, const struct thread_stacks *stacks,
                         uint32_t passed, const struct stack_answer *answer)
{
    const struct composed_stack stack = {.walker = stacks->walker,
                                         .trail = stacks->trail,
                                         .first = passed + (uint32_t) answer->making,
                                         .wanted = session->options.stack,
                                         .age = method_changes_age()};
    if (stacks->trail != NULL && answer->age % 2 == 0 &&
        answer->age == method_changes_moment(session))
        composed_stack_learn(session, &stack, answer->frames, answer->count, answer->age);
}

/* Finds the number of an unknown stack, and stores it under the key unless a method was redefined
 * or a class unloaded meanwhile, or the key has too few frames for so many constructors. The key
 * was made before the JVM was asked, so the two could be of different moments; it is made again,
 * and only if both are equal does it stand for the answer. A wrong pair would be wrong for all
 * later allocations at that place. */
static uint32_t ask_and_learn(struct session *session, struct os_thread *os, JNIEnv *jni,
                              jobject made, uint64_t class, const struct stack_key *key)
{
    struct thread_stacks *stacks = os->stacks;
    struct stack_key again;
    struct stack_answer answer;
    uint32_t number = stacks_ask(session, stacks, jni, made, class, &answer);
    atomic_fetch_add_explicit(&walking.asked, 1, memory_order_relaxed);
    if (key == NULL)
        atomic_fetch_add_explicit(&walking.unknown, 1, memory_order_relaxed);
    else if (answer.making <= CONSTRUCTORS_WALKED && method_changes_settled() &&
             find_key(session, os, jni, made != NULL, class, &again, stacks->trail) &&
             again.low == key->low && again.high == key->high) {
        stack_known_add(stack_tree_known(session->stacks), key, number);
        frame_walk_learn(stacks->walker, (uint32_t) answer.making);
        learn_frames(session, stacks, frames_of_probe(made != NULL), &answer);
    }
    return number;
}

/* Puts a new stack together. Returns 0 if the JVM is to be asked: for a frame that is new, too, or
 * where it is unknown how many constructors make the object. */
static uint32_t stacks_compose(struct session *session, struct os_thread *os, JNIEnv *jni,
                               bool in_java, uint64_t class, const struct stack_key *key)
{
    struct thread_stacks *stacks = os->stacks;
    struct frame_trail *trail = stacks->trail;
    struct stack_key again;
    uint32_t age = method_changes_age();
    if (age % 2 != 0 || trail == NULL || !method_changes_settled() ||
        !find_key(session, os, jni, in_java, class, &again, trail) || again.low != key->low ||
        again.high != key->high || trail->making == MAKING_UNKNOWN)
        return 0;
    const struct composed_stack stack = {.walker = stacks->walker,
                                         .trail = trail,
                                         .first = frames_of_probe(in_java) + trail->making,
                                         .wanted = session->options.stack,
                                         .age = age};
    uint32_t number = composed_stack_number(session, &stack);
    return age == method_changes_age() ? number : 0;
}

/* Composes a stack that is not known, or asks the JVM. */
static uint32_t stack_of_new(struct session *session, struct os_thread *os, JNIEnv *jni,
                             jobject made, uint64_t class, const struct stack_key *key)
{
    struct thread_stacks *stacks = os->stacks;
    uint32_t number = stacks_compose(session, os, jni, made != NULL, class, key), right = number;
    if (number == 0)
        return ask_and_learn(session, os, jni, made, class, key);
    atomic_fetch_add_explicit(&walking.composed, 1, memory_order_relaxed);
    frame_walk_learn(stacks->walker, stacks->trail->making);
    if (session->options.walk == WALK_CHECK)
        stacks_compare(session, stacks, jni, made, class, &right);
    else
        right = stacks_prove(session, stacks, jni, made, class, FOUND_COMPOSED, number);
    if (right == number)
        stack_known_add(stack_tree_known(session->stacks), key, number);
    return right;
}

/* Finds a stack's number, in a small table of the thread first: in the session's, a look-up mostly
 * waits for memory. A key is of one session, and means the same stack in all of it. */
static bool find_known(const struct session *session, struct thread_stacks *stacks,
                       const struct stack_key *key, uint32_t *number)
{
    struct met_stack *met = &stacks->met[key->low % MET];
    if (met->key.low == key->low && met->key.high == key->high && met->number != 0) {
        *number = met->number;
        return true;
    }
    if (!stack_known_find(stack_tree_known(session->stacks), key, number))
        return false;
    *met = (struct met_stack){.key = *key, .number = *number};
    return true;
}

uint64_t stack_of_allocation(struct session *session, struct os_thread *os, JNIEnv *jni,
                             jobject made, uint64_t class)
{
    if (session->stacks == NULL)
        return 0;
    struct thread_stacks *stacks =
        stacks_of(os, session->options.stack + (made != NULL ? CONSTRUCTORS : 0));
    if (stacks == NULL)
        return 0;
    struct stack_key key;
    uint32_t number;
    if (!find_key(session, os, jni, made != NULL, class, &key, NULL))
        return ask_and_learn(session, os, jni, made, class, NULL);
    if (!find_known(session, stacks, &key, &number))
        return stack_of_new(session, os, jni, made, class, &key);
    if (__builtin_expect(session->options.walk == WALK_CHECK, 0))
        stacks_compare(session, stacks, jni, made, class, &number);
    else if (__builtin_expect(walking.to_be_proven, 0))
        return stacks_prove(session, stacks, jni, made, class, FOUND_KNOWN, number);
    return number;
}
