/* SPDX-License-Identifier: Apache-2.0 */
/* Native threads and Java threads; entering probes. */
#include "agent/records/threads.h"

#include <linux/membarrier.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "agent/base/jvm_classes.h"
#include "agent/base/patience.h"

#define REST_NS 20000000L
#define END_HOOKS 6u
#define UNFENCED_NS 10000000L

__thread struct os_thread *thread_self __attribute__((tls_model("initial-exec")));
static pthread_key_t exit_key;
static _Atomic(struct os_thread *) all_threads;
static pthread_mutex_t idle_lock = PTHREAD_MUTEX_INITIALIZER;
static struct os_thread *idle_threads;

static thread_end_hook *end_hooks[END_HOOKS];
static size_t end_hook_count;

void thread_at_end(thread_end_hook *hook)
{
    if (end_hook_count < END_HOOKS)
        end_hooks[end_hook_count++] = hook;
}

/* When a native thread ends, its state and its stream are passed on to the next new thread. Nothing
 * is freed: other threads walk the list without a lock.
 *
 * The mark of a probe is set for the whole time, without entering one: the thread that ends a
 * session must wait until the stream and the page of weak references are handed over, or it would
 * free the map below them. `thread_self` is cleared first, so that code that runs later in this
 * thread's end, as that of other libraries, gets a new state instead of one that already has
 * another owner. */
static void release_os_thread(void *data)
{
    struct os_thread *os = data;
    thread_self = NULL;
    atomic_store(&os->in_probe, 1);
    struct session *session = atomic_load(&tracer.session);
    if (session != NULL && os->session == session->number && os->stream != NULL)
        live_stream_give_back(session->map, os->stream);
    for (size_t i = 0; i < end_hook_count; i++)
        end_hooks[i](os);
    os->stream = NULL;
    os->session = os->events.checked = 0;
    os->own = os->current = NULL;
    os->ended = false;
    os->events.last_object = 0;
    os->bytecode.recent = (struct recent_objects){0};
    os->references.sight = (struct sight){0};
    memset(os->classes, 0, sizeof os->classes);
    memset(os->bytecode.class_words, 0, sizeof os->bytecode.class_words);
    atomic_store(&os->in_probe, 0);
    pthread_mutex_lock(&idle_lock);
    os->next_idle = idle_threads;
    idle_threads = os;
    pthread_mutex_unlock(&idle_lock);
}

/* With membarrier(), the thread that ends a session pays for the order between a probe's mark and
 * its check of the session, and probes need no fence. */
_Atomic bool probes_need_fence = true;

static int membarrier(int command)
{
    return (int) syscall(SYS_membarrier, command, 0, 0);
}

void threads_initialize(void)
{
    probes_need_fence = membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) != 0;
    pthread_key_create(&exit_key, release_os_thread);
}

/* A reused state is on the list already; a new one is pushed and stays for good. Threads of the JVM
 * come and go by the thousand, so the list is as long as the largest number of threads at one time,
 * and each search of it as well. */
static struct os_thread *create_os_thread(void)
{
    pthread_mutex_lock(&idle_lock);
    struct os_thread *os = idle_threads;
    if (os != NULL)
        idle_threads = os->next_idle;
    pthread_mutex_unlock(&idle_lock);
    if (os == NULL) {
        os = memory_counted(MEMORY_TABLES, calloc(1, sizeof *os));
        if (os == NULL)
            return NULL;
        struct os_thread *head = atomic_load(&all_threads);
        do
            os->next_all = head;
        while (!atomic_compare_exchange_weak(&all_threads, &head, os));
    }
    pthread_setspecific(exit_key, os);
    thread_self = os;
    return os;
}

/* At the JVM's end, a hundred threads that keep calling probes would leave the drain thread a
 * hundredth of the processors while the program only waits for its trace. Nothing waits for these
 * threads, nor do they wait longer than this; no mark is set yet. The end waits for a thread that
 * has control: it may run Java code of another agent in RetransformClasses. */
__attribute__((cold, noinline)) static void rest(void)
{
    if (!pthread_equal(pthread_self(), tracer.closer) && !control_is_mine())
        nanosleep(&(struct timespec){0, REST_NS}, NULL);
}

/* Enters a probe. The first load only avoids work while nothing is recorded; it decides nothing.
 * What decides is the second one, after the mark.
 *
 * The mark is stored relaxed, and between it and the load there is usually no fence of the
 * processor, only one of the compiler. The processor may still execute the load before the store is
 * visible to others. The thread that ends the session therefore stores NULL and then has every
 * processor that runs a thread of this process execute a full barrier (threads_order_probes()).
 * After it, a thread either has its mark visible, or it has not loaded yet and will load NULL. So a
 * probe costs two plain stores, and the end of a session one system call. Where the kernel has no
 * membarrier(), each probe has the fence.
 *
 * The load of the session acquires what session_begin() wrote before it published the session.
 * probe_leave() releases, so that whoever sees the mark cleared also sees all that the probe wrote.
 * The child of a fork finds the session, but records nothing. */
struct session *probe_enter(struct os_thread **out)
{
    if (__builtin_expect(atomic_load_explicit(&tracer.closing, memory_order_acquire), 0))
        rest();
    if (atomic_load_explicit(&tracer.session, memory_order_relaxed) == NULL)
        return NULL;
    struct os_thread *os = thread_self;
    if (os == NULL && (os = create_os_thread()) == NULL)
        return NULL;
    /* First the mark, then the check: the thread that ends a session sees the mark, or this thread
     * sees that there is no session. */
    atomic_store_explicit(&os->in_probe, 1, memory_order_relaxed);
    if (probes_need_fence)
        atomic_thread_fence(memory_order_seq_cst);
    else
        atomic_signal_fence(memory_order_seq_cst);
    struct session *session = atomic_load_explicit(&tracer.session, memory_order_acquire);
    if (session == NULL || atomic_load_explicit(&tracer.forked, memory_order_relaxed)) {
        probe_leave(os);
        return NULL;
    }
    *out = os;
    return session;
}

/* Has every processor that runs a thread of this process execute a full memory barrier. A process
 * that was restored from a checkpoint is no longer registered, so it is registered again. */
static bool membarrier_everywhere(void)
{
    return membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED) == 0 ||
           (membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) == 0 &&
            membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED) == 0);
}

bool threads_barrier(void)
{
    atomic_thread_fence(memory_order_seq_cst);
    if (atomic_load_explicit(&probes_need_fence, memory_order_relaxed) || membarrier_everywhere())
        return true;
    atomic_store(&probes_need_fence, true);
    /* Stores made without a fence leave a processor's buffer long before that. */
    nanosleep(&(struct timespec){0, UNFENCED_NS}, NULL);
    return false;
}

/* Ends the fast paths. They have no fence at all and no place for one, as they call nothing;
 * without membarrier() their marks may be seen too late. */
static void end_quick_probes(void)
{
    struct session *session = atomic_load(&tracer.session);
    if (session == NULL)
        return;
    atomic_store(&session->quick_methods, false);
    atomic_store(&session->quick_objects, false);
}

uint64_t threads_order_probes(void)
{
    static _Atomic uint64_t count;
    if (!threads_barrier())
        end_quick_probes();
    return atomic_fetch_add(&count, 1) + 1;
}

/* A thread that keeps calling probes is outside between two of them. Many such threads are hardly
 * ever all outside at the same moment, so it is enough that each was seen outside once since the
 * barrier: when it enters again, it finds the session gone. `left` remembers that for each thread;
 * a later call looks only at the rest. A thread that is created meanwhile is pushed onto the list
 * after the session was taken away, and finds none. */
bool threads_have_left(uint64_t since)
{
    bool all = true;
    for (struct os_thread *os = atomic_load(&all_threads); os != NULL; os = os->next_all) {
        if (atomic_load(&os->left) >= since)
            continue;
        if (atomic_load(&os->in_probe) == 0)
            atomic_store(&os->left, since);
        else
            all = false;
    }
    return all;
}

uint64_t threads_not_left(uint64_t since)
{
    uint64_t count = 0;
    for (struct os_thread *os = atomic_load(&all_threads); os != NULL; os = os->next_all)
        count += !thread_has_left(os, since);
    return count;
}

struct os_thread *threads_first(void)
{
    return atomic_load(&all_threads);
}

struct live_stream *thread_stream(struct session *session, struct os_thread *os)
{
    if (__builtin_expect(os->session != session->number, 0)) {
        os->stream = live_stream_take(session->map, false);
        if (os->stream == NULL)
            return NULL;
        os->session = session->number;
        os->events.last_object = 0;
    }
    return os->stream;
}
