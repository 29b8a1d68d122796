/* SPDX-License-Identifier: Apache-2.0 */
/* Threads of the program: their streams, and the rare parts of a probe. */
#include "malloc-recorder/probe_threads.h"

#include <linux/membarrier.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "malloc-recorder/stacks/stack_walk.h"

_Thread_local struct recorder_local recorder_local;

static _Atomic(struct recorder_thread *) all_threads;
static pthread_mutex_t idle_lock = PTHREAD_MUTEX_INITIALIZER;
static struct recorder_thread *idle_threads;

/* Threads whose end was recorded share one stream for blocks that libc still frees. */
struct recorder_thread probe_afterlife;
pthread_mutex_t probe_afterlife_lock = PTHREAD_MUTEX_INITIALIZER;

/* With membarrier(), ending a recording pays for the order between a probe's mark and its check of
 * the recording. */
bool probes_need_fence = true;

static int membarrier(int command)
{
    return (int) syscall(SYS_membarrier, command, 0, 0);
}

void record_initialize(void)
{
    probes_need_fence = membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) != 0;
}

void record_order_probes(void)
{
    atomic_thread_fence(memory_order_seq_cst);
    if (!probes_need_fence)
        membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED);
}

bool record_all_outside(void)
{
    for (struct recorder_thread *thread = atomic_load(&all_threads); thread != NULL;
         thread = thread->next_all)
        if (atomic_load(&thread->in_probe) != 0)
            return false;
    return atomic_load(&probe_afterlife.in_probe) == 0;
}

void record_forget_threads(void)
{
    atomic_store(&all_threads, NULL);
    idle_threads = NULL;
    probe_afterlife = (struct recorder_thread){0};
    pthread_mutex_init(&idle_lock, NULL);
    pthread_mutex_init(&probe_afterlife_lock, NULL);
    recorder_local.thread = NULL;
    recorder_local.wanted_id = 0;
}

/* ---- streams ---- */

/* From now on records are lost, unless the buffers are emptied again. */
static void note_lost(struct recording *recording)
{
    uint64_t none = 0, now = recorder_stamp();
    if (!recording->map.drop || atomic_load(&recording->map.shared->failed))
        atomic_compare_exchange_strong(&recording->map.header->lost_stamp, &none, now);
}

uint64_t *probe_reserve_slowly(struct recording *recording, struct live_stream *stream,
                               size_t words)
{
    struct own_mode own;
    own_mode_enter(&own);
    uint64_t *room = live_reserve_chunk(&recording->map, stream, words);
    if (room == NULL) {
        atomic_fetch_add(&recording->control->missed, 1);
        note_lost(recording);
        if (atomic_load(&recording->control->shared.stopping))
            recorder_give_up(recording);
    }
    own_mode_leave(&own);
    return room;
}

void probe_put(struct recording *recording, struct live_stream *stream, const uint64_t *words,
               size_t count, unsigned events)
{
    uint64_t *room = probe_reserve(recording, stream, count);
    if (room == NULL)
        return;
    memcpy(room, words, count * sizeof *room);
    live_commit(stream, count, events);
}

static void probe_threads_put_event(struct recording *recording,
                                    const struct recorder_thread *thread,
                                    enum step_live_heap_kind kind)
{
    const uint64_t words[] = {live_word(kind, probe_later_stamp(thread->stream, recorder_stamp())),
                              thread->id};
    probe_put(recording, thread->stream, words, 2, 1);
}

/* Marks the following records of the stream as this thread's. */
static void put_thread_switch(struct recording *recording, const struct recorder_thread *thread)
{
    uint64_t *room = probe_reserve(recording, thread->stream, 1);
    if (room == NULL)
        return;
    room[0] = live_word(STEP_LIVE_THREAD_SWITCH, thread->id);
    thread->stream->thread = thread->id;
    live_commit(thread->stream, 1, 0);
}

/* ---- threads ---- */

struct recorder_thread *probe_create_thread(void)
{
    pthread_mutex_lock(&idle_lock);
    struct recorder_thread *thread = idle_threads;
    if (thread != NULL)
        idle_threads = thread->next_idle;
    pthread_mutex_unlock(&idle_lock);
    if (thread == NULL && (thread = calloc(1, sizeof *thread)) != NULL) {
        struct recorder_thread *head = atomic_load(&all_threads);
        do
            thread->next_all = head;
        while (!atomic_compare_exchange_weak(&all_threads, &head, thread));
    }
    if (thread != NULL && recorder.exit_key_made)
        pthread_setspecific(recorder.exit_key, thread);
    recorder_local.thread = thread;
    return thread;
}

bool probe_attach(struct recording *recording, struct recorder_thread *thread)
{
    thread->stream = live_stream_take(&recording->map, false);
    if (thread->stream == NULL)
        return false;
    thread->recording = recording->number;
    thread->stack_end =
        recording->options.stack != 0 && thread != &probe_afterlife ? stack_end() : 0;
    if (thread == &probe_afterlife) {
        thread->id = 0;
        put_thread_switch(recording, thread);
        return true;
    }
    thread->id = recorder_local.wanted_id != 0 ? recorder_local.wanted_id
                                               : atomic_fetch_add(&recording->thread_count, 1) + 1;
    put_thread_switch(recording, thread);
    probe_threads_put_event(recording, thread, STEP_LIVE_HEAP_THREAD_CREATE);
    return true;
}

struct recorder_thread *probe_find_thread_slowly(void)
{
    struct recorder_thread *thread;
    struct own_mode own;
    own_mode_enter(&own);
    if (recorder_local.ended) {
        pthread_mutex_lock(&probe_afterlife_lock);
        thread = &probe_afterlife;
    } else {
        thread = probe_create_thread();
    }
    own_mode_leave(&own);
    return thread;
}

bool probe_attach_slowly(struct recording *recording, struct recorder_thread *thread)
{
    struct own_mode own;
    own_mode_enter(&own);
    bool done = probe_attach(recording, thread);
    own_mode_leave(&own);
    return done;
}

uint64_t record_thread_number(void)
{
    struct recording *recording;
    struct recorder_thread *thread = probe_enter(&recording);
    if (thread == NULL)
        return 0;
    uint64_t number = atomic_fetch_add(&recording->thread_count, 1) + 1;
    probe_leave(thread);
    return number;
}

void record_thread_begin(uint64_t number)
{
    struct recording *recording;
    recorder_local.wanted_id = number;
    struct recorder_thread *thread = probe_enter(&recording);
    if (thread != NULL)
        probe_leave(thread);
    recorder_local.wanted_id = 0;
}

void record_thread_end(void)
{
    struct recording *recording;
    struct recorder_thread *thread = recorder_local.thread;
    if (thread == NULL)
        return;
    if (probe_enter(&recording) != NULL) {
        struct own_mode own;
        probe_threads_put_event(recording, thread, STEP_LIVE_HEAP_THREAD_DESTROY);
        own_mode_enter(&own);
        live_stream_give_back(&recording->map, thread->stream);
        own_mode_leave(&own);
        probe_leave(thread);
    }
    thread->recording = 0;
    thread->stream = NULL;
    recorder_local.thread = NULL;
    recorder_local.ended = true;
    struct own_mode own;
    own_mode_enter(&own);
    pthread_mutex_lock(&idle_lock);
    thread->next_idle = idle_threads;
    idle_threads = thread;
    pthread_mutex_unlock(&idle_lock);
    own_mode_leave(&own);
}
