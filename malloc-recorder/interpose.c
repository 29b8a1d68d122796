/* SPDX-License-Identifier: Apache-2.0 */
/* Interposed allocation functions of C: malloc, free and their variants. */
#include "malloc-recorder/interpose.h"

#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "malloc-recorder/malloc_probes.h"
#include "malloc-recorder/own_heap.h"
#include "malloc-recorder/program_heaps.h"

struct real_allocator real;

/* Call before the real function.  Returns the call to record and its size: those of the outermost
 * function that set them. */
static inline uint64_t begin_alloc(enum step_live_heap_call call, size_t alignment, size_t *size)
{
    enter_real();
    uint64_t outer = recorder_local.call;
    recorder_local.call = 0;
    if (__builtin_expect(outer == 0, 1))
        return call_word(call, alignment);
    *size = recorder_local.size;
    return outer;
}

static inline void *end_alloc(void *block, size_t size, uint64_t call)
{
    if (block != NULL)
        record_alloc(size, block, call);
    leave_real();
    return block;
}

EXPORT void *malloc(size_t size)
{
    if (!is_recorded())
        return is_own() ? own_heap_alloc(size, 0) : real.malloc(size);
    size_t asked = size;
    uint64_t call = begin_alloc(STEP_LIVE_CALL_PLAIN, 0, &asked);
    return end_alloc(real.malloc(size), asked, call);
}

EXPORT void *calloc(size_t count, size_t size)
{
    if (!is_recorded())
        return is_own() ? own_heap_calloc(count, size) : real.calloc(count, size);
    size_t asked = count * size;
    uint64_t call = begin_alloc(STEP_LIVE_CALL_CALLOC, 0, &asked);
    return end_alloc(real.calloc(count, size), asked, call);
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
    note_free(block, 0);
    real.free(block);
    leave_real();
}

/* Replaces a block of the recorder's own heap, which libc got before the real functions were
 * known. */
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

static void *interpose_resize(void *block, size_t size)
{
    struct record_resize resize;
    uint64_t heap = heap_blocks_take(block);
    begin_resize(&resize, heap, block, size, 0);
    void *moved = real.realloc(block, size);
    end_resize(&resize, heap, 0, block, size, moved, block != NULL && size == 0);
    return moved;
}

EXPORT void *realloc(void *block, size_t size)
{
    if (__builtin_expect(block != NULL && own_heap_has(block), 0))
        return take_over(block, size);
    if (!is_recorded())
        return is_own() ? own_heap_resize(block, size) : real.realloc(block, size);
    enter_real();
    void *moved = interpose_resize(block, size);
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
    size_t asked = size;
    uint64_t call = begin_alloc(STEP_LIVE_CALL_POSIX_MEMALIGN, alignment, &asked);
    int code = real.posix_memalign(out, alignment, size);
    end_alloc(code == 0 ? *out : NULL, asked, call);
    return code;
}

static void *align(void *(*function)(size_t, size_t), size_t alignment, size_t size,
                   enum step_live_heap_call name)
{
    if (!is_recorded())
        return is_own() ? own_heap_alloc(size, alignment) : function(alignment, size);
    size_t asked = size;
    uint64_t call = begin_alloc(name, alignment, &asked);
    return end_alloc(function(alignment, size), asked, call);
}

static void *align_to_page(void *(*function)(size_t), size_t size, enum step_live_heap_call name)
{
    if (!is_recorded())
        return is_own() ? own_heap_alloc(size, (size_t) getpagesize()) : function(size);
    size_t asked = size;
    uint64_t call = begin_alloc(name, 0, &asked);
    return end_alloc(function(size), asked, call);
}

EXPORT void *aligned_alloc(size_t alignment, size_t size)
{
    recorder_prepare();
    return align(real.aligned_alloc, alignment, size, STEP_LIVE_CALL_ALIGNED_ALLOC);
}

EXPORT void *memalign(size_t alignment, size_t size)
{
    recorder_prepare();
    return align(real.memalign, alignment, size, STEP_LIVE_CALL_MEMALIGN);
}

EXPORT void *valloc(size_t size)
{
    recorder_prepare();
    return align_to_page(real.valloc, size, STEP_LIVE_CALL_VALLOC);
}

EXPORT void *pvalloc(size_t size)
{
    recorder_prepare();
    return align_to_page(real.pvalloc, size, STEP_LIVE_CALL_PVALLOC);
}
