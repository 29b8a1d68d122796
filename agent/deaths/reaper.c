/* SPDX-License-Identifier: Apache-2.0 */
/* The reaper: its thread, the lock that serialises its passes, and the end of the references that a
 * session left. */
#include "agent/deaths/reaper.h"

#include <semaphore.h>
#include <stdlib.h>
#include <time.h>

#include "agent/base/patience.h"
#include "agent/base/tracer.h"
#include "agent/deaths/canary.h"
#include "agent/deaths/identity.h"
#include "agent/deaths/pace.h"
#include "agent/deaths/reaper_pass.h"
#include "agent/deaths/recycle.h"
#include "agent/deaths/reference_blocks.h"
#include "agent/deaths/sentinel.h"
#include "agent/deaths/weak_table.h"
#include "agent/events/engine.h"
#include "agent/events/last_words.h"
#include "agent/records/agent_thread.h"
#include "agent/records/threads.h"
#include "capture/log.h"

/* Some collectors clear references after the last pause of a collection, so further passes
 * follow. */
static const long look_again_ms[] = {20, 200, 1000};
#define LOOKS (sizeof look_again_ms / sizeof look_again_ms[0])
/* Free memory is given back 1, 2, 4 ... seconds after a session's references were deleted, and,
 * lest programs pay that end soon, 8, 16, 32 seconds after a session began: compilations leave much
 * of it behind, and the JVM frees the memory of references in a thread of its own. */
#define TRIM_OF_SESSION_S 8u
#define LAST_TRIM_S 32u

struct weak_table reaper_table;

static sem_t wanted;
static bool started;
/* Held during a pass and while the table is emptied. */
static pthread_mutex_t pass_lock = PTHREAD_MUTEX_INITIALIZER;
static _Atomic uintptr_t pass_owner; /* the thread that holds it; 0: none */

/* Returns false if another thread has been in a pass for too long. */
static bool lock_passes(uint64_t limit_ns)
{
    if (!lock_within(&pass_lock, limit_ns))
        return false;
    atomic_store(&pass_owner, (uintptr_t) pthread_self());
    return true;
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

static void look_for_dead(struct reaper_pass *pass, struct session *session, struct os_thread *os,
                          JNIEnv *jni, bool last)
{
    pass->slots_report = sentinel_watch(session, os, jni);
    pass->session = session;
    pass->jni = jni;
    pass->table = &reaper_table;
    if (last || reaper_pass_may_find(session))
        reaper_pass_over(pass);
}

static void skip_last(void)
{
    struct os_thread *os;
    struct session *session = probe_enter(&os);
    if (session == NULL)
        return;
    atomic_store(&session->deaths.unsearched, true);
    probe_leave(os);
}

/* Takes the lock before it enters the probe: a thread that holds the lock and waits for all probes
 * to end must not wait for this one. `reaped` is set with the last search, so that the reaper's own
 * thread makes none after it: the announcements of collections are disabled next, and a death that
 * is found later could not be dated. */
void reaper_pass(JNIEnv *jni, bool last)
{
    struct os_thread *os;
    struct reaper_pass *pass = calloc(1, sizeof *pass);
    if (pass == NULL || !lock_passes(tracer.dying ? SECOND_NS : PATIENCE_NS)) {
        if (last)
            skip_last();
        free(pass);
        return;
    }
    struct session *session = probe_enter(&os);
    if (session != NULL) {
        if (session->options.engine == ENGINE_BYTECODE && !atomic_load(&session->deaths.reaped)) {
            canary_look(session, os, jni);
            atomic_store(&session->deaths.reaped, last);
            if (session->keeps_references)
                look_for_dead(pass, session, os, jni, last);
        }
        probe_leave(os);
    }
    unlock_passes();
    free(pass);
}

bool reaper_stop_passes(void)
{
    return lock_passes(tracer.dying ? SECOND_NS : PATIENCE_NS);
}

void reaper_go_on(void)
{
    unlock_passes();
}

static void visit_page(const struct weak_page *page,
                       void (*visit)(void *context, jobject object, uint64_t id), void *context)
{
    uint32_t used = atomic_load_explicit(&page->used, memory_order_acquire);
    uint64_t id, next = 0;
    for (uint32_t i = 0; i < used; i++) {
        jweak reference = weak_page_read(page->words[i], &id, &next);
        if (reference != NULL)
            visit(context, reference, id & WEAK_ID_MASK);
    }
}

void reaper_visit(const struct session *session,
                  void (*visit)(void *context, jobject object, uint64_t id), void *context)
{
    for (struct os_thread *os = threads_first(); os != NULL; os = os->next_all) {
        const struct weak_page *page =
            atomic_load_explicit(&os->deaths.weak_page, memory_order_acquire);
        if (page != NULL && atomic_load(&os->deaths.weak_session) == session->number)
            visit_page(page, visit, context);
    }
    weak_table_collect(&reaper_table);
    for (const struct weak_page *page = reaper_table.first; page != NULL; page = page->next)
        visit_page(page, visit, context);
}

static void delete_reference(void *jni, jobject reference, uint64_t id)
{
    (void) id;
    (*(JNIEnv *) jni)->DeleteWeakGlobalRef(jni, reference);
}

static void delete_references(JNIEnv *jni, const struct weak_page *page)
{
    for (; page != NULL; page = page->next)
        visit_page(page, delete_reference, jni);
}

static bool wait_for_probes(uint64_t limit_ns)
{
    uint64_t since = threads_order_probes(), from = clock_monotonic_ns();
    while (!threads_have_left(since)) {
        if (clock_monotonic_ns() - from >= limit_ns)
            return false;
        reaper_pass_pause();
    }
    return true;
}

/* A thread that ends meanwhile is in a probe until it has handed over its page. The second wait is
 * for threads that took their page before this function could: they are in release_os_thread(),
 * with the mark set, and have not pushed it yet. After that each page is in the list, and no thread
 * has one. */
static bool take_pages(uint64_t limit_ns)
{
    if (!wait_for_probes(limit_ns))
        return false;
    for (struct os_thread *os = threads_first(); os != NULL; os = os->next_all) {
        struct weak_page *page = atomic_exchange(&os->deaths.weak_page, NULL);
        if (page != NULL)
            weak_table_hand_over(&reaper_table, page);
    }
    if (!wait_for_probes(limit_ns))
        return false;
    weak_table_collect(&reaper_table);
    return true;
}

/* Order: no session may be published, and every thread must be outside of probes, before references
 * are deleted, because a thread in a probe may be about to store into a slot. References are
 * deleted before the pages that name them are freed. */
bool reaper_clear(JNIEnv *jni, uint64_t limit_ns)
{
    if (!lock_passes(limit_ns))
        return false;
    bool cleared = atomic_load(&tracer.session) == NULL && take_pages(limit_ns);
    if (cleared) {
        delete_references(jni, reaper_table.first);
        canary_reset(jni);
        recycle_clear(jni);
        weak_table_reset(&reaper_table);
        reference_blocks_trim(true);
        identity_reset();
    }
    unlock_passes();
    return cleared;
}

/* A trace that ended by itself (limit, full disk) leaves events and references behind. Returns true
 * if there were references. */
static bool clean_up(JNIEnv *jni)
{
    engine_switch_off();
    return (reaper_table.first != NULL || atomic_load(&reaper_table.handed_over) != NULL) &&
           reaper_clear(jni, 0);
}

static void give_memory_back(JNIEnv *jni)
{
    static const struct session *latest;
    static uint64_t from_ns, trim_s; /* the next time is that long after the first; 0: none */
    const struct session *session = atomic_load(&tracer.session);
    uint64_t now = clock_monotonic_ns();
    if (session == NULL ? clean_up(jni) : session != latest) {
        from_ns = now;
        trim_s = session == NULL ? 1 : TRIM_OF_SESSION_S;
    }
    latest = session;
    if (trim_s != 0 && now - from_ns >= trim_s * SECOND_NS) {
        memory_trim();
        trim_s = trim_s < LAST_TRIM_S ? 2 * trim_s : 0;
    }
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
        if (tracer.dying) /* a JVM that ends waits 300 ms for threads in native code */
            return;
        reaper_pass(jni, false);
        give_memory_back(jni);
        if (also != NULL)
            also(jni);
    }
}

bool reaper_start(JNIEnv *jni)
{
    if (started)
        return true;
    sem_init(&wanted, 0, 0);
    canary_prepare(jni); /* the thread's constructor may already collect: collect=, start= */
    jobject thread;      /* for good */
    if (!agent_thread_start(jni, "StepTrace reaper", reaper_run, NULL, &thread)) {
        log_message("the thread that finds dead objects could not be started");
        return false;
    }
    sentinel_make(jni);
    pace_begin();
    started = true;
    return true;
}

void reaper_thread_ended(struct os_thread *os)
{
    struct weak_page *page = atomic_exchange(&os->deaths.weak_page, NULL);
    if (page != NULL)
        weak_table_hand_over(&reaper_table, page);
    recycle_thread_ended(os);
}

void reaper_collection_ended(void)
{
    pace_collection_ended(&reaper_table);
    reaper_wake();
}

void reaper_wake(void)
{
    if (started)
        sem_post(&wanted);
}
