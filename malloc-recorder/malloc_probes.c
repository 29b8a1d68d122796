/* SPDX-License-Identifier: Apache-2.0 */
/* Events into raw records of the calling thread's stream. */
#include "malloc-recorder/malloc_probes.h"

#include <errno.h>
#include <linux/membarrier.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "malloc-recorder/stacks/frame_tree.h"
#include "malloc-recorder/stacks/stack_walk.h"

#define EARLY_EVENTS 4096
#define RESIZE_WORDS 9u /* of the record of a realloc, and those of what it did */

/* An event from before the recording could start (libc was not ready). */
struct early_event {
    uint64_t words[3];
    uint32_t count;
};

_Thread_local struct recorder_local recorder_local;

static struct early_event early[EARLY_EVENTS];
static _Atomic uint32_t early_count;

static _Atomic(struct recorder_thread *) all_threads;
static pthread_mutex_t idle_lock = PTHREAD_MUTEX_INITIALIZER;
static struct recorder_thread *idle_threads;

/* Threads whose end was recorded share one stream for what libc still frees. */
static struct recorder_thread afterlife;
static pthread_mutex_t afterlife_lock = PTHREAD_MUTEX_INITIALIZER;

/* With membarrier() whoever ends a recording pays for the order between a probe's mark and its look
 * at the recording. */
static bool probes_need_fence = true;

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
    return atomic_load(&afterlife.in_probe) == 0;
}

void record_forget_threads(void)
{
    atomic_store(&all_threads, NULL);
    idle_threads = NULL;
    afterlife = (struct recorder_thread){0};
    pthread_mutex_init(&idle_lock, NULL);
    pthread_mutex_init(&afterlife_lock, NULL);
    recorder_local.thread = NULL;
    recorder_local.wanted_id = 0;
}

/* ---- streams ---- */

static uint64_t *reserve_slowly(struct recording *recording, struct live_stream *stream,
                                size_t words)
{
    struct own_mode own;
    own_mode_enter(&own);
    uint64_t *room = live_reserve_chunk(&recording->map, stream, words);
    if (room == NULL) {
        atomic_fetch_add(&recording->control->missed, 1);
        if (atomic_load(&recording->control->shared.stopping))
            recorder_give_up(recording);
    }
    own_mode_leave(&own);
    return room;
}

static inline uint64_t *reserve(struct recording *recording, struct live_stream *stream,
                                size_t words)
{
    if (__builtin_expect((size_t) (stream->end - stream->cursor) >= words, 1))
        return stream->cursor;
    return reserve_slowly(recording, stream, words);
}

static inline uint64_t later_stamp(struct live_stream *stream, uint64_t stamp)
{
    if (stamp > stream->last_stamp)
        stream->last_stamp = stamp;
    return stream->last_stamp;
}

static void put_thread_event(struct recording *recording, const struct recorder_thread *thread,
                             enum step_live_heap_kind kind)
{
    uint64_t *room = reserve(recording, thread->stream, 2);
    if (room == NULL)
        return;
    room[0] = live_allocs_word(kind, later_stamp(thread->stream, recorder_stamp()));
    room[1] = thread->id;
    live_commit(thread->stream, 2, 1);
}

/* What follows in the stream is this thread's. */
static void put_thread_switch(struct recording *recording, const struct recorder_thread *thread)
{
    uint64_t *room = reserve(recording, thread->stream, 1);
    if (room == NULL)
        return;
    room[0] = live_word(STEP_LIVE_THREAD_SWITCH, thread->id);
    thread->stream->thread = thread->id;
    live_commit(thread->stream, 1, 0);
}

/* ---- threads ---- */

static struct recorder_thread *create_thread(void)
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

/* Gives the thread a stream of this recording, and tells of its start. */
static bool attach(struct recording *recording, struct recorder_thread *thread)
{
    thread->stream = live_stream_take(&recording->map, false);
    if (thread->stream == NULL)
        return false;
    thread->recording = recording->number;
    thread->stack_end = recording->options.stack != 0 && thread != &afterlife ? stack_end() : 0;
    if (thread == &afterlife) {
        thread->id = 0;
        put_thread_switch(recording, thread);
        return true;
    }
    thread->id = recorder_local.wanted_id != 0 ? recorder_local.wanted_id
                                               : atomic_fetch_add(&recording->thread_count, 1) + 1;
    put_thread_switch(recording, thread);
    put_thread_event(recording, thread, STEP_LIVE_HEAP_THREAD_CREATE);
    return true;
}

static void leave(struct recorder_thread *thread)
{
    atomic_store_explicit(&thread->in_probe, 0, memory_order_release);
    if (__builtin_expect(thread == &afterlife, 0))
        pthread_mutex_unlock(&afterlife_lock);
}

static struct recorder_thread *find_thread(void)
{
    struct recorder_thread *thread = recorder_local.thread;
    if (__builtin_expect(thread != NULL, 1))
        return thread;
    struct own_mode own;
    own_mode_enter(&own);
    if (recorder_local.ended) {
        pthread_mutex_lock(&afterlife_lock);
        thread = &afterlife;
    } else {
        thread = create_thread();
    }
    own_mode_leave(&own);
    return thread;
}

static bool attach_slowly(struct recording *recording, struct recorder_thread *thread)
{
    struct own_mode own;
    own_mode_enter(&own);
    bool done = attach(recording, thread);
    own_mode_leave(&own);
    return done;
}

/* Marks the thread as in a probe; NULL when nothing is recorded. */
static struct recorder_thread *enter(struct recording **out)
{
    if (atomic_load_explicit(&recorder_hot.recording, memory_order_relaxed) == NULL)
        return NULL;
    struct recorder_thread *thread = find_thread();
    if (thread == NULL)
        return NULL;
    /* First the mark, then the look: whoever ends a recording sees the mark, or this thread sees
     * that there is no recording. */
    atomic_store_explicit(&thread->in_probe, 1, memory_order_relaxed);
    if (probes_need_fence)
        atomic_thread_fence(memory_order_seq_cst);
    else
        atomic_signal_fence(memory_order_seq_cst);
    struct recording *recording =
        atomic_load_explicit(&recorder_hot.recording, memory_order_acquire);
    if (recording == NULL || (__builtin_expect(thread->recording != recording->number, 0) &&
                              !attach_slowly(recording, thread))) {
        leave(thread);
        return NULL;
    }
    *out = recording;
    return thread;
}

/* ---- events before the start ---- */

static void note_early(const uint64_t *words, uint32_t count)
{
    int state = atomic_load(&recorder_hot.state);
    if (state == STATE_OFF || state == STATE_ON)
        return;
    uint32_t at = atomic_fetch_add(&early_count, 1);
    if (at >= EARLY_EVENTS) {
        atomic_fetch_add(&recorder.missed_early, 1);
        return;
    }
    for (uint32_t i = 0; i < count; i++)
        early[at].words[i] = words[i];
    early[at].count = count;
}

static void put_words(struct recording *recording, struct live_stream *stream,
                      const uint64_t *words, uint32_t count, unsigned events)
{
    uint64_t *room = reserve(recording, stream, count);
    if (room == NULL)
        return;
    for (uint32_t i = 0; i < count; i++)
        room[i] = words[i];
    live_commit(stream, count, events);
}

/* The thread's first record is its start, at time 0. */
void record_early(struct recording *recording)
{
    struct recorder_thread *thread = recorder_local.thread;
    if (thread == NULL && (thread = create_thread()) == NULL)
        return;
    if (!attach(recording, thread))
        return;
    uint32_t count = atomic_exchange(&early_count, 0);
    for (uint32_t i = 0; i < count && i < EARLY_EVENTS; i++) {
        uint64_t stamp = early[i].words[0] >> STEP_LIVE_KIND_BITS;
        uint64_t kind = early[i].words[0] & ((1u << STEP_LIVE_KIND_BITS) - 1);
        early[i].words[0] =
            live_allocs_word((enum step_live_heap_kind) kind, later_stamp(thread->stream, stamp));
        put_words(recording, thread->stream, early[i].words, early[i].count, 1);
    }
}

/* ---- call stacks ---- */

static int define_frame(void *user, uint64_t frame, uint64_t parent, uintptr_t address)
{
    struct recording *recording = user;
    uint64_t *room = reserve(recording, recording->global, 3);
    if (room == NULL)
        return 0;
    room[0] = (uint64_t) STEP_LIVE_HEAP_FRAME | frame << STEP_LIVE_KIND_BITS;
    room[1] = parent;
    room[2] = address;
    live_commit(recording->global, 3, 0);
    return 1;
}

/* The calling thread's stack is that of what it records next. */
__attribute__((noinline)) static void put_stack(struct recorder_thread *thread,
                                                struct recording *recording)
{
    /* no more of the program's stack than need be */
    uintptr_t *addresses = __builtin_alloca(recording->options.stack * sizeof *addresses);
    unsigned depth = stack_walk(addresses, recording->options.stack, thread->stack_end,
                                (uintptr_t) __builtin_return_address(0));
    uint64_t frame = frame_tree_put(addresses, depth, define_frame, recording);
    uint64_t *room = reserve(recording, thread->stream, 1);
    if (room == NULL || frame == thread->stream->stack)
        return;
    room[0] = live_word(STEP_LIVE_STACK, frame);
    thread->stream->stack = frame;
    live_commit(thread->stream, 1, 0);
}

static inline void tell_stack(struct recorder_thread *thread, struct recording *recording,
                              size_t words)
{
    if (__builtin_expect(recording->options.stack == 0, 1))
        return;
    /* a chunk that begins between the two would not know of it */
    if (reserve(recording, thread->stream, words + 1) != NULL)
        put_stack(thread, recording);
}

/* ---- events ---- */

/* Puts one event; `words[0]` has its kind and stamp. */
static void put_event(struct recorder_thread *thread, struct recording *recording,
                      enum step_live_heap_kind kind, uint64_t stamp, uint64_t first,
                      uint64_t second, size_t count)
{
    struct live_stream *stream = thread->stream;
    uint64_t *room = reserve(recording, stream, count);
    if (room != NULL) {
        room[0] = live_allocs_word(kind, later_stamp(stream, stamp));
        room[1] = first;
        if (count > 2)
            room[2] = second;
        live_commit(stream, count, 1);
    }
    leave(thread);
}

/* An event in a heap of the program's own. */
static void put_heap_event(struct recorder_thread *thread, struct recording *recording,
                           uint64_t stamp, uint64_t heap, const uint64_t *words, size_t count)
{
    struct live_stream *stream = thread->stream;
    if (words[0] == STEP_LIVE_HEAP_ALLOC)
        tell_stack(thread, recording, count + 1);
    uint64_t *room = reserve(recording, stream, count + 1);
    if (room != NULL) {
        room[0] = (uint64_t) STEP_LIVE_HEAP_IN | heap << STEP_LIVE_KIND_BITS;
        room[1] = live_allocs_word((enum step_live_heap_kind) words[0], later_stamp(stream, stamp));
        for (size_t i = 1; i < count; i++)
            room[1 + i] = words[i];
        live_commit(stream, count + 1, 1);
    }
    leave(thread);
}

void record_heap_alloc(uint64_t heap, size_t size, const void *block, uint64_t call)
{
    struct recording *recording;
    struct recorder_thread *thread = enter(&recording);
    const uint64_t words[] = {STEP_LIVE_HEAP_ALLOC, size | call, (uintptr_t) block};
    if (thread != NULL)
        put_heap_event(thread, recording, recorder_stamp(), heap, words, 3);
}

void record_heap_free(uint64_t heap, const void *block, uint64_t call)
{
    record_heap_free_at(recorder_stamp(), heap, block, call);
}

void record_heap_free_at(uint64_t stamp, uint64_t heap, const void *block, uint64_t call)
{
    struct recording *recording;
    struct recorder_thread *thread = enter(&recording);
    const uint64_t words[] = {STEP_LIVE_HEAP_FREE, (uintptr_t) block | call};
    if (thread != NULL)
        put_heap_event(thread, recording, stamp, heap, words, 2);
}

void record_heap_event(enum step_live_heap_kind kind, uint64_t heap)
{
    struct recording *recording;
    struct recorder_thread *thread = enter(&recording);
    if (thread != NULL)
        put_event(thread, recording, kind, recorder_stamp(), heap, 0, 2);
}

void record_alloc(size_t size, const void *block, uint64_t call)
{
    struct recording *recording;
    struct recorder_thread *thread = enter(&recording);
    if (thread != NULL)
        tell_stack(thread, recording, 3);
    uint64_t stamp = recorder_stamp();
    if (thread != NULL) {
        put_event(thread, recording, STEP_LIVE_HEAP_ALLOC, stamp, size | call, (uintptr_t) block,
                  3);
        return;
    }
    const uint64_t words[] = {live_allocs_word(STEP_LIVE_HEAP_ALLOC, stamp), size | call,
                              (uintptr_t) block};
    note_early(words, 3);
}

void record_free(const void *block, uint64_t call)
{
    struct recording *recording;
    struct recorder_thread *thread = enter(&recording);
    uint64_t stamp = recorder_stamp();
    if (thread != NULL) {
        put_event(thread, recording, STEP_LIVE_HEAP_FREE, stamp, (uintptr_t) block | call, 0, 2);
        return;
    }
    const uint64_t words[] = {live_allocs_word(STEP_LIVE_HEAP_FREE, stamp),
                              (uintptr_t) block | call};
    note_early(words, 2);
}

/* Before libc is ready there is no room for the record of the realloc: its parts are noted. */
static void note_early_realloc(const struct record_resize *resize, const void *old_block,
                               size_t size, const void *new_block)
{
    const uint64_t freed[] = {live_allocs_word(STEP_LIVE_HEAP_FREE, resize->before),
                              (uintptr_t) old_block};
    const uint64_t made[] = {live_allocs_word(STEP_LIVE_HEAP_ALLOC, recorder_stamp()), size,
                             (uintptr_t) new_block};
    if (old_block != NULL)
        note_early(freed, 2);
    if (new_block != NULL)
        note_early(made, 3);
}

/* The stamp tells that the rest is there. */
static void owe_free(struct live_stream *stream, uint64_t stamp, uint64_t heap, const void *block)
{
    struct live_debt *debt = &stream->debt;
    atomic_thread_fence(memory_order_release);
    atomic_store_explicit(&debt->heap, heap, memory_order_relaxed);
    atomic_store_explicit(&debt->address, (uintptr_t) block, memory_order_relaxed);
    atomic_store_explicit(&debt->record, stream->events, memory_order_relaxed);
    atomic_store_explicit(&debt->stamp, stamp, memory_order_release);
}

void record_resize_begin(struct record_resize *resize, uint64_t heap, const void *block,
                         uint64_t call)
{
    struct recording *recording;
    struct recorder_thread *thread = enter(&recording);
    *resize = (struct record_resize){.call = call};
    if (thread != NULL) {
        /* one more for the call stack */
        resize->is_missed = reserve(recording, thread->stream, RESIZE_WORDS + 1) == NULL;
        if (resize->is_missed || thread == &afterlife) {
            leave(thread);
        } else {
            resize->thread = thread;
            resize->recording = recording;
        }
    }
    resize->before = recorder_stamp();
    if (resize->thread != NULL && block != NULL)
        owe_free(thread->stream, resize->before, heap, block);
}

void record_resize_end(struct record_resize *resize)
{
    if (resize->thread == NULL)
        return;
    atomic_store_explicit(&resize->thread->stream->debt.stamp, 0, memory_order_release);
    leave(resize->thread);
}

/* The record, and those of what it did: the free with the stamp from before the real call, since
 * another thread may have the old address by now, the allocation with that from after it, since
 * another thread may have had the new address until then.  In place, the part that was given up
 * goes at the first time, the part that was won comes at the second. */
void record_realloc(const struct record_resize *resize, const void *old_block, size_t size,
                    const void *new_block)
{
    struct recording *recording = resize->recording;
    struct recorder_thread *thread = resize->thread;
    if (resize->is_missed)
        return;
    if (thread == NULL && (thread = enter(&recording)) == NULL) {
        note_early_realloc(resize, old_block, size, new_block);
        return;
    }
    bool in_place = old_block == new_block && old_block != NULL;
    tell_stack(thread, recording, RESIZE_WORDS);
    uint64_t after = recorder_stamp();
    struct live_stream *stream = thread->stream;
    uint64_t *room = reserve(recording, stream, RESIZE_WORDS);
    if (room != NULL) {
        size_t used = 4;
        unsigned events = 1;
        uint64_t stamp = later_stamp(stream, in_place && !resize->shrinks ? after : resize->before);
        room[0] = live_allocs_word(STEP_LIVE_HEAP_REALLOC, stamp);
        room[1] = size | resize->call;
        room[2] = (uintptr_t) old_block;
        room[3] = (uintptr_t) new_block;
        if (!in_place && old_block != NULL) {
            room[used++] = live_allocs_word(STEP_LIVE_HEAP_FREE, stamp);
            room[used++] = (uintptr_t) old_block;
            events++;
        }
        if (!in_place && new_block != NULL) {
            room[used++] = live_allocs_word(STEP_LIVE_HEAP_ALLOC, later_stamp(stream, after));
            room[used++] = size;
            room[used++] = (uintptr_t) new_block;
            events++;
        }
        live_commit(stream, used, events);
    }
    if (resize->thread == NULL)
        leave(thread);
}

uint64_t record_thread_number(void)
{
    struct recording *recording;
    struct recorder_thread *thread = enter(&recording);
    if (thread == NULL)
        return 0;
    uint64_t number = atomic_fetch_add(&recording->thread_count, 1) + 1;
    leave(thread);
    return number;
}

void record_thread_begin(uint64_t number)
{
    struct recording *recording;
    recorder_local.wanted_id = number;
    struct recorder_thread *thread = enter(&recording);
    if (thread != NULL)
        leave(thread);
    recorder_local.wanted_id = 0;
}

void record_thread_end(void)
{
    struct recording *recording;
    struct recorder_thread *thread = recorder_local.thread;
    if (thread == NULL)
        return;
    if (enter(&recording) != NULL) {
        struct own_mode own;
        put_thread_event(recording, thread, STEP_LIVE_HEAP_THREAD_DESTROY);
        own_mode_enter(&own);
        live_stream_give_back(&recording->map, thread->stream);
        own_mode_leave(&own);
        leave(thread);
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
