/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the list of the JVM's threads. A thread is known by the address of its structure and its
 * number in Java, since addresses are used again. */
#include "agent/hotspot/eden_threads.h"

#include <pthread.h>
#include <stdlib.h>

#include "agent/base/tracer.h"
#include "agent/hotspot/eden_layout.h"
#include "agent/hotspot/thread_counters.h"
#include "agent/hotspot/vm_structs.h"
#include "format/core/grow.h"
#include "format/core/hash.h"

#define WORD sizeof(uint64_t)
#define THREADS_MOST (1u << 20)
#define ENV_MOST 8192u /* a thread's JNIEnv is within its structure */

struct thread_mark {
    uintptr_t thread; /* 0: none */
    int64_t number;
    bool is_open; /* it has a buffer */
    bool is_seen; /* it still lives, or its end was announced */
    uint32_t refills, waste_words;
    uint64_t bytes;
};

/* A table of marks, by address. */
struct marks {
    struct thread_mark *at;
    size_t size; /* a power of two */
};

static struct {
    struct marks last, next;
    struct eden_span *rests;
    size_t rest_room;
    uint64_t gone_bytes; /* of threads that are not in the list any more */
    ptrdiff_t env_at;    /* of a thread's JNIEnv in its structure; 0: not known */
    pthread_mutex_t lock;
    struct thread_mark *ended; /* under the lock: announced, and perhaps still in the list */
    size_t ended_count, ended_room;
    bool lost_one; /* under the lock: out of memory */
} state = {.lock = PTHREAD_MUTEX_INITIALIZER};

void eden_threads_begin(void)
{
    free(state.last.at);
    free(state.next.at);
    state.last = state.next = (struct marks){NULL, 0};
    state.gone_bytes = 0;
    state.env_at = 0;
    pthread_mutex_lock(&state.lock);
    state.ended_count = 0;
    state.lost_one = false;
    pthread_mutex_unlock(&state.lock);
}

/* Returns the place of this thread, or a free one. */
static struct thread_mark *mark_place(const struct marks *marks, uintptr_t thread, int64_t number)
{
    size_t i = (size_t) step_hash(thread) & (marks->size - 1);
    while (marks->at[i].thread != 0 &&
           (marks->at[i].thread != thread || marks->at[i].number != number))
        i = (i + 1) & (marks->size - 1);
    return &marks->at[i];
}

static struct thread_mark *mark_find(const struct marks *marks, uintptr_t thread, int64_t number)
{
    struct thread_mark *found = marks->size != 0 ? mark_place(marks, thread, number) : NULL;
    return found != NULL && found->thread != 0 ? found : NULL;
}

static bool marks_begin(struct marks *marks, size_t count)
{
    size_t size = 64;
    while (size < 2 * count)
        size *= 2;
    free(marks->at);
    marks->at = calloc(size, sizeof *marks->at);
    marks->size = marks->at != NULL ? size : 0;
    return marks->at != NULL;
}

/* Returns 0 for a thread that is being attached. */
static int64_t number_of(uintptr_t thread)
{
    uintptr_t handle = vm_word(thread, eden_layout.thread_object);
    uintptr_t object = handle != 0 ? vm_word(handle, 0) : 0;
    return object != 0 ? (int64_t) vm_word(object, eden_layout.java_id) : 0;
}

static uintptr_t last_of_buffer(uintptr_t thread)
{
    uintptr_t end = vm_word(thread, eden_layout.tlab_end);
    uintptr_t last = vm_word(thread, eden_layout.tlab_last);
    return (last > end ? last : end) + eden_layout.reserve_bytes;
}

/* What the JVM itself says of a thread: its counter, and what it has taken of its open buffer. */
static struct thread_mark mark_of(uintptr_t thread, int64_t number)
{
    uintptr_t start = vm_word(thread, eden_layout.tlab_start);
    struct thread_mark mark = {.thread = thread,
                               .number = number,
                               .is_open = start != 0,
                               .bytes = vm_word(thread, eden_layout.thread_bytes)};
    if (start != 0)
        mark.bytes += vm_word(thread, eden_layout.tlab_top) - start;
    if (eden_layout.tlab_refills != 0) {
        mark.refills = vm_half(thread, eden_layout.tlab_refills);
        mark.waste_words = vm_half(thread, eden_layout.tlab_waste);
    }
    return mark;
}

/* Adds the buffers that a thread has closed since `before`. Each was filled once (`refills`), and
 * each but an open one was closed, with a filler of what was left. */
static void add_fillers(struct eden_threads *out, const struct thread_mark *mark,
                        const struct thread_mark *before)
{
    static const struct thread_mark none;
    if (before == NULL)
        before = &none;
    uint32_t opened = mark->refills - before->refills + before->is_open;
    if (mark->refills < before->refills || mark->waste_words < before->waste_words ||
        opened < mark->is_open) {
        out->fillers_are_known = false;
        return;
    }
    uint64_t closed = opened - mark->is_open;
    out->fillers += closed;
    out->filler_bytes += (mark->waste_words - before->waste_words) * WORD;
}

static int by_address(const void *first, const void *second)
{
    const struct eden_span *a = first, *b = second;
    return (a->from > b->from) - (a->from < b->from);
}

/* Reads the threads of the list. */
static bool read_list(struct eden_threads *out, bool collected)
{
    uintptr_t list = *eden_layout.thread_list;
    uint32_t count = vm_half(list, eden_layout.list_length);
    uintptr_t threads = vm_word(list, eden_layout.list_threads);
    if (count > THREADS_MOST || !marks_begin(&state.next, count) ||
        !STEP_MAKE_ROOM(state.rests, state.rest_room, count))
        return false;
    out->rests = state.rests;
    for (uint32_t i = 0; i < count; i++) {
        uintptr_t thread = vm_word(threads, i * WORD);
        struct thread_mark mark = mark_of(thread, number_of(thread));
        struct thread_mark *before = mark_find(&state.last, mark.thread, mark.number);
        out->bytes += mark.bytes;
        if (mark.is_open)
            state.rests[out->rest_count++] = (struct eden_span){
                vm_word(mark.thread, eden_layout.tlab_top), last_of_buffer(mark.thread)};
        add_fillers(out, &mark, collected ? NULL : before);
        if (before != NULL)
            before->is_seen = true;
        *mark_place(&state.next, mark.thread, mark.number) = mark;
    }
    qsort(state.rests, out->rest_count, sizeof *state.rests, by_address);
    return true;
}

/* A thread that has announced its end stays in the list for a moment, and may still allocate. Its
 * last buffer is closed when it leaves, with a filler up to its end, which no statistics have. */
static void take_ended(struct eden_threads *out, bool collected)
{
    pthread_mutex_lock(&state.lock);
    size_t left = 0;
    for (size_t i = 0; i < state.ended_count; i++) {
        struct thread_mark *ended = &state.ended[i];
        struct thread_mark *before = mark_find(&state.last, ended->thread, ended->number);
        const struct thread_mark *leaving = mark_find(&state.next, ended->thread, ended->number);
        if (leaving != NULL) {
            if (!leaving->is_open && leaving->refills != 0)
                out->fillers_are_known = false;
            state.ended[left] = *ended;
            state.ended[left++].is_seen = true; /* its buffers were counted with the list */
            continue;
        }
        if (before != NULL)
            before->is_seen = true;
        state.gone_bytes += ended->bytes;
        if (ended->is_seen)
            out->fillers_are_known = false;
        else
            add_fillers(out, ended, collected ? NULL : before);
    }
    state.ended_count = left;
    if (state.lost_one)
        out->fillers_are_known = false;
    pthread_mutex_unlock(&state.lock);
}

/* Threads of the JVM's own may end without a word. They allocate next to nothing. Before a session,
 * all do. */
static void take_vanished(struct eden_threads *out)
{
    for (size_t i = 0; i < state.last.size; i++) {
        const struct thread_mark *mark = &state.last.at[i];
        if (mark->thread == 0 || mark->is_seen)
            continue;
        state.gone_bytes += mark->bytes;
        out->fillers_are_known = false;
    }
}

bool eden_threads_read(struct eden_threads *out, bool collected)
{
    *out = (struct eden_threads){.fillers_are_known = true};
    if (!read_list(out, collected))
        return false;
    take_ended(out, collected);
    take_vanished(out);
    out->bytes += state.gone_bytes;
    struct marks last = state.last;
    state.last = state.next;
    state.next = last;
    return true;
}

bool eden_threads_find(int64_t number, const JNIEnv *jni)
{
    uintptr_t list = *eden_layout.thread_list;
    uint32_t count = vm_half(list, eden_layout.list_length);
    uintptr_t threads = vm_word(list, eden_layout.list_threads);
    for (uint32_t i = 0; i < count && i < THREADS_MOST; i++) {
        uintptr_t thread = vm_word(threads, i * WORD);
        ptrdiff_t distance = (ptrdiff_t) ((uintptr_t) jni - thread);
        if (number_of(thread) == number && distance > 0 && distance < ENV_MOST)
            state.env_at = distance;
    }
    return state.env_at != 0;
}

/* The last buffer is open: it will be closed, and its rest filled. */
static void close_last(struct thread_mark *mark)
{
    uintptr_t top = vm_word(mark->thread, eden_layout.tlab_top);
    if (!mark->is_open)
        return;
    mark->is_open = false;
    mark->waste_words += (uint32_t) ((last_of_buffer(mark->thread) - top) / WORD);
}

/* Reads the thread's own structure, again if a pause changed it meanwhile: the call that reads the
 * counter waits for the end of a pause. Returns false if the JVM does not say it. */
static bool mark_own(JNIEnv *jni, jthread thread, struct thread_mark *mark)
{
    uint64_t begun, bytes = 0;
    int64_t number;
    do {
        begun = atomic_load(&tracer.collections_begun);
        if (!thread_counters_read(jni, thread, &number, &bytes))
            return false;
        *mark = mark_of((uintptr_t) jni - (uintptr_t) state.env_at, number);
        mark->bytes = bytes;
        close_last(mark);
    } while (atomic_load(&tracer.collections_begun) != begun || atomic_load(&tracer.in_collection));
    return true;
}

void eden_threads_ended(JNIEnv *jni, jthread thread)
{
    struct thread_mark mark;
    if (state.env_at == 0 || !mark_own(jni, thread, &mark))
        return;
    pthread_mutex_lock(&state.lock);
    if (STEP_MAKE_ROOM(state.ended, state.ended_room, state.ended_count + 1))
        state.ended[state.ended_count++] = mark;
    else
        state.lost_one = true;
    pthread_mutex_unlock(&state.lock);
}
