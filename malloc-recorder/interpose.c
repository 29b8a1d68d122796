/* SPDX-License-Identifier: Apache-2.0 */
/* The functions that stand in front of the allocator's. */
#include "malloc-recorder/interpose.h"

#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "malloc-recorder/malloc_probes.h"
#include "malloc-recorder/own_heap.h"

#define EXPORT __attribute__((visibility("default")))

struct real_allocator real;

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

/* The recorder's own call, or one before the real functions are known. */
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

EXPORT void *malloc(size_t size)
{
    if (!is_recorded())
        return is_own() ? own_heap_alloc(size, 0) : real.malloc(size);
    enter_real();
    void *block = real.malloc(size);
    if (block != NULL)
        record_alloc(size, block);
    leave_real();
    return block;
}

EXPORT void *calloc(size_t count, size_t size)
{
    if (!is_recorded())
        return is_own() ? own_heap_calloc(count, size) : real.calloc(count, size);
    enter_real();
    void *block = real.calloc(count, size);
    if (block != NULL)
        record_alloc(count * size, block);
    leave_real();
    return block;
}

EXPORT void free(void *block)
{
    if (block == NULL)
        return;
    if (__builtin_expect(own_heap_has(block), 0)) {
        own_heap_free(block);
        return;
    }
    if (!is_recorded()) {
        real.free(block);
        return;
    }
    enter_real();
    record_free(block);
    real.free(block);
    leave_real();
}

/* A block of the recorder's that libc got from it before the real functions were known. */
static void *take_over(void *block, size_t size)
{
    if (is_own())
        return own_heap_resize(block, size);
    void *moved = real.malloc(size);
    if (moved != NULL) {
        size_t old_size = own_heap_size(block);
        memcpy(moved, block, old_size < size ? old_size : size);
        own_heap_free(block);
    }
    return moved;
}

static void *resize(void *block, size_t size)
{
    struct record_resize resize = {.before = recorder_stamp()};
    resize.shrinks = block != NULL && size <= real.malloc_usable_size(block);
    void *moved = real.realloc(block, size);
    if (moved != NULL || (block != NULL && size == 0))
        record_realloc(&resize, block, size, moved);
    return moved;
}

EXPORT void *realloc(void *block, size_t size)
{
    if (__builtin_expect(block != NULL && own_heap_has(block), 0))
        return take_over(block, size);
    if (!is_recorded())
        return is_own() ? own_heap_resize(block, size) : real.realloc(block, size);
    enter_real();
    void *moved = resize(block, size);
    leave_real();
    return moved;
}

EXPORT void *reallocarray(void *block, size_t count, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes)) {
        errno = ENOMEM;
        return NULL;
    }
    return realloc(block, bytes);
}

EXPORT int posix_memalign(void **out, size_t alignment, size_t size)
{
    if (!is_recorded()) {
        if (!is_own())
            return real.posix_memalign(out, alignment, size);
        void *own = own_heap_alloc(size, alignment);
        if (own != NULL)
            *out = own;
        return own != NULL ? 0 : ENOMEM;
    }
    enter_real();
    int code = real.posix_memalign(out, alignment, size);
    if (code == 0 && *out != NULL)
        record_alloc(size, *out);
    leave_real();
    return code;
}

static void *align(void *(*function)(size_t, size_t), size_t alignment, size_t size)
{
    if (!is_recorded())
        return is_own() ? own_heap_alloc(size, alignment) : function(alignment, size);
    enter_real();
    void *block = function(alignment, size);
    if (block != NULL)
        record_alloc(size, block);
    leave_real();
    return block;
}

static void *align_to_page(void *(*function)(size_t), size_t size)
{
    if (!is_recorded())
        return is_own() ? own_heap_alloc(size, (size_t) getpagesize()) : function(size);
    enter_real();
    void *block = function(size);
    if (block != NULL)
        record_alloc(size, block);
    leave_real();
    return block;
}

EXPORT void *aligned_alloc(size_t alignment, size_t size)
{
    recorder_prepare();
    return align(real.aligned_alloc, alignment, size);
}

EXPORT void *memalign(size_t alignment, size_t size)
{
    recorder_prepare();
    return align(real.memalign, alignment, size);
}

EXPORT void *valloc(size_t size)
{
    recorder_prepare();
    return align_to_page(real.valloc, size);
}

EXPORT void *pvalloc(size_t size)
{
    recorder_prepare();
    return align_to_page(real.pvalloc, size);
}
