/* SPDX-License-Identifier: Apache-2.0 */
/* Access to the real allocator behind the interposed functions. */
#ifndef MALLOC_RECORDER_INTERPOSE_H
#define MALLOC_RECORDER_INTERPOSE_H

#include <stdbool.h>
#include <stddef.h>

#include "malloc-recorder/malloc_probes.h"
#include "malloc-recorder/program_heaps.h"

struct real_allocator {
    void *(*malloc)(size_t);
    void *(*calloc)(size_t, size_t);
    void *(*realloc)(void *, size_t);
    void (*free)(void *);
    int (*posix_memalign)(void **, size_t, size_t);
    void *(*aligned_alloc)(size_t, size_t);
    void *(*memalign)(size_t, size_t);
    void *(*valloc)(size_t);
    void *(*pvalloc)(size_t);
    size_t (*malloc_usable_size)(void *);
};

extern struct real_allocator real;

/* ---- for the functions that stand in front ---- */

#define EXPORT __attribute__((visibility("default")))

static inline bool is_recorded(void)
{
    if (__builtin_expect(recorder_local.mode != MODE_PROGRAM, 0))
        return false;
    int state = atomic_load_explicit(&recorder_hot.state, memory_order_relaxed);
    if (__builtin_expect(state != STATE_ON, 0)) {
        recorder_prepare();
        return atomic_load_explicit(&recorder_hot.state, memory_order_relaxed) != STATE_OFF;
    }
    return true;
}

/* Returns true for a call by the recorder itself, or before the real functions are known. */
static inline bool is_own(void)
{
    return recorder_local.mode == MODE_OWN || real.malloc == NULL;
}

static inline void enter_real(void)
{
    recorder_local.mode = MODE_BUSY;
    atomic_signal_fence(memory_order_seq_cst);
}

static inline void leave_real(void)
{
    atomic_signal_fence(memory_order_seq_cst);
    recorder_local.mode = MODE_PROGRAM;
}

/* Records a block's free, in whatever heap it is. */
static inline void note_free(const void *block, uint64_t call)
{
    uint64_t heap = heap_blocks_take(block);
    if (__builtin_expect(heap != 0, 0))
        record_heap_free(heap, block, call);
    else
        record_free(block, call);
}

/* Interposes functions of jemalloc and mimalloc beyond malloc's family, with their heaps. */

/* Redirects these functions if a loaded library has them.  A program that searches for them does
 * not find them if the allocator is absent. */
void interpose_heaps(void);

/* Records a resize that moved the block from one heap to another (0: malloc's); `moved` may be
 * NULL. */
void note_moved(const struct record_resize *resize, uint64_t old, uint64_t heap, const void *block,
                size_t size, const void *moved);

/* Call before the real function that resizes the block to that size. */
static inline void begin_resize(struct record_resize *resize, uint64_t heap, void *block,
                                size_t size, uint64_t call)
{
    record_resize_begin(resize, heap, block, call);
    resize->shrinks = block != NULL && size <= real.malloc_usable_size(block);
}

/* Call afterwards: the block was in heap `old`, `moved` is in `heap`.  If `moved` is NULL nothing
 * happened, unless the call `frees`. */
static inline void end_resize(struct record_resize *resize, uint64_t old, uint64_t heap,
                              void *block, size_t size, void *moved, bool frees)
{
    bool is_done = moved != NULL || frees;
    if (is_done && __builtin_expect((old | heap) != 0, 0))
        note_moved(resize, old, heap, block, size, moved);
    else if (is_done)
        record_realloc(resize, block, size, moved);
    else if (old != 0)
        heap_blocks_put(block, old);
    record_resize_end(resize);
}

#endif
