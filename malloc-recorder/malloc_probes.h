/* SPDX-License-Identifier: Apache-2.0 */
/* What interposed functions call when something happened: one function for each kind of event. */
#ifndef MALLOC_RECORDER_MALLOC_PROBES_H
#define MALLOC_RECORDER_MALLOC_PROBES_H

#include "malloc-recorder/recorder.h"

/* What was called, and how: in one word with a size or an address (steptrace/live.h). */
static inline uint64_t call_word(enum step_live_heap_call call, size_t alignment)
{
    uint64_t log = alignment != 0 ? 63u - (unsigned) __builtin_clzll(alignment) : 0;
    return (uint64_t) call << STEP_LIVE_HEAP_CALL_SHIFT | log << STEP_LIVE_HEAP_ALIGNMENT_SHIFT;
}

/* After the real call. */
void record_alloc(size_t size, const void *block, uint64_t call);
/* Before the real call: once it has run another thread may get the address. */
void record_free(const void *block, uint64_t call);

/* A realloc: what it gives away others may have before its record can be put.  So room is set aside
 * before the real call, and the drain knows of what is freed, should the record not come. */
struct record_resize {
    uint64_t before; /* the stamp before the real call */
    uint64_t call;
    bool shrinks; /* the block could only do that */
    bool is_missed;
    struct recorder_thread *thread; /* NULL: no room is set aside */
    _Atomic uint32_t *owed;         /* of the chunk; NULL: nothing is owed */
    struct recording *recording;
};
/* `block` is of that heap (0: the program's own), or NULL. */
void record_resize_begin(struct record_resize *resize, uint64_t heap, const void *block,
                         uint64_t call);
/* After the real call, if it did something. */
void record_realloc(const struct record_resize *resize, const void *old_block, size_t size,
                    const void *new_block);
/* After that, always. */
void record_resize_end(struct record_resize *resize);

/* The same in one of the program's heaps, which are numbered from 1. */
void record_heap_alloc(uint64_t heap, size_t size, const void *block, uint64_t call);
void record_heap_free(uint64_t heap, const void *block, uint64_t call);
/* With a stamp from before the real call; heap 0: the program's own. */
void record_heap_free_at(uint64_t stamp, uint64_t heap, const void *block, uint64_t call);
void record_heap_event(enum step_live_heap_kind kind, uint64_t heap);

/* Events before the recording could start, put into it now; on the thread that had them. */
void record_early(struct recording *recording);

#endif
