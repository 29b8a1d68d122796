/* SPDX-License-Identifier: Apache-2.0 */
/* A native thread that detaches from the JVM and attaches anew, as the main thread does when main()
 * returns: its frames are walked from the JVM's structure that it has now. And walks that follow
 * another at the same places of the stack. The JVM is a model: compiled frames, of which the
 * outermost one's caller is native. */
#include <CUnit/Basic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "agent/base/tracer.h"
#include "agent/stacks/frame_walk.h"
#include "tests/unit/run_suite.h"

#define PAGE_BYTES 4096u
#define CALL_STUB_RETURN ((uintptr_t) 0x7000)
#define FRAME_WORDS 4u
#define DEPTH 12u

struct tracer tracer;

/* What the JVM keeps for an attached thread, in a page that goes when it detaches. */
struct java_thread_of_vm {
    uintptr_t sp, pc, fp;
    JNIEnv environment;
};

static struct java_thread_of_vm *attached;
static uintptr_t call_stub_return = CALL_STUB_RETURN, queue[2] = {0x6000, 0};
static const uintptr_t interpreter = (uintptr_t) queue;
static const struct vm_structs vm = {.anchor_sp = 0,
                                     .anchor_pc = sizeof(uintptr_t),
                                     .anchor_fp = 2 * sizeof(uintptr_t),
                                     .queue_limit = sizeof(uintptr_t),
                                     .entry_wrapper = 1,
                                     .call_stub_return = &call_stub_return,
                                     .interpreter = &interpreter};

const struct vm_structs *vm_structs_get(const char **missing)
{
    (void) missing;
    return &vm;
}

const volatile int64_t *vm_counter(const char *name)
{
    static const volatile int64_t none;
    (void) name;
    return &none;
}

bool code_cache_prepare(const struct vm_structs *of)
{
    (void) of;
    return true;
}

/* All code is one block, which can be thrown away and used again. */
static uint32_t code_id = 5, code_searches;
static uint8_t code_used = 1;

struct code_place code_cache_find(const struct vm_structs *of, uintptr_t pc)
{
    (void) of;
    code_searches++;
    return (struct code_place){.pc = pc,
                               .check = (uintptr_t) &code_id,
                               .used = (uintptr_t) &code_used,
                               .id = code_id,
                               .frame_words = FRAME_WORDS,
                               .frames = {.low = pc + code_id, .high = pc, .count = 1}};
}

size_t code_place_methods(const struct vm_structs *of, const struct code_place *place,
                          struct code_frame methods[FRAMES_INLINED_MOST])
{
    (void) of;
    methods[0] = (struct code_frame){.method = place->pc};
    return 1;
}

struct frame_hash_powers frame_hash_powers;

void frame_hash_prepare(void)
{
    frame_hash_powers = (struct frame_hash_powers){.low = {1, 31}, .high = {1, 37}};
}

struct frame_hash frame_hash_of(const struct vm_structs *of, uintptr_t method, uint32_t index)
{
    (void) of, (void) method, (void) index;
    return (struct frame_hash){0};
}

static jvmtiError JNICALL current_thread(jvmtiEnv *jvmti, jthread *thread)
{
    (void) jvmti;
    *thread = (jthread) attached;
    return JVMTI_ERROR_NONE;
}

static jlong JNICALL get_long(JNIEnv *jni, jobject object, jfieldID field)
{
    (void) jni, (void) field;
    return (jlong) (uintptr_t) object;
}

static jclass JNICALL find_class(JNIEnv *jni, const char *name)
{
    (void) name;
    return (jclass) jni;
}

static jfieldID JNICALL field_id(JNIEnv *jni, jclass class, const char *name, const char *type)
{
    (void) class, (void) name, (void) type;
    return (jfieldID) jni;
}

static void JNICALL delete_local(JNIEnv *jni, jobject reference)
{
    (void) jni, (void) reference;
}

static jboolean JNICALL no_exception(JNIEnv *jni)
{
    (void) jni;
    return JNI_FALSE;
}

static const struct JNINativeInterface_ functions = {.ExceptionCheck = no_exception,
                                                     .FindClass = find_class,
                                                     .GetFieldID = field_id,
                                                     .GetLongField = get_long,
                                                     .DeleteLocalRef = delete_local};
static const struct jvmtiInterface_1_ of_jvm = {.GetCurrentThread = current_thread};
static jvmtiEnv jvmti = &of_jvm;

/* In another place each time. */
static JNIEnv *attach(void)
{
    attached = mmap(NULL, PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CU_ASSERT_PTR_NOT_EQUAL_FATAL(attached, MAP_FAILED);
    attached->environment = &functions;
    return &attached->environment;
}

/* The page stays taken: the next one is elsewhere. */
static void detach(void)
{
    CU_ASSERT_EQUAL(mprotect(attached, PAGE_BYTES, PROT_NONE), 0);
}

/* Java was left at `pc`, in a frame whose caller is the call stub. */
static void leave_java(uintptr_t words[32], uintptr_t pc)
{
    memset(words, 0, 32 * sizeof words[0]);
    words[FRAME_WORDS - 1] = CALL_STUB_RETURN;
    words[FRAME_WORDS - 2] = (uintptr_t) &words[8];
    words[8 + 1] = (uintptr_t) &words[16]; /* the wrapper: Java was not left before */
    attached->sp = (uintptr_t) words;
    attached->pc = pc;
    attached->fp = 0;
}

static uint64_t walk(struct frame_walker *walker, JNIEnv *jni, uintptr_t pc)
{
    uintptr_t words[32];
    struct stack_key key = {0};
    leave_java(words, pc);
    CU_ASSERT_TRUE(frame_walk(walker, jni, &(struct frame_limit){.wanted = 8}, &key, NULL));
    return key.low;
}

static void test_attached_anew(void)
{
    const char *reason = NULL;
    tracer.jvmti = &jvmti;
    tracer.java_major = 17;
    JNIEnv *jni = attach();
    if (!frame_walk_prepare(jni, &reason)) {
        printf("skipped: %s\n", reason);
        return;
    }
    struct frame_walker *walker = frame_walker_create();
    CU_ASSERT_PTR_NOT_NULL_FATAL(walker);
    uint64_t first = walk(walker, jni, 0x1234);
    uint64_t second = walk(walker, jni, 0x5678);
    CU_ASSERT_NOT_EQUAL(first, second);
    detach();
    jni = attach();
    CU_ASSERT_EQUAL(walk(walker, jni, 0x5678), second);
    CU_ASSERT_EQUAL(walk(walker, jni, 0x1234), first);
    frame_walker_destroy(walker);
}

/* DEPTH frames from `words` on, with these return addresses, and the call stub. */
static uint64_t walk_deep(struct frame_walker *walker, JNIEnv *jni, uintptr_t *words,
                          const uintptr_t pcs[DEPTH])
{
    struct stack_key key = {0};
    uintptr_t *end = words + DEPTH * FRAME_WORDS;
    memset(words, 0, (DEPTH * FRAME_WORDS + 16) * sizeof words[0]);
    for (size_t i = 1; i < DEPTH; i++)
        words[i * FRAME_WORDS - 1] = pcs[i];
    end[-1] = CALL_STUB_RETURN;
    end[-2] = (uintptr_t) end;
    end[1] = (uintptr_t) &end[8];
    attached->sp = (uintptr_t) words;
    attached->pc = pcs[0];
    attached->fp = 0;
    CU_ASSERT_TRUE(frame_walk(walker, jni, &(struct frame_limit){.wanted = DEPTH + 2}, &key, NULL));
    return key.low;
}

/* What a walker says that has met nothing before. */
static uint64_t walk_afresh(JNIEnv *jni, uintptr_t *words, const uintptr_t pcs[DEPTH])
{
    struct frame_walker *walker = frame_walker_create();
    CU_ASSERT_PTR_NOT_NULL_FATAL(walker);
    uint64_t key = walk_deep(walker, jni, words, pcs);
    frame_walker_destroy(walker);
    return key;
}

/* After a walk, one at the same place, with one word changed at each depth, and one further in. */
static void test_walks_follow(void)
{
    const char *reason = NULL;
    uintptr_t words[(DEPTH + 1) * FRAME_WORDS + 16], pcs[DEPTH];
    tracer.jvmti = &jvmti;
    tracer.java_major = 17;
    JNIEnv *jni = attach();
    struct frame_walker *walker = frame_walk_prepare(jni, &reason) ? frame_walker_create() : NULL;
    if (walker == NULL) {
        printf("skipped: %s\n", reason);
        return;
    }
    for (size_t i = 0; i < DEPTH; i++)
        pcs[i] = i % 3 == 2 ? pcs[i - 1] : 0x1000 + 16 * i; /* some frames are of one recursion */
    uint64_t first = walk_deep(walker, jni, words, pcs);
    for (size_t i = 0; i < DEPTH; i++) {
        pcs[i] ^= 0x100000;
        uint64_t other = walk_deep(walker, jni, words, pcs);
        CU_ASSERT_NOT_EQUAL(other, first);
        CU_ASSERT_EQUAL(other, walk_afresh(jni, words, pcs));
        pcs[i] ^= 0x100000;
        CU_ASSERT_EQUAL(walk_deep(walker, jni, words, pcs), first);
        CU_ASSERT_EQUAL(walk_deep(walker, jni, words + FRAME_WORDS, pcs), first);
    }
    uint32_t searches = code_searches;
    CU_ASSERT_EQUAL(walk_deep(walker, jni, words, pcs), first);
    CU_ASSERT_EQUAL(code_searches, searches);
    code_id++; /* other code at the same addresses */
    uint64_t reused = walk_deep(walker, jni, words, pcs);
    CU_ASSERT_NOT_EQUAL(reused, first);
    CU_ASSERT_EQUAL(reused, walk_afresh(jni, words, pcs));
    searches = code_searches;
    code_used = 0; /* nothing that is remembered counts */
    CU_ASSERT_EQUAL(walk_deep(walker, jni, words, pcs), reused);
    CU_ASSERT_EQUAL(code_searches, searches + DEPTH);
    code_used = 1;
    frame_walker_destroy(walker);
}

static int compare_salts(const void *left, const void *right)
{
    const uint64_t *one = left, *other = right;
    return (*one > *other) - (*one < *other);
}

/* The stack of a class in one session must not be found as that of another class in a later one,
 * nor after methods have changed. */
static void test_salts(void)
{
    enum { SESSIONS = 64, CLASSES = 256, AGES = 4, SALTS = SESSIONS * CLASSES * AGES };
    static uint64_t salts[SALTS];
    for (uint32_t i = 0; i < SALTS; i++)
        salts[i] = frame_salt(1 + i / CLASSES / AGES, i / AGES % CLASSES, i % AGES);
    qsort(salts, SALTS, sizeof salts[0], compare_salts);
    size_t equal = 0;
    for (size_t i = 1; i < SALTS; i++)
        equal += salts[i] == salts[i - 1];
    CU_ASSERT_EQUAL(equal, 0);
}

void add_suite(void)
{
    CU_pSuite suite = CU_add_suite("frame walk", NULL, NULL);
    CU_add_test(suite, "a thread that attaches anew", test_attached_anew);
    CU_add_test(suite, "salts of sessions and classes", test_salts);
    CU_add_test(suite, "walks that follow another", test_walks_follow);
}
