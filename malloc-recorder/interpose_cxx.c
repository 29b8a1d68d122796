/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Interposed C++ operators new and delete, in all forms.  The standard ones call malloc() and
 * free(), those of other allocators do not, so the function that allocates first records the event.
 * If new throws, the exception passes through here without side effects.
 */
#include <dlfcn.h>
#include <limits.h>
#include <stdlib.h>

#include "malloc-recorder/interpose.h"
#include "malloc-recorder/malloc_probes.h"
#include "malloc-recorder/own_heap.h"

/* Returns the scope of the operators that the caller would use without the recorder: the global
 * one, or, if only a library opened later uses C++, that library's. */
static void *find_operator(const char *name, void *caller)
{
    struct own_mode own;
    Dl_info info;
    void *found = dlsym(RTLD_NEXT, name);
    if (found != NULL)
        return found;
    own_mode_enter(&own);
    void *library = dladdr(caller, &info) != 0 && info.dli_fname != NULL
                        ? dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD)
                        : NULL;
    if (library != NULL) {
        found = dlsym(library, name);
        dlclose(library); /* only decrements a count: it was loaded already */
    }
    own_mode_leave(&own);
    return found;
}

/* Returns the real operator, found on its first call. */
static void *real_operator(_Atomic(void *) *cache, const char *name, void *caller)
{
    void *found = atomic_load_explicit(cache, memory_order_acquire);
    if (__builtin_expect(found == NULL, 0)) {
        recorder_prepare();
        found = find_operator(name, caller);
        atomic_store_explicit(cache, found, memory_order_release);
    }
    return found;
}

/* Call before the real new: marks it as the caller of the next allocation. */
static inline uint64_t begin_new(uint64_t call, size_t size)
{
    uint64_t outer = recorder_local.call;
    if (outer == 0) {
        recorder_local.call = call;
        recorder_local.size = size;
    }
    return outer;
}

/* Records the allocation if no inner function did: such a new has memory of its own. */
static inline void end_new(uint64_t outer, uint64_t call, size_t size, const void *block)
{
    if (outer != 0 || recorder_local.call == 0)
        return;
    recorder_local.call = 0;
    if (block == NULL || own_heap_has(block) || !is_recorded())
        return;
    enter_real();
    record_alloc(size, block, call);
    leave_real();
}

/* Records the block's free before the real delete, and enters MODE_BUSY.  Returns false if nothing
 * is recorded. */
static inline bool begin_delete(const void *block, enum step_live_heap_call call)
{
    if (block == NULL || own_heap_has(block) || !is_recorded())
        return false;
    enter_real();
    note_free(block, call_word(call, 0));
    return true;
}

static inline void end_delete(bool is_busy)
{
    if (is_busy)
        leave_real();
}

/* Without a real operator (a C program calls it by name) it behaves like the standard one. */
#define NEW(symbol, call, alignment, parameters, arguments)                                        \
    EXPORT void *symbol parameters;                                                                \
    EXPORT void *symbol parameters                                                                 \
    {                                                                                              \
        static _Atomic(void *) cache;                                                              \
        void *(*function) parameters =                                                             \
            (void *(*) parameters) real_operator(&cache, #symbol, __builtin_return_address(0));    \
        uint64_t word = call_word(call, alignment);                                                \
        uint64_t outer = begin_new(word, size);                                                    \
        void *block = function != NULL ? function arguments : usual_new(size, alignment);          \
        end_new(outer, word, size, block);                                                         \
        return block;                                                                              \
    }

#define DELETE(symbol, call, parameters, arguments)                                                \
    EXPORT void symbol parameters;                                                                 \
    EXPORT void symbol parameters                                                                  \
    {                                                                                              \
        static _Atomic(void *) cache;                                                              \
        void(*function) parameters =                                                               \
            (void(*) parameters) real_operator(&cache, #symbol, __builtin_return_address(0));      \
        if (own_heap_has(block)) {                                                                 \
            own_heap_free((void *) block);                                                         \
            return;                                                                                \
        }                                                                                          \
        bool is_busy = begin_delete(block, call);                                                  \
        if (function != NULL)                                                                      \
            function arguments;                                                                    \
        else                                                                                       \
            free(block);                                                                           \
        end_delete(is_busy);                                                                       \
    }

static void *usual_new(size_t size, size_t alignment)
{
    void *block = alignment != 0 ? aligned_alloc(alignment, size) : malloc(size);
    if (block == NULL)
        abort();
    return block;
}

/* Some have std::nothrow as third parameter. */
NEW(_Znwm, STEP_LIVE_CALL_NEW, 0, (size_t size), (size))
NEW(_Znam, STEP_LIVE_CALL_NEW_ARRAY, 0, (size_t size), (size))
NEW(_ZnwmRKSt9nothrow_t, STEP_LIVE_CALL_NEW, 0, (size_t size, const void *nothrow), (size, nothrow))
NEW(_ZnamRKSt9nothrow_t, STEP_LIVE_CALL_NEW_ARRAY, 0, (size_t size, const void *nothrow),
    (size, nothrow))
NEW(_ZnwmSt11align_val_t, STEP_LIVE_CALL_NEW, alignment, (size_t size, size_t alignment),
    (size, alignment))
NEW(_ZnamSt11align_val_t, STEP_LIVE_CALL_NEW_ARRAY, alignment, (size_t size, size_t alignment),
    (size, alignment))
NEW(_ZnwmSt11align_val_tRKSt9nothrow_t, STEP_LIVE_CALL_NEW, alignment,
    (size_t size, size_t alignment, const void *nothrow), (size, alignment, nothrow))
NEW(_ZnamSt11align_val_tRKSt9nothrow_t, STEP_LIVE_CALL_NEW_ARRAY, alignment,
    (size_t size, size_t alignment, const void *nothrow), (size, alignment, nothrow))

DELETE(_ZdlPv, STEP_LIVE_CALL_DELETE, (void *block), (block))
DELETE(_ZdaPv, STEP_LIVE_CALL_DELETE_ARRAY, (void *block), (block))
DELETE(_ZdlPvm, STEP_LIVE_CALL_DELETE, (void *block, size_t size), (block, size))
DELETE(_ZdaPvm, STEP_LIVE_CALL_DELETE_ARRAY, (void *block, size_t size), (block, size))
DELETE(_ZdlPvRKSt9nothrow_t, STEP_LIVE_CALL_DELETE, (void *block, const void *nothrow),
       (block, nothrow))
DELETE(_ZdaPvRKSt9nothrow_t, STEP_LIVE_CALL_DELETE_ARRAY, (void *block, const void *nothrow),
       (block, nothrow))
DELETE(_ZdlPvSt11align_val_t, STEP_LIVE_CALL_DELETE, (void *block, size_t alignment),
       (block, alignment))
DELETE(_ZdaPvSt11align_val_t, STEP_LIVE_CALL_DELETE_ARRAY, (void *block, size_t alignment),
       (block, alignment))
DELETE(_ZdlPvmSt11align_val_t, STEP_LIVE_CALL_DELETE, (void *block, size_t size, size_t alignment),
       (block, size, alignment))
DELETE(_ZdaPvmSt11align_val_t, STEP_LIVE_CALL_DELETE_ARRAY,
       (void *block, size_t size, size_t alignment), (block, size, alignment))
DELETE(_ZdlPvSt11align_val_tRKSt9nothrow_t, STEP_LIVE_CALL_DELETE,
       (void *block, size_t alignment, const void *nothrow), (block, alignment, nothrow))
DELETE(_ZdaPvSt11align_val_tRKSt9nothrow_t, STEP_LIVE_CALL_DELETE_ARRAY,
       (void *block, size_t alignment, const void *nothrow), (block, alignment, nothrow))
