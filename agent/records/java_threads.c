/* SPDX-License-Identifier: Apache-2.0 */
/* Java threads: their entries in the trace, their state, and which native thread runs them. */
#include "agent/records/threads.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "agent/base/jvm_classes.h"
#include "agent/base/patience.h"
#include "agent/records/global_stream.h"
#include "agent/records/redaction.h"
#include "format/core/grow.h"

/* ---- a thread's entry in the trace: its name and kind ---- */

#define HEAD_WORDS 3u

struct description {
    uint64_t *words; /* HEAD_WORDS and the name */
    uint64_t length; /* of the name, in bytes */
    uint64_t flags;
};

static void threads_describe(const struct session *session, struct description *of, jthread thread)
{
    char number[REDACTION_BYTES];
    JNIEnv *jni = jvm_jni();
    jvmtiThreadInfo info;
    memset(&info, 0, sizeof info);
    if ((*tracer.jvmti)->GetThreadInfo(tracer.jvmti, thread, &info) != JVMTI_ERROR_NONE)
        return;
    if (info.is_daemon)
        of->flags |= THREAD_DAEMON;
    const char *name = info.name;
    if (name != NULL && redaction_of_names(session)) {
        redaction_name('t', name, number);
        name = number;
    }
    if (name != NULL)
        of->words =
            words_with_texts(HEAD_WORDS, (const char *const[]){name}, 1, SIZE_MAX, &of->length);
    if (of->words != NULL)
        of->length = utf8_cut((char *) &of->words[HEAD_WORDS], of->length);
    jvm_free(info.name);
    if (jni != NULL) {
        (*jni)->DeleteLocalRef(jni, info.thread_group);
        (*jni)->DeleteLocalRef(jni, info.context_class_loader);
    }
}

/* Gives the thread its number in the session, and writes its entry and its start. A name of more
 * than 65,536 bytes is cut and ends with three dots. The caller holds the register lock. */
static void thread_define(struct session *session, jthread thread, struct java_thread *known,
                          bool existing)
{
    uint64_t nameless[HEAD_WORDS] = {0};
    struct description of = {.flags = known->is_virtual ? THREAD_VIRTUAL : 0};
    threads_describe(session, &of, thread);
    uint64_t *words = of.words != NULL ? of.words : nameless;
    pthread_mutex_lock(&session->global_lock);
    known->id = atomic_fetch_add(&session->thread_count, 1) + 1;
    known->session = session->number;
    known->depth = known->pending = known->reserved = known->phases.count = 0;
    known->last_stamp = 0; /* it was of another trace, whose time has another zero */
    words[0] = live_word(STEP_LIVE_DEFINE_THREAD, known->id);
    words[1] = of.flags;
    words[2] = of.length;
    global_write(session, words, HEAD_WORDS + (of.length + 7) / 8, 0);
    global_event(session, existing ? STEP_LIVE_THREAD_EXISTING : STEP_LIVE_THREAD_START, known->id,
                 2);
    pthread_mutex_unlock(&session->global_lock);
    free(of.words);
}

/* Serialises the registration of Java threads. */
static pthread_mutex_t register_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t unused_lock = PTHREAD_MUTEX_INITIALIZER;
static struct java_thread *unused_threads; /* protected by that lock */

#define LEFT_OUT 2u
static _Atomic(jobject) left_out[LEFT_OUT]; /* global references */

void thread_leave_out(jobject thread)
{
    for (size_t i = 0; i < LEFT_OUT; i++) {
        jobject none = NULL;
        if (atomic_compare_exchange_strong(&left_out[i], &none, thread))
            return;
    }
}

bool thread_grow_frames(struct java_thread *java)
{
    return STEP_MAKE_ROOM(java->frames, java->capacity, java->capacity + 1);
}

/* JNI's IsVirtualThread() is after the last function that JDK 17 knows. */
static bool is_virtual_thread(jthread thread)
{
    typedef jboolean(JNICALL function)(JNIEnv *, jobject);
    function *test;
    JNIEnv *jni = tracer.has_virtual_threads ? jvm_jni() : NULL;
    if (jni == NULL)
        return false;
    memcpy(&test,
           (const char *) *jni + offsetof(struct JNINativeInterface_, GetModule) + sizeof(void *),
           sizeof test);
    return test(jni, thread);
}

static struct java_thread *create_java_thread(jthread thread)
{
    pthread_mutex_lock(&unused_lock);
    struct java_thread *java = unused_threads;
    if (java != NULL)
        unused_threads = java->next_unused;
    pthread_mutex_unlock(&unused_lock);
    if (java == NULL)
        java = memory_counted(MEMORY_TABLES, calloc(1, sizeof *java));
    if (java != NULL)
        java->is_virtual = is_virtual_thread(thread);
    return java;
}

/* Threads that still look at it see that it runs nowhere. */
static void discard_java_thread(struct java_thread *java)
{
    atomic_store(&java->os, NULL);
    free(java->frames);
    java->frames = NULL;
    java->depth = java->capacity = java->pending = 0;
    free(java->phases.open);
    java->phases = (struct phase_list){0};
    java->last_stamp = 0;
    java->session = 0;
    pthread_mutex_lock(&unused_lock);
    java->next_unused = unused_threads;
    unused_threads = java;
    pthread_mutex_unlock(&unused_lock);
}

bool thread_is_left_out(jthread thread)
{
    JNIEnv *jni = NULL;
    for (size_t i = 0; i < LEFT_OUT; i++) {
        jobject other = atomic_load(&left_out[i]);
        if (other != NULL && (jni != NULL || (jni = jvm_jni()) != NULL) &&
            (*jni)->IsSameObject(jni, thread, other))
            return true;
    }
    return false;
}

bool thread_leave_in(jobject thread)
{
    for (size_t i = 0; i < LEFT_OUT; i++) {
        jobject left = thread;
        if (thread != NULL && atomic_compare_exchange_strong(&left_out[i], &left, NULL))
            return true;
    }
    return false;
}

/* Threads are found by JVMTI's thread-local storage, which the JVM frees with the thread. The lock
 * makes finding and setting one step: the event of a thread's start, its first probe and the start
 * snapshot may all register it at once, and it must get one number. It is held during calls of
 * JVMTI, hence session_lock(), which gives up the session rather than wait for ever. */
struct java_thread *thread_register(struct session *session, jthread thread, bool existing)
{
    if (thread_is_left_out(thread) || !session_lock(session, &register_lock))
        return NULL;
    struct java_thread *known = thread_of(thread);
    if (known == NULL && (known = create_java_thread(thread)) != NULL &&
        (*tracer.jvmti)->SetThreadLocalStorage(tracer.jvmti, thread, known) != JVMTI_ERROR_NONE) {
        discard_java_thread(known);
        known = NULL;
    }
    if (known != NULL && known->session != session->number)
        thread_define(session, thread, known, existing);
    pthread_mutex_unlock(&register_lock);
    return known;
}

/* Sets the thread that runs here from now on. */
static struct java_thread *set_current(struct os_thread *os, struct java_thread *java)
{
    os->current = java;
    if (java != NULL)
        atomic_store(&java->os, os);
    if (java != NULL && !java->is_virtual)
        os->own = java;
    return java;
}

/* The JVM is asked for the running thread only at first use. */
static struct java_thread *register_current(struct session *session, struct os_thread *os)
{
    jthread thread = jvm_thread();
    JNIEnv *jni = jvm_jni();
    if (thread == NULL)
        return NULL;
    set_current(os, thread_register(session, thread, false));
    if (jni != NULL)
        (*jni)->DeleteLocalRef(jni, thread);
    return os->current;
}

struct java_thread *thread_current(struct session *session, struct os_thread *os, jthread thread)
{
    struct java_thread *current = thread_known(session, os);
    if (__builtin_expect(current != NULL, 1))
        return current;
    if (os->ended)
        return NULL;
    return thread != NULL ? set_current(os, thread_register(session, thread, false))
                          : register_current(session, os);
}

void thread_started(struct session *session, struct os_thread *os, jthread thread, bool is_virtual)
{
    /* Without thread events, only threads that other events name are reported. */
    struct java_thread *java = NULL;
    if ((session->options.events & TRACED_THREAD) != 0 || is_virtual)
        java = thread_register(session, thread, false);
    if (is_virtual)
        os->carries = true;
    else
        os->own = NULL;
    os->ended = false;
    set_current(os, java);
}

struct java_thread *thread_of(jthread thread)
{
    void *storage = NULL;
    if ((*tracer.jvmti)->GetThreadLocalStorage(tracer.jvmti, thread, &storage) != JVMTI_ERROR_NONE)
        return NULL;
    return storage;
}

static void record_end(struct session *session, struct os_thread *os,
                       const struct java_thread *java)
{
    struct live_stream *stream = thread_stream(session, os);
    if (stream == NULL || java->session != session->number)
        return;
    uint64_t *words = live_reserve(session->map, stream, 2);
    if (words == NULL)
        return;
    stream->base_stamp = thread_stamp(session, stream);
    words[0] = live_word(STEP_LIVE_THREAD_END, stream->base_stamp);
    words[1] = java->id;
    live_commit(stream, 2, 1);
}

/* The caller holds the register lock, as a thread that registers threads at a start may be using
 * this one. */
static struct java_thread *take_from(jthread thread)
{
    struct java_thread *java = thread_of(thread);
    if (java != NULL)
        (*tracer.jvmti)->SetThreadLocalStorage(tracer.jvmti, thread, NULL);
    return java;
}

/* The storage is cleared under the register lock and before the end is recorded. Whoever registers
 * the thread afterwards makes a new state; nobody finds this one any more, except a native thread
 * that missed that the virtual thread left it. That is why states are never freed: it reads `os`
 * once more and sees that it runs elsewhere. */
struct java_thread *thread_ended(struct session *session, struct os_thread *os, jthread thread)
{
    if (!session_lock(session, &register_lock))
        return NULL;
    struct java_thread *java = take_from(thread);
    pthread_mutex_unlock(&register_lock);
    if (java != NULL)
        record_end(session, os, java);
    return java;
}

static void part(struct os_thread *os, const struct java_thread *java, bool is_virtual)
{
    if (os->current == java)
        os->current = is_virtual ? os->own : NULL;
    if (os->own == java)
        os->own = NULL;
}

void thread_forget(struct os_thread *os, struct java_thread *java, bool is_virtual)
{
    if (java != NULL) {
        part(os, java, is_virtual);
        discard_java_thread(java);
    }
    if (!is_virtual)
        os->ended = true;
}

void thread_ended_unseen(jthread thread, bool is_virtual)
{
    if (!lock_within(&register_lock, PATIENCE_NS))
        return;
    struct java_thread *java = take_from(thread);
    pthread_mutex_unlock(&register_lock);
    if (java == NULL)
        return;
    if (thread_self != NULL)
        part(thread_self, java, is_virtual);
    discard_java_thread(java);
}

/* A virtual thread moves to another native thread, whose records go to another stream. Readers
 * merge streams by time and know no other order between them. So its first record here must have a
 * later tick than its last one there: the thread waits for the next tick, which limit_resolution()
 * of session_begin.c keeps short. With counted stamps the counter is advanced instead. While the
 * clock stands still for the start snapshot, the stream goes ahead of it, and stamps_advance()
 * makes records that name objects go at least as far. */
void thread_mounted(struct session *session, struct os_thread *os, jthread thread)
{
    os->carries = true;
    struct java_thread *java = set_current(os, thread_register(session, thread, false));
    struct live_stream *stream = thread_stream(session, os);
    if (java == NULL || stream == NULL || java->last_stamp == 0)
        return;
    /* Its records here must come after those elsewhere, also in whole ticks, and not before what
     * others record meanwhile. */
    uint64_t after = java->last_stamp + 1;
    if (!stamps_are_times(session)) {
        stamps_go_beyond(java->last_stamp);
    } else {
        after += (session->options.resolution_ns << tracer.scale.shift) / tracer.scale.multiplier;
        stamps_wait_for(after);
    }
    if (stream->last_stamp < after)
        stream->last_stamp = after;
    stamps_advance(session, after);
}

/* What the thread records elsewhere comes before the stream's next stamp: its events without one
 * must not come as close to that as they would by themselves. A chunk that is full ends them, too.
 */
static void end_spared(const struct session *session, struct live_stream *stream)
{
    if (session->stamps.every == 0)
        return;
    stream->stamp_due = 0;
    if (stream->cursor == stream->end)
        return;
    *stream->cursor = live_word(STEP_LIVE_THREAD_SWITCH, stream->thread);
    live_commit(stream, 1, 0);
}

/* Stores how far the thread's time has come, before `os` is cleared: another native thread may
 * mount it as soon as this returns, and thread_known() there accepts it only for itself. */
void thread_unmounted(const struct session *session, struct os_thread *os)
{
    struct java_thread *java = thread_known(session, os);
    if (java != NULL && java->is_virtual) {
        if (os->stream != NULL && os->session == session->number) {
            end_spared(session, os->stream);
            java->last_stamp = os->stream->last_stamp;
        }
        atomic_store(&java->os, NULL);
    }
    os->current = os->own;
}
