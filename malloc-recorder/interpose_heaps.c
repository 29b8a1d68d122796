/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Interposes jemalloc's mallocx family and arenas, and mimalloc's mi_ family and heaps.  They are
 * not symbols of this library, because programs use these symbols to detect the allocator.  Instead
 * the import slots of libraries are changed once, when the recording begins.
 *
 * Heaps are numbered from 1 in order of appearance: arenas that the program names, heaps that it
 * creates.
 */

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "malloc-recorder/import_slots.h"
#include "malloc-recorder/interpose.h"
#include "malloc-recorder/malloc_probes.h"
#include "malloc-recorder/program_heaps.h"

#define ARENA_SHIFT 20
#define LOG_ALIGNMENT 63

/* ---- heaps ---- */

/* The key is an arena's number + 1, or a mi_heap_t's address. */
static uint64_t heap_of_key(uintptr_t key)
{
    bool is_new;
    uint64_t heap = heap_number_make(key, &is_new);
    if (is_new)
        record_heap_event(STEP_LIVE_HEAP_CREATE, heap);
    return heap;
}

/* Ends a heap with all blocks in it. */
static void interpose_end_heap(uintptr_t key)
{
    uint64_t heap = heap_number_find(key);
    if (heap == 0)
        return;
    heap_blocks_drop(heap);
    record_heap_event(STEP_LIVE_HEAP_DESTROY, heap);
    heap_number_end(key);
}

static void note_alloc(uint64_t heap, size_t size, const void *block, uint64_t call)
{
    if (block == NULL)
        return;
    if (heap == 0) {
        record_alloc(size, block, call);
        return;
    }
    heap_blocks_put(block, heap);
    record_heap_alloc(heap, size, block, call);
}

void note_moved(const struct record_resize *resize, uint64_t old, uint64_t heap, const void *block,
                size_t size, const void *moved)
{
    record_heap_free_at(resize->before, old, block, 0);
    note_alloc(heap, size, moved, resize->call);
}

/* Calls only the real function if nothing is recorded, or inside another of these functions. */
#define PASS_ON(call_real)                                                                         \
    if (!is_recorded())                                                                            \
    return call_real

/* Interposes a function that allocates in `heap`. */
#define ALLOC(library, function, heap, call, bytes, parameters, arguments)                         \
    static void *take_##function parameters                                                        \
    {                                                                                              \
        PASS_ON(library.function arguments);                                                       \
        enter_real();                                                                              \
        void *block = library.function arguments;                                                  \
        note_alloc(heap, bytes, block, call);                                                      \
        leave_real();                                                                              \
        return block;                                                                              \
    }

/* ---- jemalloc ---- */

static struct {
    void *(*mallocx)(size_t, int);
    void *(*rallocx)(void *, size_t, int);
    void (*dallocx)(void *, int);
    void (*sdallocx)(void *, size_t, int);
    size_t (*xallocx)(void *, size_t, size_t, int);
    int (*mallctl)(const char *, void *, size_t *, void *, size_t);
} je;

static uint64_t flags_call(enum step_live_heap_call call, int flags)
{
    unsigned log = (unsigned) flags & LOG_ALIGNMENT;
    return call_word(call, log != 0 ? (size_t) 1 << log : 0);
}

static uint64_t flags_heap(int flags)
{
    unsigned arena = (unsigned) flags >> ARENA_SHIFT;
    return arena != 0 ? heap_of_key(arena) : 0;
}

ALLOC(je, mallocx, flags_heap(flags), flags_call(STEP_LIVE_CALL_MALLOCX, flags), size,
      (size_t size, int flags), (size, flags))

static void *take_rallocx(void *block, size_t size, int flags)
{
    PASS_ON(je.rallocx(block, size, flags));
    enter_real();
    uint64_t heap = flags_heap(flags), call = flags_call(STEP_LIVE_CALL_RALLOCX, flags);
    struct record_resize resize;
    uint64_t old = heap_blocks_take(block);
    begin_resize(&resize, old, block, size, call);
    void *moved = je.rallocx(block, size, flags);
    end_resize(&resize, old, heap != 0 ? heap : old, block, size, moved, false);
    leave_real();
    return moved;
}

static void take_dallocx(void *block, int flags)
{
    PASS_ON(je.dallocx(block, flags));
    enter_real();
    note_free(block, call_word(STEP_LIVE_CALL_DALLOCX, 0));
    je.dallocx(block, flags);
    leave_real();
}

static void take_sdallocx(void *block, size_t size, int flags)
{
    PASS_ON(je.sdallocx(block, size, flags));
    enter_real();
    note_free(block, call_word(STEP_LIVE_CALL_DALLOCX, 0));
    je.sdallocx(block, size, flags);
    leave_real();
}

/* Records a resize in place, as far as the allocator can do it. */
static size_t take_xallocx(void *block, size_t size, size_t extra, int flags)
{
    PASS_ON(je.xallocx(block, size, extra, flags));
    enter_real();
    struct record_resize resize;
    bool is_known = atomic_load(&heap_blocks_count) == 0;
    begin_resize(&resize, 0, is_known ? block : NULL, size, call_word(STEP_LIVE_CALL_RALLOCX, 0));
    size_t got = je.xallocx(block, size, extra, flags);
    if (got >= size && is_known)
        record_realloc(&resize, block, size, block);
    record_resize_end(&resize);
    leave_real();
    return got;
}

static int take_mallctl(const char *name, void *old, size_t *old_size, void *new_value,
                        size_t new_size)
{
    PASS_ON(je.mallctl(name, old, old_size, new_value, new_size));
    unsigned arena = 0;
    char what[16] = "";
    enter_real();
    bool ends = sscanf(name, "arena.%u.%15s", &arena, what) == 2 &&
                (strcmp(what, "destroy") == 0 || strcmp(what, "reset") == 0);
    if (ends)
        interpose_end_heap((uintptr_t) arena + 1);
    int code = je.mallctl(name, old, old_size, new_value, new_size);
    if (code == 0 && old != NULL && strcmp(name, "arenas.create") == 0)
        heap_of_key((uintptr_t) * (unsigned *) old + 1);
    leave_real();
    return code;
}

/* ---- mimalloc ---- */

static struct {
    void *(*heap_new)(void);
    void (*heap_delete)(void *);
    void (*heap_destroy)(void *);
    void *(*heap_malloc)(void *, size_t);
    void *(*heap_malloc_small)(void *, size_t);
    void *(*heap_zalloc)(void *, size_t);
    void *(*heap_calloc)(void *, size_t, size_t);
    void *(*heap_malloc_aligned)(void *, size_t, size_t);
    void *(*heap_realloc)(void *, void *, size_t);
    void *(*malloc)(size_t);
    void *(*zalloc)(size_t);
    void *(*calloc)(size_t, size_t);
    void *(*malloc_aligned)(size_t, size_t);
    void *(*realloc)(void *, size_t);
    void (*free)(void *);
} mi;

static void *take_heap_new(void)
{
    PASS_ON(mi.heap_new());
    enter_real();
    void *heap = mi.heap_new();
    if (heap != NULL)
        heap_of_key((uintptr_t) heap);
    leave_real();
    return heap;
}

/* The heap's blocks live on in another heap, so the trace does not destroy it. */
static void take_heap_delete(void *heap)
{
    heap_number_end((uintptr_t) heap);
    PASS_ON(mi.heap_delete(heap));
    enter_real();
    mi.heap_delete(heap);
    leave_real();
}

static void take_heap_destroy(void *heap)
{
    PASS_ON(mi.heap_destroy(heap));
    enter_real();
    interpose_end_heap((uintptr_t) heap);
    mi.heap_destroy(heap);
    leave_real();
}

#define OF_HEAP heap_number_find((uintptr_t) heap)
ALLOC(mi, heap_malloc, OF_HEAP, call_word(STEP_LIVE_CALL_HEAP_MALLOC, 0), size,
      (void *heap, size_t size), (heap, size))
ALLOC(mi, heap_malloc_small, OF_HEAP, call_word(STEP_LIVE_CALL_HEAP_MALLOC, 0), size,
      (void *heap, size_t size), (heap, size))
ALLOC(mi, heap_zalloc, OF_HEAP, call_word(STEP_LIVE_CALL_HEAP_CALLOC, 0), size,
      (void *heap, size_t size), (heap, size))
ALLOC(mi, heap_calloc, OF_HEAP, call_word(STEP_LIVE_CALL_HEAP_CALLOC, 0), count *size,
      (void *heap, size_t count, size_t size), (heap, count, size))
ALLOC(mi, heap_malloc_aligned, OF_HEAP, call_word(STEP_LIVE_CALL_HEAP_MALLOC, alignment), size,
      (void *heap, size_t size, size_t alignment), (heap, size, alignment))
ALLOC(mi, malloc, 0, call_word(STEP_LIVE_CALL_PLAIN, 0), size, (size_t size), (size))
ALLOC(mi, zalloc, 0, call_word(STEP_LIVE_CALL_CALLOC, 0), size, (size_t size), (size))
ALLOC(mi, calloc, 0, call_word(STEP_LIVE_CALL_CALLOC, 0), count *size, (size_t count, size_t size),
      (count, size))
ALLOC(mi, malloc_aligned, 0, call_word(STEP_LIVE_CALL_ALIGNED_ALLOC, alignment), size,
      (size_t size, size_t alignment), (size, alignment))

static void *take_heap_realloc(void *heap, void *block, size_t size)
{
    PASS_ON(mi.heap_realloc(heap, block, size));
    enter_real();
    uint64_t stamp = recorder_stamp(), old = heap_blocks_take(block);
    void *moved = mi.heap_realloc(heap, block, size);
    if (moved == NULL && old != 0)
        heap_blocks_put(block, old);
    if (moved != NULL && block != NULL)
        record_heap_free_at(stamp, old, block, 0);
    note_alloc(heap_number_find((uintptr_t) heap), size, moved,
               call_word(STEP_LIVE_CALL_HEAP_REALLOC, 0));
    leave_real();
    return moved;
}

static void *take_realloc(void *block, size_t size)
{
    PASS_ON(mi.realloc(block, size));
    enter_real();
    struct record_resize resize;
    uint64_t old = heap_blocks_take(block);
    begin_resize(&resize, old, block, size, 0);
    void *moved = mi.realloc(block, size);
    end_resize(&resize, old, 0, block, size, moved, false);
    leave_real();
    return moved;
}

static void take_free(void *block)
{
    if (block == NULL)
        return;
    PASS_ON(mi.free(block));
    enter_real();
    note_free(block, 0);
    mi.free(block);
    leave_real();
}

/* ---- in front ---- */

struct row {
    const char *name;
    void *ours;
    void **real;
};

#define JE(function)                                                                               \
    {                                                                                              \
#function, (void *) take_##function, (void **) (void *) &je.function                       \
    }
#define MI(function)                                                                               \
    {                                                                                              \
        "mi_" #function, (void *) take_##function, (void **) (void *) &mi.function                 \
    }
static const struct row rows[] = {
    JE(mallocx),      JE(rallocx),      JE(dallocx),     JE(sdallocx),
    JE(xallocx),      JE(mallctl),      MI(heap_new),    MI(heap_delete),
    MI(heap_destroy), MI(heap_malloc),  MI(heap_zalloc), MI(heap_malloc_small),
    MI(heap_calloc),  MI(heap_realloc), MI(malloc),      MI(heap_malloc_aligned),
    MI(zalloc),       MI(calloc),       MI(realloc),     MI(malloc_aligned),
    MI(free),
};
#define ROWS (sizeof rows / sizeof rows[0])

/* Calls of the allocator's own library are not changed. */
static void put_in_front(void *user, const struct import_slot *slot)
{
    (void) user;
    for (size_t i = 0; i < ROWS; i++) {
        const char *found = *rows[i].real;
        if (found != NULL && strcmp(slot->name, rows[i].name) == 0 &&
            (found < slot->first || found >= slot->end))
            import_slot_set(slot, rows[i].ours);
    }
}

void interpose_heaps(void)
{
    bool any = false;
    for (size_t i = 0; i < ROWS; i++) {
        *rows[i].real = dlsym(RTLD_DEFAULT, rows[i].name);
        any = any || *rows[i].real != NULL;
    }
    if (any)
        import_slots_each(put_in_front, NULL);
}
