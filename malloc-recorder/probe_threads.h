/* SPDX-License-Identifier: Apache-2.0 */
/* Start and end of a probe: the calling thread, its stream, room in it. */
#ifndef MALLOC_RECORDER_PROBE_THREADS_H
#define MALLOC_RECORDER_PROBE_THREADS_H

#include "malloc-recorder/recorder.h"

/* Threads whose end was recorded share one stream for blocks that libc still frees. */
extern struct recorder_thread probe_afterlife;
extern pthread_mutex_t probe_afterlife_lock;
/* Without membarrier() each probe pays for the order. */
extern bool probes_need_fence;

struct recorder_thread *probe_find_thread_slowly(void);
struct recorder_thread *probe_create_thread(void);
/* Gives the thread a stream of this recording, and records its start. */
bool probe_attach(struct recording *recording, struct recorder_thread *thread);
/* Attaches from a probe: enters MODE_OWN for probe_attach(). */
bool probe_attach_slowly(struct recording *recording, struct recorder_thread *thread);
uint64_t *probe_reserve_slowly(struct recording *recording, struct live_stream *stream,
                               size_t words);

/* Returns room for that many words at the stream's cursor, or NULL; then they are counted as
 * missed. */
static inline uint64_t *probe_reserve(struct recording *recording, struct live_stream *stream,
                                      size_t words)
{
    if (__builtin_expect((size_t) (stream->end - stream->cursor) >= words, 1))
        return stream->cursor;
    return probe_reserve_slowly(recording, stream, words);
}

static inline uint64_t probe_later_stamp(struct live_stream *stream, uint64_t stamp)
{
    if (stamp > stream->last_stamp)
        stream->last_stamp = stamp;
    return stream->last_stamp;
}

static inline void probe_leave(struct recorder_thread *thread)
{
    atomic_store_explicit(&thread->in_probe, 0, memory_order_release);
    if (__builtin_expect(thread == &probe_afterlife, 0))
        pthread_mutex_unlock(&probe_afterlife_lock);
}

/* Marks the thread as inside a probe.  Returns NULL if nothing is recorded. */
static inline struct recorder_thread *probe_enter(struct recording **out)
{
    if (atomic_load_explicit(&recorder_hot.recording, memory_order_relaxed) == NULL)
        return NULL;
    struct recorder_thread *thread = recorder_local.thread;
    if (__builtin_expect(thread == NULL, 0) && (thread = probe_find_thread_slowly()) == NULL)
        return NULL;
    /* First the mark, then the check: either the end of a recording sees the mark, or this thread
     * sees that there is no recording. */
    atomic_store_explicit(&thread->in_probe, 1, memory_order_relaxed);
    if (probes_need_fence)
        atomic_thread_fence(memory_order_seq_cst);
    else
        atomic_signal_fence(memory_order_seq_cst);
    struct recording *recording =
        atomic_load_explicit(&recorder_hot.recording, memory_order_acquire);
    if (recording == NULL || (__builtin_expect(thread->recording != recording->number, 0) &&
                              !probe_attach_slowly(recording, thread))) {
        probe_leave(thread);
        return NULL;
    }
    *out = recording;
    return thread;
}

/* Writes a record of that many words. */
void probe_put(struct recording *recording, struct live_stream *stream, const uint64_t *words,
               size_t count, unsigned events);

/* Returns a number for a thread that is about to start; 0: nothing is recorded. */
uint64_t record_thread_number(void);
/* Records the start of the calling thread. */
void record_thread_begin(uint64_t number);
/* Records its end. */
void record_thread_end(void);

/* Returns true if no thread is inside a probe.  Call it when recorder_hot.recording is NULL, so
 * that no thread enters one. */
bool record_all_outside(void);
void record_order_probes(void);
void record_initialize(void);
/* Call in a child after fork(), which has only one thread: clears the state of all threads. */
void record_forget_threads(void);

#endif
