/* SPDX-License-Identifier: Apache-2.0 */
/* The reaper: its thread, when it passes over the weak references, and who may do so. */
#include "agent/deaths/reaper.h"

#include <semaphore.h>
#include <stdlib.h>
#include <time.h>

#include "agent/deaths/identity.h"
#include "agent/deaths/reaper_pass.h"
#include "agent/deaths/recycle.h"
#include "agent/deaths/sentinel.h"
#include "agent/events/engine.h"
#include "agent/events/last_words.h"
#include "agent/records/threads.h"
#include "capture/log.h"

#define PACE_STEPS 50
#define PACE_STEP_NS 1000000L

/* Some collectors clear references after the last pause of a collection: looks follow its end. */
static const long look_again_ms[] = {20, 200, 1000};
#define LOOKS (sizeof look_again_ms / sizeof look_again_ms[0])

struct weak_table reaper_table;

static sem_t wanted;
static bool started;
/* Held during a pass and while the table is given back. */
static pthread_mutex_t pass_lock = PTHREAD_MUTEX_INITIALIZER;
static _Atomic uintptr_t pass_owner; /* the thread that holds it, 0: none */

void reaper_keep_pace(const struct session *session, const struct os_thread *os)
{
    if (!started || session->map->drop || !reaper_pass_is_behind(&reaper_table))
        return;
    uint64_t from = clock_monotonic_ns();
    for (int i = 0; i < PACE_STEPS && reaper_pass_is_behind(&reaper_table) && !tracer.dying; i++)
        nanosleep(&(struct timespec){0, PACE_STEP_NS}, NULL);
    live_note_wait(session->map, os->current != NULL ? os->current->id : 0,
                   clock_monotonic_ns() - from);
}

static void lock_passes(void)
{
    pthread_mutex_lock(&pass_lock);
    atomic_store(&pass_owner, (uintptr_t) pthread_self());
}

static void unlock_passes(void)
{
    atomic_store(&pass_owner, 0);
    pthread_mutex_unlock(&pass_lock);
}

bool reaper_is_mine(void)
{
    return atomic_load_explicit(&pass_owner, memory_order_relaxed) == (uintptr_t) pthread_self();
}

/* The lock comes first: whoever waits for all probes to end while it holds it must not wait for
 * this one. */
static void pass_once(JNIEnv *jni, bool last)
{
    struct os_thread *os;
    struct reaper_pass *pass = calloc(1, sizeof *pass);
    if (pass == NULL)
        return;
    lock_passes();
    struct session *session = probe_enter(&os);
    if (session != NULL) {
        if (session->options.engine == ENGINE_BYTECODE && session->keeps_references &&
            !atomic_load(&session->reaped)) {
            atomic_store(&session->reaped, last);
            pass->slots_report = sentinel_watch(session, os, jni);
            pass->session = session;
            pass->jni = jni;
            pass->table = &reaper_table;
            if (last || reaper_pass_may_find(session))
                reaper_pass_over(pass);
        }
        probe_leave(os);
    }
    unlock_passes();
    free(pass);
}

void reaper_pass(JNIEnv *jni)
{
    pass_once(jni, false);
}

void reaper_last_pass(JNIEnv *jni)
{
    pass_once(jni, true);
}

void reaper_stop_passes(void)
{
    lock_passes();
}

void reaper_go_on(void)
{
    unlock_passes();
}

static void visit_page(const struct weak_page *page,
                       void (*visit)(void *context, jobject object, uint64_t id), void *context)
{
    uint32_t used = atomic_load_explicit(&page->used, memory_order_acquire);
    for (uint32_t i = 0; i < used; i++)
        if (page->entries[i].reference != NULL)
            visit(context, page->entries[i].reference, page->entries[i].id & WEAK_ID_MASK);
}

void reaper_visit(const struct session *session,
                  void (*visit)(void *context, jobject object, uint64_t id), void *context)
{
    for (struct os_thread *os = threads_first(); os != NULL; os = os->next_all) {
        const struct weak_page *page = atomic_load_explicit(&os->weak_page, memory_order_acquire);
        if (page != NULL && atomic_load(&os->weak_session) == session->number)
            visit_page(page, visit, context);
    }
    weak_table_collect(&reaper_table);
    for (const struct weak_page *page = reaper_table.first; page != NULL; page = page->next)
        visit_page(page, visit, context);
}

static void delete_references(JNIEnv *jni, const struct weak_page *page)
{
    for (; page != NULL; page = page->next)
        for (uint32_t i = 0; i < atomic_load(&page->used); i++)
            if (page->entries[i].reference != NULL)
                (*jni)->DeleteWeakGlobalRef(jni, page->entries[i].reference);
}

void reaper_clear(JNIEnv *jni)
{
    lock_passes();
    if (atomic_load(&tracer.session) == NULL) {
        uint64_t since = threads_order_probes();
        while (!threads_have_left(since))
            reaper_pass_pause();
        for (struct os_thread *os = threads_first(); os != NULL; os = os->next_all) {
            struct weak_page *page = atomic_exchange(&os->weak_page, NULL);
            if (page != NULL)
                weak_table_hand_over(&reaper_table, page);
        }
        weak_table_collect(&reaper_table);
        delete_references(jni, reaper_table.first);
        recycle_clear(jni);
        weak_table_reset(&reaper_table);
        identity_reset();
    }
    unlock_passes();
}

/* Before, this thread may be wanted for its last words. */
static bool has_ended(struct session *session)
{
    pthread_mutex_lock(&session->state_lock);
    bool ended = session->ended;
    pthread_mutex_unlock(&session->state_lock);
    return ended;
}

/* A trace that ended by itself (its limit, a full disk) leaves events and references behind. */
static void clean_up(JNIEnv *jni)
{
    if (atomic_load(&tracer.session) != NULL)
        return;
    if (pthread_mutex_trylock(&tracer.control_lock) != 0)
        return;
    struct session *last = tracer.last;
    if (last != NULL && atomic_load(&tracer.session) == NULL && has_ended(last) &&
        atomic_exchange(&tracer.events_on, false))
        engine_enable(last, false);
    pthread_mutex_unlock(&tracer.control_lock);
    if (reaper_table.first != NULL || atomic_load(&reaper_table.handed_over) != NULL)
        reaper_clear(jni);
}

static bool wait_until_woken(long ms)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += ms / 1000;
    until.tv_nsec += ms % 1000 * 1000000L;
    if (until.tv_nsec >= 1000000000L) {
        until.tv_nsec -= 1000000000L;
        until.tv_sec++;
    }
    if (sem_timedwait(&wanted, &until) != 0)
        return false;
    while (sem_trywait(&wanted) == 0)
        ;
    return true;
}

static void (*also)(JNIEnv *jni);

void reaper_also(void (*call)(JNIEnv *jni))
{
    also = call;
}

static void JNICALL reaper_run(jvmtiEnv *jvmti, JNIEnv *jni, void *data)
{
    (void) jvmti, (void) data;
    size_t look = LOOKS - 1;
    for (;;) {
        if (wait_until_woken(look_again_ms[look]))
            look = 0;
        else if (look + 1 < LOOKS)
            look++;
        last_words_say(jni);
        if (tracer.dying) /* a JVM that ends waits 300 ms for threads that wait in native code */
            return;
        reaper_pass(jni);
        clean_up(jni);
        if (also != NULL)
            also(jni);
    }
}

static jthread new_thread(JNIEnv *jni)
{
    jint count = 0;
    jthreadGroup *groups = NULL;
    jclass class = (*jni)->FindClass(jni, "java/lang/Thread");
    jmethodID init = class != NULL ? (*jni)->GetMethodID(jni, class, "<init>",
                                                         "(Ljava/lang/ThreadGroup;"
                                                         "Ljava/lang/String;)V")
                                   : NULL;
    jstring name = (*jni)->NewStringUTF(jni, "StepTrace reaper");
    jthread thread = NULL;
    if (init != NULL && name != NULL &&
        (*tracer.jvmti)->GetTopThreadGroups(tracer.jvmti, &count, &groups) == JVMTI_ERROR_NONE) {
        if (count > 0)
            thread = (*jni)->NewObject(jni, class, init, groups[0], name);
        (*tracer.jvmti)->Deallocate(tracer.jvmti, (unsigned char *) groups);
    }
    (*jni)->ExceptionClear(jni);
    return thread;
}

bool reaper_start(JNIEnv *jni)
{
    if (started)
        return true;
    sem_init(&wanted, 0, 0);
    jthread thread = new_thread(jni);
    jobject own_thread = thread != NULL ? (*jni)->NewGlobalRef(jni, thread) : NULL;
    thread_leave_out(own_thread);
    if (own_thread == NULL ||
        (*tracer.jvmti)
                ->RunAgentThread(tracer.jvmti, thread, reaper_run, NULL,
                                 JVMTI_THREAD_NORM_PRIORITY) != JVMTI_ERROR_NONE) {
        log_message("the thread that finds dead objects could not be started");
        return false;
    }
    sentinel_make(jni);
    started = true;
    return true;
}

void reaper_thread_ended(struct os_thread *os)
{
    struct weak_page *page = atomic_exchange(&os->weak_page, NULL);
    if (page != NULL)
        weak_table_hand_over(&reaper_table, page);
    recycle_thread_ended(os);
}

void reaper_wake(void)
{
    if (started)
        sem_post(&wanted);
}
