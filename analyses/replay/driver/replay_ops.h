/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Interface between `steptrace replay` and the driver: operations in pieces, in a shared memory
 * file, and the control block at its start.
 *
 * A piece has a section for each thread that has operations in it.  Objects are slots of a table;
 * an operation names its slot.  In a complete replay all pieces exist before the driver starts.  In
 * a streamed replay the pieces are a ring, which is filled while the driver runs.
 */
#ifndef ANALYSES_REPLAY_DRIVER_REPLAY_OPS_H
#define ANALYSES_REPLAY_DRIVER_REPLAY_OPS_H

#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum replay_kind {
    REPLAY_MALLOC, /* extra: 0, or another function (enum replay_how) */
    REPLAY_FREE,
    REPLAY_REALLOC,      /* of the object in the slot; extra not 0: of NULL */
    REPLAY_HEAP_MALLOC,  /* extra: the heap */
    REPLAY_HEAP_FREE,    /* the heap's destruction frees the object; a free() if there are no
                            heaps */
    REPLAY_HEAP_CREATE,  /* extra: the heap */
    REPLAY_HEAP_DESTROY, /* the same */
    REPLAY_WAIT,         /* slot: a thread; size: wait until it has done this many operations */
    REPLAY_THREAD_END,
    REPLAY_SAMPLE, /* size: live bytes, as requested by the program */
    REPLAY_PAUSE   /* size: wait until this many nanoseconds since the start have passed */
};

enum replay_how {
    REPLAY_AS_MALLOC,
    REPLAY_AS_CALLOC,
    REPLAY_ALIGNED /* plus log2 of the alignment */
};

#define REPLAY_KIND_BITS 4u
#define REPLAY_SIZE_MAX ((UINT64_C(1) << (64 - REPLAY_KIND_BITS)) - 1)

struct replay_op {
    uint64_t size_kind;
    uint32_t slot;
    uint32_t extra;
};

static inline struct replay_op replay_op_make(enum replay_kind kind, uint64_t size, uint32_t slot,
                                              uint32_t extra)
{
    return (struct replay_op){size << REPLAY_KIND_BITS | (uint64_t) kind, slot, extra};
}

#define REPLAY_PIECE_BYTES (UINT64_C(4) << 20)
#define REPLAY_SECTIONS_MOST 1024u
#define REPLAY_RING 8u

struct replay_section {
    uint32_t thread;
    uint32_t count; /* operations */
    uint64_t first; /* index of the first operation in the piece */
};

/* Operations follow the header. */
struct replay_piece {
    uint32_t section_count;
    uint32_t slot_end; /* exceeds every slot used so far */
    struct replay_section sections[REPLAY_SECTIONS_MOST];
};

/* The driver prefetches this many operations, also beyond the last one. */
#define REPLAY_AHEAD 12u
#define REPLAY_PIECE_OPS                                                                           \
    ((REPLAY_PIECE_BYTES - sizeof(struct replay_piece)) / sizeof(struct replay_op) - REPLAY_AHEAD)

static inline struct replay_op *replay_piece_ops(struct replay_piece *piece)
{
    return (struct replay_op *) (void *) (piece + 1);
}

enum replay_touch { REPLAY_TOUCH_NONE, REPLAY_TOUCH_FIRST, REPLAY_TOUCH_ALL };

struct replay_sample {
    uint64_t operation; /* operations done */
    uint64_t live_bytes;
    uint64_t resident_bytes;
};

#define REPLAY_SAMPLES 2048u
#define REPLAY_HEAPS_MOST 65536u
#define REPLAY_THREADS_MOST (UINT32_C(1) << 18)
#define REPLAY_SLOTS_MOST (UINT32_C(1) << 30)

/* The start of the file.  Pieces follow at multiples of REPLAY_PIECE_BYTES. */
struct replay_control {
    /* set before the driver starts */
    uint32_t touch;   /* enum replay_touch */
    bool is_threaded; /* each thread of the trace has a thread in the driver */
    bool is_empty;    /* no allocator: measures the driver itself */
    bool is_streamed;
    uint64_t memory_bytes; /* limit for the allocator */
    /* pieces */
    _Atomic uint64_t produced;
    _Atomic bool is_complete; /* all pieces have been produced */
    sem_t filled, emptied;    /* used by a streamed replay */
    /* results */
    bool is_done;
    bool has_heaps;
    char allocator[256]; /* path of the library that provides malloc() */
    uint64_t operations; /* calls of the allocator */
    uint64_t failures;   /* calls that returned NULL */
    uint64_t busy_ns;    /* sum over all threads of CPU time in the loop */
    uint64_t blocked_ns; /* neither on a CPU nor waiting for one */
    uint64_t wall_ns;    /* from the first operation to the last */
    uint64_t peak_resident_bytes, final_resident_bytes;
    uint64_t last_live_bytes; /* of the last sample operation */
    uint32_t thread_count;
    uint32_t sample_count;
    struct replay_sample samples[REPLAY_SAMPLES];
};

#endif
