/* SPDX-License-Identifier: Apache-2.0 */
/* Writes allocation events as raw records of the calling thread's stream. */
#include "malloc-recorder/malloc_probes.h"

#include "malloc-recorder/probe_threads.h"
#include "malloc-recorder/stacks/frame_tree.h"
#include "malloc-recorder/stacks/stack_walk.h"

static int define_frame(void *user, uint64_t frame, uint64_t parent, uintptr_t address)
{
    struct recording *recording = user;
    uint64_t *room = probe_reserve(recording, recording->global, 3);
    if (room == NULL)
        return 0;
    room[0] = live_word(STEP_LIVE_HEAP_FRAME, frame);
    room[1] = parent;
    room[2] = address;
    live_commit(recording->global, 3, 0);
    return 1;
}

/* Records the calling thread's stack as that of its next event. */
static void probe_put_stack(struct recorder_thread *thread, struct recording *recording)
{
    /* use little of the program's stack */
    uintptr_t *addresses = __builtin_alloca(recording->options.stack * sizeof *addresses);
    unsigned depth = stack_walk(addresses, recording->options.stack, thread->stack_end,
                                (uintptr_t) __builtin_return_address(0));
    uint64_t frame = frame_tree_put(addresses, depth, define_frame, recording);
    uint64_t *room = probe_reserve(recording, thread->stream, 1);
    if (room == NULL || frame == thread->stream->stack)
        return;
    room[0] = live_word(STEP_LIVE_STACK, frame);
    thread->stream->stack = frame;
    live_commit(thread->stream, 1, 0);
}

/* Does so if stacks are enabled, before a record of that many words. */
static inline void probe_record_stack(struct recorder_thread *thread, struct recording *recording,
                                      size_t words)
{
    if (__builtin_expect(recording->options.stack == 0, 1))
        return;
    /* a chunk that begins between the two would not have the stack */
    if (probe_reserve(recording, thread->stream, words + 1) != NULL)
        probe_put_stack(thread, recording);
}

#define EARLY_EVENTS 4096
#define REALLOC_WORDS 9u                  /* a realloc, its free and its allocation */
#define RESIZE_WORDS (REALLOC_WORDS + 1u) /* with its call stack */

/* An event before the recording could start (libc was not ready). */
struct early_event {
    uint64_t words[3];
    uint32_t count;
};

static struct early_event early[EARLY_EVENTS];
static _Atomic uint32_t early_count;

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

/* The thread's first record is its start, at time 0. */
void record_early(struct recording *recording)
{
    struct recorder_thread *thread = recorder_local.thread;
    if (thread == NULL && (thread = probe_create_thread()) == NULL)
        return;
    if (!probe_attach(recording, thread))
        return;
    uint32_t count = atomic_exchange(&early_count, 0);
    for (uint32_t i = 0; i < count && i < EARLY_EVENTS; i++) {
        uint64_t stamp = early[i].words[0] >> STEP_LIVE_KIND_BITS;
        uint64_t kind = early[i].words[0] & ((1u << STEP_LIVE_KIND_BITS) - 1);
        early[i].words[0] = live_word((uint32_t) kind, probe_later_stamp(thread->stream, stamp));
        probe_put(recording, thread->stream, early[i].words, early[i].count, 1);
    }
}

/* ---- events ---- */

/* Writes an event; `words[0]` has its kind and stamp. */
static void malloc_probes_put_event(struct recorder_thread *thread, struct recording *recording,
                                    enum step_live_heap_kind kind, uint64_t stamp, uint64_t first,
                                    uint64_t second, size_t count)
{
    struct live_stream *stream = thread->stream;
    uint64_t *room = probe_reserve(recording, stream, count);
    if (room != NULL) {
        room[0] = live_word(kind, probe_later_stamp(stream, stamp));
        room[1] = first;
        if (count > 2)
            room[2] = second;
        live_commit(stream, count, 1);
    }
    probe_leave(thread);
}

/* Writes an event in a heap of the program. */
static void put_heap_event(struct recorder_thread *thread, struct recording *recording,
                           uint64_t stamp, uint64_t heap, const uint64_t *words, size_t count)
{
    struct live_stream *stream = thread->stream;
    if (words[0] == STEP_LIVE_HEAP_ALLOC)
        probe_record_stack(thread, recording, count + 1);
    uint64_t *room = probe_reserve(recording, stream, count + 1);
    if (room != NULL) {
        room[0] = live_word(STEP_LIVE_HEAP_IN, heap);
        room[1] = live_word((uint32_t) words[0], probe_later_stamp(stream, stamp));
        for (size_t i = 1; i < count; i++)
            room[1 + i] = words[i];
        live_commit(stream, count + 1, 1);
    }
    probe_leave(thread);
}

void record_heap_alloc(uint64_t heap, size_t size, const void *block, uint64_t call)
{
    struct recording *recording;
    struct recorder_thread *thread = probe_enter(&recording);
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
    struct recorder_thread *thread = probe_enter(&recording);
    const uint64_t words[] = {STEP_LIVE_HEAP_FREE, (uintptr_t) block | call};
    if (thread != NULL)
        put_heap_event(thread, recording, stamp, heap, words, 2);
}

void record_heap_event(enum step_live_heap_kind kind, uint64_t heap)
{
    struct recording *recording;
    struct recorder_thread *thread = probe_enter(&recording);
    if (thread != NULL)
        malloc_probes_put_event(thread, recording, kind, recorder_stamp(), heap, 0, 2);
}

void record_alloc(size_t size, const void *block, uint64_t call)
{
    struct recording *recording;
    struct recorder_thread *thread = probe_enter(&recording);
    if (thread != NULL)
        probe_record_stack(thread, recording, 3);
    uint64_t stamp = recorder_stamp();
    if (thread != NULL) {
        malloc_probes_put_event(thread, recording, STEP_LIVE_HEAP_ALLOC, stamp, size | call,
                                (uintptr_t) block, 3);
        return;
    }
    const uint64_t words[] = {live_word(STEP_LIVE_HEAP_ALLOC, stamp), size | call,
                              (uintptr_t) block};
    note_early(words, 3);
}

void record_free(const void *block, uint64_t call)
{
    struct recording *recording;
    struct recorder_thread *thread = probe_enter(&recording);
    uint64_t stamp = recorder_stamp();
    if (thread != NULL) {
        malloc_probes_put_event(thread, recording, STEP_LIVE_HEAP_FREE, stamp,
                                (uintptr_t) block | call, 0, 2);
        return;
    }
    const uint64_t words[] = {live_word(STEP_LIVE_HEAP_FREE, stamp), (uintptr_t) block | call};
    note_early(words, 2);
}

/* Before libc is ready there is no room for the record of a realloc, so its parts are noted. */
static void note_early_realloc(const struct record_resize *resize, const void *old_block,
                               size_t size, const void *new_block)
{
    const uint64_t freed[] = {live_word(STEP_LIVE_HEAP_FREE, resize->before),
                              (uintptr_t) old_block};
    const uint64_t made[] = {live_word(STEP_LIVE_HEAP_ALLOC, recorder_stamp()), size,
                             (uintptr_t) new_block};
    if (old_block != NULL)
        note_early(freed, 2);
    if (new_block != NULL)
        note_early(made, 3);
}

/* Stores the pending free behind the future record, in the chunk itself, so that recovery sees it
 * too. */
static _Atomic uint32_t *owe_free(struct live_stream *stream, uint64_t stamp, uint64_t heap,
                                  const void *block)
{
    struct step_live_chunk *chunk = atomic_load_explicit(&stream->ref, memory_order_relaxed)->chunk;
    uint64_t *words = stream->cursor + RESIZE_WORDS;
    atomic_thread_fence(memory_order_release);
    words[0] = live_word(STEP_LIVE_HEAP_IN, heap);
    words[1] = live_word(STEP_LIVE_HEAP_FREE, stamp);
    words[2] = (uintptr_t) block;
    chunk->owed_record = stream->events;
    atomic_store_explicit(&chunk->owed_at, (uint32_t) (words - stream->base), memory_order_release);
    return &chunk->owed_at;
}

void record_resize_begin(struct record_resize *resize, uint64_t heap, const void *block,
                         uint64_t call)
{
    struct recording *recording;
    struct recorder_thread *thread = probe_enter(&recording);
    *resize = (struct record_resize){.call = call};
    if (thread != NULL) {
        resize->is_missed =
            probe_reserve(recording, thread->stream, RESIZE_WORDS + STEP_LIVE_OWED_WORDS) == NULL;
        if (resize->is_missed || thread == &probe_afterlife) {
            probe_leave(thread);
        } else {
            resize->thread = thread;
            resize->recording = recording;
        }
    }
    resize->before = recorder_stamp();
    if (resize->thread != NULL && block != NULL)
        resize->owed = owe_free(thread->stream, resize->before, heap, block);
}

void record_resize_end(struct record_resize *resize)
{
    if (resize->thread == NULL)
        return;
    if (resize->owed != NULL)
        atomic_store_explicit(resize->owed, 0, memory_order_release);
    probe_leave(resize->thread);
}

/* Writes the record of a realloc followed by its own free and allocation.  The free has the stamp
 * from before the real call, because another thread may have got the old address since; the
 * allocation has the stamp from after it, because another thread may have had the new address until
 * then.  In place, memory given up is freed at the first time, memory gained is allocated at the
 * second. */
void record_realloc(const struct record_resize *resize, const void *old_block, size_t size,
                    const void *new_block)
{
    struct recording *recording = resize->recording;
    struct recorder_thread *thread = resize->thread;
    if (resize->is_missed)
        return;
    if (thread == NULL && (thread = probe_enter(&recording)) == NULL) {
        note_early_realloc(resize, old_block, size, new_block);
        return;
    }
    bool in_place = old_block == new_block && old_block != NULL;
    probe_record_stack(thread, recording, REALLOC_WORDS);
    uint64_t after = recorder_stamp();
    struct live_stream *stream = thread->stream;
    uint64_t *room = probe_reserve(recording, stream, REALLOC_WORDS);
    if (room != NULL) {
        size_t used = 4;
        unsigned events = 1;
        uint64_t stamp =
            probe_later_stamp(stream, in_place && !resize->shrinks ? after : resize->before);
        room[0] = live_word(STEP_LIVE_HEAP_REALLOC, stamp);
        room[1] = size | resize->call;
        room[2] = (uintptr_t) old_block;
        room[3] = (uintptr_t) new_block;
        if (!in_place && old_block != NULL) {
            room[used++] = live_word(STEP_LIVE_HEAP_FREE, stamp);
            room[used++] = (uintptr_t) old_block;
            events++;
        }
        if (!in_place && new_block != NULL) {
            room[used++] = live_word(STEP_LIVE_HEAP_ALLOC, probe_later_stamp(stream, after));
            room[used++] = size;
            room[used++] = (uintptr_t) new_block;
            events++;
        }
        live_commit(stream, used, events);
    }
    if (resize->thread == NULL)
        probe_leave(thread);
}
