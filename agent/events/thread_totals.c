/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the counters of all threads, those included that have ended since the last reading. A
 * thread is known by its number in Java, which no other thread of the process ever has. */
#include "agent/events/thread_totals.h"

#include <stdlib.h>

#include "agent/base/jvm_classes.h"
#include "agent/base/patience.h"
#include "agent/hotspot/thread_counters.h"
#include "agent/records/global_stream.h"
#include "format/core/grow.h"

#define READING_NS SECOND_NS

struct thread_bytes {
    int64_t thread;
    uint64_t bytes;
};

struct counters {
    struct thread_bytes *at;
    size_t count, room;
    bool lacks_one; /* out of memory */
};

static struct {
    _Atomic bool on;
    _Atomic uint64_t due_ns;
    _Atomic bool busy; /* one thread reads at a time. It owns: */
    struct session *session;
    struct counters last, next; /* by thread */
    uint64_t number;            /* of the last record */
    pthread_mutex_t lock;
    struct counters ended; /* under the lock: perhaps still in the JVM's list */
} state = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* ---- reading ---- */

static void add(struct counters *counters, int64_t thread, uint64_t bytes)
{
    if (STEP_MAKE_ROOM(counters->at, counters->room, counters->count + 1))
        counters->at[counters->count++] = (struct thread_bytes){thread, bytes};
    else
        counters->lacks_one = true;
}

static void add_next(void *user, jthread thread, int64_t id, uint64_t bytes)
{
    (void) user, (void) thread;
    add(&state.next, id, bytes);
}

static int by_thread(const void *first, const void *second)
{
    const struct thread_bytes *a = first, *b = second;
    return (a->thread > b->thread) - (a->thread < b->thread);
}

static const struct thread_bytes *find(const struct counters *counters, int64_t thread)
{
    struct thread_bytes wanted = {.thread = thread};
    return counters->count == 0
               ? NULL
               : bsearch(&wanted, counters->at, counters->count, sizeof wanted, by_thread);
}

/* Returns what a thread has allocated since the last reading. A counter of a thread that runs may
 * be read while it is changed, and be too low: then it stays what it was. */
static uint64_t since_last(struct thread_bytes *now)
{
    const struct thread_bytes *before = find(&state.last, now->thread);
    uint64_t known = before != NULL ? before->bytes : 0;
    if (now->bytes < known)
        now->bytes = known;
    return now->bytes - known;
}

/* A thread that has announced its end may still be in the list: then its counter was read there,
 * and counts once more when it has left. */
static uint64_t take_ended(void)
{
    uint64_t bytes = 0;
    size_t left = 0;
    pthread_mutex_lock(&state.lock);
    for (size_t i = 0; i < state.ended.count; i++) {
        struct thread_bytes *ended = &state.ended.at[i];
        if (find(&state.next, ended->thread) != NULL)
            state.ended.at[left++] = *ended;
        else
            bytes += since_last(ended);
    }
    state.ended.count = left;
    pthread_mutex_unlock(&state.lock);
    return bytes;
}

/* Reads all counters, by the thread that is busy. Returns false if the JVM does not say them. */
static bool read_all(JNIEnv *jni, uint64_t *bytes)
{
    state.next.count = 0;
    state.next.lacks_one = false;
    *bytes = 0;
    if (!thread_counters_each(jni, add_next, NULL) || state.next.lacks_one)
        return false;
    qsort(state.next.at, state.next.count, sizeof *state.next.at, by_thread);
    for (size_t i = 0; i < state.next.count; i++)
        *bytes += since_last(&state.next.at[i]);
    *bytes += take_ended();
    struct counters last = state.last;
    state.last = state.next;
    state.next = last;
    return true;
}

/* ---- records ---- */

/* Without the bytes of a thread that has ended the sum would be too low: then no more is said. */
static bool is_whole(void)
{
    pthread_mutex_lock(&state.lock);
    bool whole = !state.ended.lacks_one;
    pthread_mutex_unlock(&state.lock);
    return whole;
}

/* Of all classes together. */
static void put(struct session *session, JNIEnv *jni)
{
    uint64_t from_ns = clock_monotonic_ns(), bytes;
    if (!read_all(jni, &bytes) || !is_whole()) {
        atomic_store(&state.on, false);
        return;
    }
    state.number++;
    if (bytes != 0)
        fact_eden_class(session,
                        &(struct eden_class_totals){.collection = state.number, .bytes = bytes});
    fact_eden_walk(session, &(struct eden_walk_totals){.collection = state.number,
                                                       .how = STEP_LIVE_EDEN_COUNTED,
                                                       .counted_bytes = bytes,
                                                       .took_ns = clock_monotonic_ns() - from_ns});
    atomic_store(&state.due_ns, clock_monotonic_ns() + READING_NS);
}

/* ---- a session ---- */

static bool try_to_be_busy(void *unused)
{
    (void) unused;
    return !atomic_exchange(&state.busy, true);
}

bool thread_totals_prove(JNIEnv *jni)
{
    int64_t id;
    uint64_t bytes;
    thread_counters_prove(jni);
    jthread thread = jvm_thread();
    bool known = thread != NULL && thread_counters_read(jni, thread, &id, &bytes);
    (*jni)->DeleteLocalRef(jni, thread);
    return known;
}

bool thread_totals_begin(struct session *session, JNIEnv *jni)
{
    uint64_t before;
    if (!succeeds_within(try_to_be_busy, NULL, PATIENCE_NS))
        return false;
    pthread_mutex_lock(&state.lock);
    state.ended.count = 0;
    state.ended.lacks_one = false;
    pthread_mutex_unlock(&state.lock);
    state.session = session;
    state.last.count = 0;
    state.number = 0;
    atomic_store(&state.on, true); /* from here on threads that end are noted */
    bool good = read_all(jni, &before);
    atomic_store(&state.on, good);
    atomic_store(&state.due_ns, clock_monotonic_ns() + READING_NS);
    atomic_store(&state.busy, false);
    return good;
}

void thread_totals_look(struct session *session, JNIEnv *jni)
{
    if (!atomic_load(&state.on) || clock_monotonic_ns() < atomic_load(&state.due_ns) ||
        atomic_exchange(&state.busy, true))
        return;
    if (atomic_load(&state.on) && state.session == session &&
        clock_monotonic_ns() >= atomic_load(&state.due_ns))
        put(session, jni);
    atomic_store(&state.busy, false);
}

/* A thread that reads may have been suspended: then the rest of the trace has no total. */
void thread_totals_end(struct session *session, JNIEnv *jni)
{
    if (!atomic_load(&state.on))
        return;
    bool is_mine = succeeds_within(try_to_be_busy, NULL, PATIENCE_NS);
    if (is_mine && atomic_load(&state.on) && atomic_load(&tracer.session) == session)
        put(session, jni);
    atomic_store(&state.on, false);
    if (is_mine)
        atomic_store(&state.busy, false);
}

void thread_totals_thread_ends(JNIEnv *jni, jthread thread)
{
    int64_t id;
    uint64_t bytes;
    if (!atomic_load(&state.on) || !thread_counters_read(jni, thread, &id, &bytes))
        return;
    pthread_mutex_lock(&state.lock);
    add(&state.ended, id, bytes);
    pthread_mutex_unlock(&state.lock);
}
