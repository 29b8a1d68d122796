/* SPDX-License-Identifier: Apache-2.0 */
/* engine=sampled awaits the deaths of live= objects at most: who is given up, what the trace is
 * informed of the threshold, and that each weak reference is deleted once.  A JVM of a few
 * functions holds the references; objects are numbers. */
#include <CUnit/Basic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/events/engine.h"
#include "agent/events/events.h"
#include "agent/events/sampled_lives.h"
#include "agent/records/classes.h"
#include "tests/unit/run_suite.h"

enum { LIMIT = 50, OBJECTS = 1000 };
#define LOTS (UINT64_C(1) << 53)

struct tracer tracer; /* else that of the entry points */

static struct session session;

/* ---- the JVM: a reference to an object is its address here ---- */

struct object {
    uint64_t id;
    jlong tag;
    unsigned references; /* weak ones that are not deleted */
    bool is_dead;
};

static struct object objects[OBJECTS + 1];
static unsigned wrong_deletes;
static bool is_out_of_memory;

static jobject new_weak(JNIEnv *jni, jobject object)
{
    (void) jni;
    if (is_out_of_memory)
        return NULL;
    ((struct object *) (void *) object)->references++;
    return object;
}

static void delete_weak(JNIEnv *jni, jweak weak)
{
    struct object *object = (void *) weak;
    (void) jni;
    wrong_deletes += object->references == 0;
    object->references -= object->references > 0;
}

static jobject new_local(JNIEnv *jni, jobject weak)
{
    (void) jni;
    return ((struct object *) (void *) weak)->is_dead ? NULL : weak;
}

static void delete_local(JNIEnv *jni, jobject local)
{
    (void) jni, (void) local;
}

static jboolean has_exception(JNIEnv *jni)
{
    (void) jni;
    return JNI_FALSE;
}

static jvmtiError JNICALL get_tag(jvmtiEnv *jvmti, jobject object, jlong *tag)
{
    (void) jvmti;
    *tag = ((struct object *) (void *) object)->tag;
    return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL set_tag(jvmtiEnv *jvmti, jobject object, jlong tag)
{
    (void) jvmti;
    ((struct object *) (void *) object)->tag = tag;
    return JVMTI_ERROR_NONE;
}

static const struct JNINativeInterface_ jni_functions = {.NewWeakGlobalRef = new_weak,
                                                         .DeleteWeakGlobalRef = delete_weak,
                                                         .NewLocalRef = new_local,
                                                         .DeleteLocalRef = delete_local,
                                                         .ExceptionCheck = has_exception};
static JNIEnv jni = &jni_functions;
static const struct jvmtiInterface_1_ jvmti_functions = {.GetTag = get_tag, .SetTag = set_tag};
static jvmtiEnv jvmti = &jvmti_functions;

static jint get_env(JavaVM *vm, void **out, jint version)
{
    (void) vm, (void) version;
    *out = &jni;
    return JNI_OK;
}

static const struct JNIInvokeInterface_ vm_functions = {.GetEnv = get_env};
static JavaVM vm = &vm_functions;

/* ---- samples ---- */

/* What the trace was told. */
static uint64_t last_threshold;
static bool is_given_up[OBJECTS + 1];
static size_t given_up;

static void begin_lives(void)
{
    memset(objects, 0, sizeof objects);
    memset(is_given_up, 0, sizeof is_given_up);
    wrong_deletes = 0;
    given_up = 0;
    last_threshold = LOTS;
    CU_ASSERT_TRUE_FATAL(sampled_lives_begin(&session));
}

/* A record of an object that was given up, or of another threshold alone. */
static void note_given_up(uint64_t object, uint64_t threshold)
{
    CU_ASSERT_FATAL(object <= OBJECTS);
    CU_ASSERT_TRUE(threshold > 0 && threshold <= LOTS);
    CU_ASSERT_FALSE(object != 0 && is_given_up[object]); /* once */
    CU_ASSERT_TRUE(object == 0 ? threshold > last_threshold : threshold <= last_threshold);
    is_given_up[object] = object != 0;
    given_up += object != 0;
    last_threshold = threshold;
}

/* A chunk that is full is followed by another. */
static void add(uint64_t id)
{
    const struct live_stream *frees = session.frees;
    const uint64_t *base = frees->base, *word = frees->cursor;
    objects[id] = (struct object){.id = id, .tag = tag_of_object(&session, id)};
    sampled_lives_add(&session, &jni, (jobject) (void *) &objects[id], id);
    for (word = frees->base == base ? word : frees->base; word < frees->cursor; word++)
        if ((*word & ((1u << STEP_LIVE_KIND_BITS) - 1)) == STEP_LIVE_FACT &&
            word[1] == STEP_LIVE_GIVEN_UP) {
            note_given_up(word[3], word[4]);
            word += 4;
        }
}

/* The object dies; returns whether that was awaited. */
static bool die(uint64_t id)
{
    event_frees_enter();
    objects[id].is_dead = true;
    bool is_awaited = sampled_lives_take(&session, id);
    event_frees_leave();
    return is_awaited;
}

static uint64_t references(void)
{
    uint64_t sum = 0;
    for (size_t i = 1; i <= OBJECTS; i++)
        sum += objects[i].references;
    return sum;
}

/* ---- the tests ---- */

/* As many are awaited as there is room for, and the death of each is recorded. */
static void test_few(void)
{
    begin_lives();
    for (uint64_t id = 1; id <= LIMIT; id++)
        add(id);
    CU_ASSERT_EQUAL(references(), LIMIT);
    CU_ASSERT_EQUAL(given_up, 0);
    CU_ASSERT_EQUAL(last_threshold, LOTS);
    for (uint64_t id = 1; id <= LIMIT; id++) {
        CU_ASSERT_TRUE(die(id));
        CU_ASSERT_FALSE(die(id)); /* once */
    }
    CU_ASSERT_FALSE(die(LIMIT + 1)); /* that is not known */
    sampled_lives_end();
    CU_ASSERT_EQUAL(references(), 0);
    CU_ASSERT_EQUAL(wrong_deletes, 0);
}

/* Of 1,000 objects that live 50 are awaited; the trace names all others, and these have neither
 * tag nor reference. */
static void test_many(void)
{
    begin_lives();
    for (uint64_t id = 1; id <= OBJECTS; id++)
        add(id);
    CU_ASSERT_TRUE(references() <= LIMIT);
    size_t awaited = 0, early = 0;
    for (uint64_t id = 1; id <= OBJECTS; id++) {
        CU_ASSERT_EQUAL(objects[id].references != 0, !is_given_up[id]);
        CU_ASSERT_EQUAL(objects[id].tag != 0, !is_given_up[id]);
        awaited += !is_given_up[id];
        early += !is_given_up[id] && id <= OBJECTS / 2;
        CU_ASSERT_EQUAL(die(id), !is_given_up[id]);
    }
    CU_ASSERT_EQUAL(awaited, LIMIT);
    CU_ASSERT_EQUAL(given_up, OBJECTS - LIMIT);
    /* whatever their age: half of them are of the first half, within six standard deviations */
    CU_ASSERT_TRUE(early > 5 && early < 45);
    /* 50 in 1,000 lots are below the threshold, give or take six deviations of a seventh */
    CU_ASSERT_DOUBLE_EQUAL((double) last_threshold / (double) LOTS, (double) LIMIT / OBJECTS,
                           6.0 / 7 * LIMIT / OBJECTS);
    sampled_lives_end();
    CU_ASSERT_EQUAL(references(), 0);
    CU_ASSERT_EQUAL(wrong_deletes, 0);
}

/* When most have died, the threshold doubles with each object that is awaited, until all are: of a
 * threshold of a tenth within some 20 objects. */
static void test_recovery(void)
{
    uint64_t id = 1;
    begin_lives();
    for (; id <= 500; id++)
        add(id);
    for (uint64_t dead = 1; dead <= 500; dead++)
        die(dead);
    for (; id <= 800; id++) {
        add(id);
        die(id);
    }
    CU_ASSERT_EQUAL(last_threshold, LOTS);
    for (; id <= 800 + LIMIT; id++)
        add(id);
    CU_ASSERT_EQUAL(last_threshold, LOTS);
    for (uint64_t last = 801; last <= 800 + LIMIT; last++)
        CU_ASSERT_TRUE(die(last));
    sampled_lives_end();
    CU_ASSERT_EQUAL(references(), 0);
    CU_ASSERT_EQUAL(wrong_deletes, 0);
}

/* Without memory for a reference an object is awaited all the same; there is nothing to delete. */
static void test_no_reference(void)
{
    begin_lives();
    is_out_of_memory = true;
    for (uint64_t id = 1; id <= 2 * LIMIT; id++)
        add(id);
    is_out_of_memory = false;
    size_t awaited = 0;
    for (uint64_t id = 1; id <= 2 * LIMIT; id++)
        awaited += die(id);
    CU_ASSERT_EQUAL(awaited, LIMIT);
    sampled_lives_end();
    CU_ASSERT_EQUAL(wrong_deletes, 0);
}

/* Classes and loaders have tags for their numbers: these stay. */
static void test_classes_keep_tags(void)
{
    begin_lives();
    for (uint64_t id = 1; id <= 1000; id++) {
        objects[id] = (struct object){.id = id, .tag = TAG_CLASS | (jlong) id};
        sampled_lives_add(&session, &jni, (jobject) (void *) &objects[id], id);
    }
    sampled_lives_end();
    for (uint64_t id = 1; id <= 1000; id++)
        CU_ASSERT_EQUAL(objects[id].tag, (jlong) (TAG_CLASS | (jlong) id));
    CU_ASSERT_EQUAL(references(), 0);
}

/* Another session, or none, awaits nothing; its samples leave no reference behind. */
static void test_other_session(void)
{
    struct session other = session;
    begin_lives();
    other.number = session.number + 1;
    objects[1] = (struct object){.id = 1, .tag = 5};
    sampled_lives_add(&other, &jni, (jobject) (void *) &objects[1], 1);
    CU_ASSERT_EQUAL(references(), 0);
    add(2);
    event_frees_enter();
    CU_ASSERT_FALSE(sampled_lives_take(&other, 2));
    CU_ASSERT_TRUE(sampled_lives_take(&session, 2));
    event_frees_leave();
    sampled_lives_end();
    add(3);
    CU_ASSERT_EQUAL(references(), 0);
    CU_ASSERT_EQUAL(wrong_deletes, 0);
}

/* ---- the session ---- */

static int begin_session(void)
{
    static const struct engine engine;
    struct step_error error;
    char path[] = "/tmp/sampled_lives.XXXXXX";
    int descriptor = mkstemp(path);
    tracer.vm = &vm;
    tracer.jvmti = &jvmti;
    session.engine = &engine;
    session.number = 1;
    session.options.events = TRACED_ALLOC | TRACED_FREE;
    session.options.live = LIMIT;
    if (descriptor < 0 || close(descriptor) != 0 || unlink(path) != 0)
        return 1;
    session.map = live_map_create(path, 0, 4 << 20, false, &error);
    if (session.map == NULL || unlink(path) != 0)
        return 1;
    session.frees = live_stream_create(session.map, true);
    session.free_batch.gap = UINT64_MAX / 8;
    atomic_store(&tracer.session, &session);
    return session.frees == NULL;
}

void add_suite(void)
{
    CU_pSuite suite = CU_add_suite("awaited deaths", begin_session, NULL);
    CU_add_test(suite, "few", test_few);
    CU_add_test(suite, "many", test_many);
    CU_add_test(suite, "the threshold rises again", test_recovery);
    CU_add_test(suite, "no reference", test_no_reference);
    CU_add_test(suite, "classes keep their tags", test_classes_keep_tags);
    CU_add_test(suite, "another session", test_other_session);
}
