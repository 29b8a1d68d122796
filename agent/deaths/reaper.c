/* SPDX-License-Identifier: Apache-2.0 */
/* The reaper: its thread, its passes over the weak references, and the lock that serialises
 * them. */
#include "agent/deaths/reaper.h"

#include <semaphore.h>
#include <stdlib.h>
#include <time.h>

#include "agent/base/exceptions.h"
#include "agent/base/patience.h"
#include "agent/base/tracer.h"
#include "agent/deaths/canary.h"
#include "agent/deaths/identity.h"
#include "agent/deaths/pace.h"
#include "agent/deaths/recycle.h"
#include "agent/deaths/reference_blocks.h"
#include "agent/deaths/weak_table.h"
#include "agent/events/collections.h"
#include "agent/events/engine.h"
#include "agent/events/events.h"
#include "agent/events/last_words.h"
#include "agent/hotspot/slots.h"
#include "agent/records/hold.h"
#include "agent/records/threads.h"
#include "capture/log.h"

#define PASS_IDS 1024u /* deaths that are reported together */

/* To initialise, zero the structure and set its first four members. */
struct reaper_pass {
    struct session *session;
    JNIEnv *jni;
    struct weak_table *table;
    bool slots_report;   /* result of sentinel_watch() */
    uint64_t collection; /* collections begun when the entries were checked, */
    uint64_t ended;      /* and ended */
    uint64_t stamp;
    bool clears_in_pauses; /* set by the pass */
    size_t dead;
    uint64_t dead_ids[PASS_IDS];
    jweak dead_references[PASS_IDS];
};

#define PREFETCH_AHEAD 12u
#define PAUSE_POLL_NS 100000L

/* State when the last completed pass began, under the lock: the collections that had begun, and the
 * session whose references it checked. */
static struct {
    uint64_t begun, session;
} passed;

/* Sleeps a little, for waits that nothing wakes. */
static void reaper_pass_pause(void)
{
    nanosleep(&(struct timespec){0, PAUSE_POLL_NS}, NULL);
}

/* Returns true if the object of the reference is dead. The slot is read without a call of JNI,
 * since every living object is looked at after each collection.
 *
 * If the collector clears references only in its pauses, a slot that is zero needs no confirmation.
 * With a concurrent collector a slot may be zero, or not yet zero, while the JVM resolves the
 * reference differently, so the JVM is asked. */
static bool is_cleared(const struct reaper_pass *pass, jweak reference)
{
    if (__builtin_expect(pass->slots_report, 1)) {
        if (slot_word(reference) != 0)
            return false;
        if (pass->clears_in_pauses)
            return true;
    }
    return (*pass->jni)->IsSameObject(pass->jni, reference, NULL);
}

/* Returns true if a collection has begun since the pass was dated. It is checked for each dead
 * object, not for each entry: what lives needs no date. */
static bool is_outdated(const struct reaper_pass *pass)
{
    collections_notice();
    return atomic_load(&tracer.in_collection) ||
           pass->collection != atomic_load(&tracer.collections_begun);
}

/* Gives the pass its date: the collection that ended last, and that end.
 *
 * Waits for the end of a pause: what is cleared in it belongs to its collection. If one begins
 * meanwhile, number and time would be of two. The wait is bounded, since the JVM does not report a
 * pause's end if events were switched off meanwhile. */
static void date_pass(struct reaper_pass *pass)
{
    uint64_t from = clock_monotonic_ns();
    do {
        while (atomic_load(&tracer.in_collection) && clock_monotonic_ns() - from < PATIENCE_NS)
            reaper_pass_pause();
        collections_notice();
        pass->collection = atomic_load(&tracer.collections_begun);
        pass->ended = atomic_load(&tracer.collections);
        pass->stamp = stamp_of_collection(pass->session);
    } while (is_outdated(pass) && clock_monotonic_ns() - from < PATIENCE_NS);
}

/* Reports the dead that were found so far, all with one date. Their references are given away last:
 * a new object may get one at once, and identity_remove() has been called for all of them, so no
 * search finds the dead object's id any more. What recycling does not take is deleted in the JVM.
 */
static void bury(struct reaper_pass *pass)
{
    if (pass->dead == 0)
        return;
    event_free_many(pass->session, pass->dead_ids, pass->dead, pass->stamp, pass->collection);
    for (size_t i = recycle_give(pass->dead_references, pass->dead); i < pass->dead; i++)
        (*pass->jni)->DeleteWeakGlobalRef(pass->jni, pass->dead_references[i]);
    pass->dead = 0;
}

/* Where references are cleared while the program runs, a pause is not a collection. */
static void note_joined(const struct reaper_pass *pass, uint64_t collections)
{
    if (pace_knows_collections())
        atomic_fetch_add(&pass->session->deaths.joined, collections);
}

/* Returns true if the object is dead. `id` has the key above it.
 *
 * The date of a death is exact, although the collector runs while the table is searched. The
 * invariant: all that is in `dead_ids` was seen dead before any collection began after the one of
 * `collection`. The slot is read first, then the count of collections. If the count is unchanged,
 * the slot was cleared by the pass's collection or an earlier one. If not, the object may be the
 * new collection's. What was found before is then reported with the old date, the pass waits for
 * the end of the new one and takes its date, and this object and all later ones get that. An object
 * of the old collection that is found only now thus dies one collection too late; such collections
 * are counted (note_joined()), and the trace says how many there were. */
static bool look_at(struct reaper_pass *pass, jweak reference, uint64_t id)
{
    if (!is_cleared(pass, reference))
        return false;
    if (is_outdated(pass)) { /* a collection that began meanwhile may have cleared it */
        uint64_t ended = pass->ended;
        bury(pass);
        date_pass(pass);
        note_joined(pass, pass->ended - ended);
    }
    if (pass->session->finds_objects)
        identity_remove(pass->session, (uint32_t) (id >> WEAK_ID_BITS), id & WEAK_ID_MASK);
    pass->dead_ids[pass->dead] = id & WEAK_ID_MASK;
    pass->dead_references[pass->dead++] = reference;
    if (pass->dead == PASS_IDS)
        bury(pass);
    return true;
}

/* Searches one page. The load of `used` pairs with the release store of weak_table_add(): all words
 * below it are written. The owner may append meanwhile; those objects are younger than the
 * collection. Dead words become 0 in a page that another thread fills, which is no race: the owner
 * writes only beyond `used`. The slots are anywhere in the JVM's blocks of references, so each is a
 * cache miss unless it is fetched early. */
static void look_at_page(void *context, struct weak_page *page)
{
    struct reaper_pass *pass = context;
    uint32_t used = atomic_load_explicit(&page->used, memory_order_acquire);
    uint64_t id, next = 0;
    for (uint32_t i = 0; i < used; i++) {
        if (i + PREFETCH_AHEAD < used)
            __builtin_prefetch((const void *) (uintptr_t) page->words[i + PREFETCH_AHEAD]);
        jweak reference = weak_page_read(page->words[i], &id, &next);
        if (reference != NULL && look_at(pass, reference, id))
            page->words[i] = 0;
    }
    bury(pass);
}

/* Returns the pages that threads fill, linked by next_active. The acquire load of the page pairs
 * with the release store that installed it (weak_table_add()): its header is initialised. A page of
 * an earlier session may still be there until reaper_clear(); the session's number excludes it. */
static struct weak_page *find_active(const struct reaper_pass *pass)
{
    struct weak_page *active = NULL;
    for (struct os_thread *os = threads_first(); os != NULL; os = os->next_all) {
        struct weak_page *page = atomic_load_explicit(&os->deaths.weak_page, memory_order_acquire);
        if (page == NULL || atomic_load(&os->deaths.weak_session) != pass->session->number)
            continue;
        page->next_active = active;
        active = page;
    }
    return active;
}

static void trim(JNIEnv *jni)
{
    recycle_trim(jni, false);
    reference_blocks_trim(false);
}

/* Scans every entry, reports dead objects, and recycles their references. The caller holds the
 * reaper's lock.
 *
 * The pages that threads fill are listed before those that were handed over are collected. A page
 * that a thread hands over in between is then in both lists, and `collected` shows it. In the other
 * order it would be in neither, and its dead would get the date of the next collection. What is
 * stored in `passed` is the state at the pass's beginning: a collection during the pass may have
 * cleared entries that were looked at before, so it must cause another pass. */
static void reaper_pass_over(struct reaper_pass *pass)
{
    uint64_t pages = atomic_load(&pass->table->pages);
    date_pass(pass);
    uint64_t begun = pass->collection, ended = pass->ended;
    uint64_t before = pace_collections_passed();
    if (passed.session == pass->session->number && ended > before)
        note_joined(pass, ended - before - 1);
    pass->clears_in_pauses = holds_are_good(pass->session);
    /* First the pages that threads fill, then those handed over: a page may be both. */
    struct weak_page *active = find_active(pass);
    weak_table_collect(pass->table);
    for (; active != NULL; active = active->next_active)
        if (!active->collected)
            look_at_page(pass, active);
    weak_table_pass(pass->table, look_at_page, pass);
    if (ended != before)
        trim(pass->jni);
    pace_passed(pages, ended);
    passed.begun = begun;
    passed.session = pass->session->number;
}

/* Returns false if nothing can have died since the last pass began: the collector clears references
 * only in announced pauses, and there was none. */
static bool reaper_pass_may_find(const struct session *session)
{
    return !holds_are_good(session) || passed.session != session->number ||
           passed.begun != atomic_load(&tracer.collections_begun);
}

/* ---- the sentinel: a weak reference that is checked until it is cleared ---- */

struct os_thread;

static bool slots_report;
static jweak sentinel;

/* Called once per process, on a Java thread. */
static void sentinel_make(JNIEnv *jni)
{
    jthrowable of_program = exception_set_aside(jni);
    jbyteArray object = (*jni)->NewByteArray(jni, 0);
    sentinel = object != NULL ? (*jni)->NewWeakGlobalRef(jni, object) : NULL;
    exception_restore(jni, of_program, sentinel == NULL, THROWN_BY_ALLOCATION);
    (*jni)->DeleteLocalRef(jni, object);
}

/* Called before each pass, under the reaper's lock and in a probe. Returns true if the slot of a
 * reference is zero exactly when it is cleared; otherwise the JVM must be asked about each. Once
 * the sentinel is cleared, each session uses it to test whether references can be recycled.
 *
 * What a cleared slot looks like cannot be known before one was cleared, and forcing a collection
 * for that would change the program. So the first passes of a process ask the JVM, until a
 * collection of the program has cleared the sentinel. */
static bool sentinel_watch(const struct session *session, struct os_thread *os, JNIEnv *jni)
{
    static uint64_t shown;
    if (sentinel == NULL || !atomic_load(&slots_readable) || shown == session->number ||
        !(*jni)->IsSameObject(jni, sentinel, NULL))
        return slots_report;
    shown = session->number;
    slots_report = slot_word(sentinel) == 0;
    if (slots_report)
        recycle_prove(session, os, jni, sentinel);
    return slots_report;
}

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

/* Takes the lock before it enters the probe: a thread that holds the lock and waits for all probes
 * to end must not wait for this one. `reaped` is set with the last search, so that the reaper's own
 * thread makes none after it: the announcements of collections are disabled next, and a death that
 * is found later could not be dated. */
void reaper_pass(JNIEnv *jni, bool last)
{
    struct os_thread *os;
    struct reaper_pass *pass = calloc(1, sizeof *pass);
    if (pass == NULL)
        return;
    if (!lock_passes(tracer.dying ? SECOND_NS : PATIENCE_NS)) {
        if (last)
            log_message(
                "the final scan for dead objects is skipped: an earlier scan has not ended");
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

/* Returns a new java.lang.Thread, for RunAgentThread; NULL if there is none. */
static jthread make_thread(JNIEnv *jni, const char *name_text)
{
    jint count = 0;
    jthreadGroup *groups = NULL;
    jthrowable of_program = exception_set_aside(jni);
    jclass class = (*jni)->FindClass(jni, "java/lang/Thread");
    jmethodID init = class != NULL ? (*jni)->GetMethodID(jni, class, "<init>",
                                                         "(Ljava/lang/ThreadGroup;"
                                                         "Ljava/lang/String;)V")
                                   : NULL;
    jstring name = (*jni)->NewStringUTF(jni, name_text);
    jthread thread = NULL;
    if (init != NULL && name != NULL &&
        (*tracer.jvmti)->GetTopThreadGroups(tracer.jvmti, &count, &groups) == JVMTI_ERROR_NONE) {
        if (count > 0)
            thread = (*jni)->NewObject(jni, class, init, groups[0], name);
        (*tracer.jvmti)->Deallocate(tracer.jvmti, (unsigned char *) groups);
    }
    exception_restore(jni, of_program, thread == NULL, THROWN_BY_JAVA);
    return thread;
}

bool agent_thread_start(JNIEnv *jni, const char *name, jvmtiStartFunction run, void *data,
                        jobject *thread)
{
    jthread made = make_thread(jni, name);
    *thread = made != NULL ? (*jni)->NewGlobalRef(jni, made) : NULL;
    if (*thread != NULL) {
        thread_leave_out(*thread);
        if ((*tracer.jvmti)
                ->RunAgentThread(tracer.jvmti, made, run, data, JVMTI_THREAD_NORM_PRIORITY) !=
            JVMTI_ERROR_NONE) {
            if (thread_leave_in(*thread))
                (*jni)->DeleteGlobalRef(jni, *thread);
            *thread = NULL;
        }
    }
    (*jni)->DeleteLocalRef(jni, made);
    return *thread != NULL;
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
