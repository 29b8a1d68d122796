/* SPDX-License-Identifier: Apache-2.0 */
/* Tracks collections by JVMTI's events and the JVM's own counters. */
#include "agent/events/collections.h"

#include <string.h>

#include "agent/base/java_versions.h"
#include "agent/base/jvm_classes.h"
#include "agent/hotspot/headers.h"
#include "agent/hotspot/vm_structs.h"
#include "agent/records/hold.h"
#include "agent/records/stamps.h"

#define COUNTERS 4 /* young and full collections, and others of some collectors */
#define COUNTERS_LEAST 2

static struct {
    _Atomic bool runs; /* announcements are wanted */
    _Atomic bool all_announced;
    const volatile int64_t *counters[COUNTERS];
    size_t counters_used;    /* 0: the JVM has no counters */
    _Atomic int64_t counted; /* at the end of the last known collection */
    /* Pauses announced and not over: before JDK 21 an operation for the memory of classes announces
     * its pause around those that the collector announces in it. */
    _Atomic unsigned open;
} watch = {.all_announced = true};

static int64_t collections_count(void)
{
    int64_t sum = 0;
    for (size_t i = 0; i < watch.counters_used; i++)
        sum += *watch.counters[i];
    return sum;
}

static void find_counters(void)
{
    char name[] = "sun.gc.collector.0.invocations";
    char *digit = strchr(name, '0');
    size_t found = 0;
    while (found < COUNTERS && (watch.counters[found] = vm_counter(name)) != NULL)
        *digit = (char) ('0' + ++found);
    watch.counters_used = found >= COUNTERS_LEAST ? found : 0;
}

bool collections_are_counted(void)
{
    if (collector_announces_all() || collections_may_be_silent())
        return true;
    find_counters();
    if (watch.counters_used != 2)
        return false;
    atomic_store(&silent_counters[1], watch.counters[1]);
    atomic_store(&silent_counters[0], watch.counters[0]);
    return true;
}

void collections_watch(void)
{
    atomic_store(&watch.open, 0); /* the end of a pause may have been missed */
    atomic_store(&watch.runs, true);
    atomic_store(&watch.all_announced, collector_announces_all());
    if (atomic_load(&watch.all_announced) && tracer.java_major < JAVA_SILENT_AT_DEATH)
        return;
    find_counters();
    atomic_store(&watch.counted, collections_count());
}

void collections_watch_ends(void)
{
    atomic_store(&watch.runs, false);
}

bool collections_are_dated(void)
{
    if (!atomic_load_explicit(&watch.runs, memory_order_relaxed))
        return false;
    collections_notice(true);
    return true;
}

/* Returns true if this thread ends the JVM. The launcher's thread has this name while it waits for
 * the others to end; a thread that calls System.exit() still has Java frames. */
static bool ends_jvm(jthread thread)
{
    jint frames = 0;
    jvmtiThreadInfo info = {0};
    if ((*tracer.jvmti)->GetFrameCount(tracer.jvmti, NULL, &frames) == JVMTI_ERROR_NONE &&
        frames != 0)
        return true;
    if ((*tracer.jvmti)->GetThreadInfo(tracer.jvmti, thread, &info) != JVMTI_ERROR_NONE ||
        info.name == NULL)
        return false;
    bool is = strcmp(info.name, "DestroyJavaVM") == 0;
    jvm_free(info.name);
    return is;
}

/* The JVM ends and announces no more collections. Forbids holds, which need these announcements. */
static void fall_silent(void)
{
    holds_forbid();
    holds_allow(false);
    atomic_store(&watch.all_announced, false);
}

void collections_thread_ends(jthread thread)
{
    if (tracer.java_major >= JAVA_SILENT_AT_DEATH && ends_jvm(thread))
        fall_silent();
}

/* Gives the collection that has just ended its date: the clock, the tick, and last the count. A
 * thread that reads the count and then the time (date_pass() of reaper_pass.c) finds a time that
 * is not older than the count. The tick is advanced after `collection_tick` took its value, so
 * everything that happens from now on has a later one: among equal ticks frees come last, and
 * belong to what was before. */
static void date(void)
{
    atomic_store(&tracer.collection_raw, clock_raw());
    atomic_store(&tracer.collection_tick, atomic_fetch_add(&tracer.tick, 1));
    atomic_fetch_add(&tracer.collections, 1);
    stamps_pulse();
}

/* If a pause was announced before the JVM's end began, its end is not announced. The JNI call waits
 * for the end of that pause. */
void collections_are_silent(JNIEnv *jni)
{
    if (tracer.java_major < JAVA_SILENT_AT_DEATH)
        return;
    fall_silent();
    (*jni)->DeleteLocalRef(jni, class_find(jni, "java/lang/Object"));
    atomic_store(&watch.open, 0);
    if (atomic_exchange(&tracer.in_collection, false))
        date();
}

/* In the pause, before anything moves. `in_collection` is set first, so that a search that finds a
 * cleared reference from here on waits for the end before it dates it. Then holds are refused and
 * waited for, and only then is the count increased: an address that was noted in a hold carries the
 * count of before and is void from now on. With the reverse order a thread in a hold could note its
 * address with the new count, and the object would move afterwards. */
void collection_begins(void)
{
    atomic_fetch_add(&watch.open, 1);
    atomic_store(&tracer.in_collection, true);
    holds_wait();
    atomic_fetch_add(&tracer.collections_begun, 1);
}

/* The beginning of a pause is not reported while a session's events are switched on. */
static bool is_last_open(void)
{
    unsigned open = atomic_load(&watch.open);
    if (open != 0)
        atomic_store(&watch.open, --open);
    return open == 0;
}

/* In the pause, after everything has moved. The date is complete before `in_collection` is cleared,
 * for which date_pass() waits. Holds are allowed last. */
bool collection_ends(void)
{
    bool over = is_last_open();
    if (over) {
        date();
        if (watch.counters_used != 0)
            atomic_store(&watch.counted, collections_count());
        atomic_store(&tracer.in_collection, false);
    }
    holds_go_on();
    return over;
}

/* Looks for a collection that was not announced. The JVM increments a counter before it clears any
 * reference. So whoever sees a cleared reference and then reads the counter sees it increased. The
 * exchange lets one of several threads record the collection. */
void collections_notice(bool may_guess)
{
    if (__builtin_expect(atomic_load_explicit(&watch.all_announced, memory_order_relaxed), 1) ||
        atomic_load(&tracer.in_collection))
        return;
    bool guess = watch.counters_used == 0;
    int64_t counted = collections_count();
    if (guess ? !may_guess : atomic_exchange(&watch.counted, counted) == counted)
        return;
    date();
    atomic_fetch_add(&tracer.collections_begun, 1);
}
