/* SPDX-License-Identifier: Apache-2.0 */
/* A native thread that detaches from the JVM and attaches anew, as the main thread does when main()
 * returns: its frames are walked from the JVM's structure that it has now.  The JVM is a model: one
 * compiled frame, whose caller is native. */
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

struct code_place code_cache_find(const struct vm_structs *of, uintptr_t pc)
{
    static const uint8_t used = 1;
    static const uint32_t id = 5;
    (void) of;
    return (struct code_place){.pc = pc,
                               .check = (uintptr_t) &id,
                               .used = (uintptr_t) &used,
                               .id = id,
                               .frame_words = FRAME_WORDS,
                               .frames = {.low = pc, .high = pc, .count = 1}};
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
    CU_ASSERT_TRUE(frame_walk(walker, jni, &(struct frame_limit){.wanted = 8}, &key));
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

void add_suite(void)
{
    CU_pSuite suite = CU_add_suite("frame walk", NULL, NULL);
    CU_add_test(suite, "a thread that attaches anew", test_attached_anew);
}
