/* SPDX-License-Identifier: Apache-2.0 */
/* Event callbacks for the interposed functions, one per event kind. */
#ifndef MALLOC_RECORDER_MALLOC_PROBES_H
#define MALLOC_RECORDER_MALLOC_PROBES_H

#include "malloc-recorder/recorder.h"

/* Returns the word with a call and a size or an address (steptrace/live.h). */
static inline uint64_t call_word(enum step_live_heap_call call, size_t alignment)
{
    uint64_t log = alignment != 0 ? 63u - (unsigned) __builtin_clzll(alignment) : 0;
    return (uint64_t) call << STEP_LIVE_HEAP_CALL_SHIFT | log << STEP_LIVE_HEAP_ALIGNMENT_SHIFT;
}

/* Records an allocation, after the real call. */
void record_alloc(size_t size, const void *block, uint64_t call);
/* Records a free, before the real call: afterwards another thread may get the address. */
void record_free(const void *block, uint64_t call);

/* A realloc.  Other threads may get the memory that it frees before its record is written.  So room
 * is reserved before the real call, together with a pending free, which the drain writes if the
 * record never appears. */
struct record_resize {
    uint64_t before; /* stamp before the real call */
    uint64_t call;
    bool shrinks; /* the block could only shrink */
    bool is_missed;
    struct recorder_thread *thread; /* NULL: no room is reserved */
    _Atomic uint32_t *owed;         /* in the chunk; NULL: no pending free */
    struct recording *recording;
};
/* Starts a resize; `block` is in that heap (0: malloc's), or NULL. */
void record_resize_begin(struct record_resize *resize, uint64_t heap, const void *block,
                         uint64_t call);
/* Records the realloc, after a successful real call. */
void record_realloc(const struct record_resize *resize, const void *old_block, size_t size,
                    const void *new_block);
/* Ends the resize; always required. */
void record_resize_end(struct record_resize *resize);

/* Record events in one of the program's heaps, numbered from 1. */
void record_heap_alloc(uint64_t heap, size_t size, const void *block, uint64_t call);
void record_heap_free(uint64_t heap, const void *block, uint64_t call);
/* Records a free with a stamp from before the real call; heap 0: malloc's. */
void record_heap_free_at(uint64_t stamp, uint64_t heap, const void *block, uint64_t call);
void record_heap_event(enum step_live_heap_kind kind, uint64_t heap);

/* Writes the events from before the recording.  Call it on the thread that had them. */
void record_early(struct recording *recording);

#endif
