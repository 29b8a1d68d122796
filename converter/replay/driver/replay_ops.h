/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What `steptrace replay` and the driver share: operations in pieces, in a shared memory file, and
 * the control block at its start.
 *
 * A piece has a section for each thread that does something in it.  Objects are slots of a table;
 * an operation names its slot.  In a whole replay all pieces are there before the driver starts; in
 * a streamed one the pieces are a ring, filled while the driver runs.
 */
#ifndef CONVERTER_REPLAY_DRIVER_REPLAY_OPS_H
#define CONVERTER_REPLAY_DRIVER_REPLAY_OPS_H

#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum replay_kind {
    REPLAY_MALLOC, /* extra: 0, or how else (enum replay_how) */
    REPLAY_FREE,
    REPLAY_REALLOC,      /* what is in the slot; extra not 0: of NULL */
    REPLAY_HEAP_MALLOC,  /* extra: the heap */
    REPLAY_HEAP_FREE,    /* the object goes with its heap; freed where there are no heaps */
    REPLAY_HEAP_CREATE,  /* extra: the heap */
    REPLAY_HEAP_DESTROY, /* the same */
    REPLAY_WAIT,         /* slot: a thread; size: until it has done so many */
    REPLAY_THREAD_END,
    REPLAY_SAMPLE, /* size: bytes that live, as the program asked for them */
    REPLAY_PAUSE   /* size: not before so many nanoseconds have passed since the start */
};

enum replay_how {
    REPLAY_AS_MALLOC,
    REPLAY_AS_CALLOC,
    REPLAY_ALIGNED /* and log2 of the alignment more */
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
    uint64_t first; /* operation of the piece */
};

/* Operations follow. */
struct replay_piece {
    uint32_t section_count;
    uint32_t slot_end; /* every slot so far is below */
    struct replay_section sections[REPLAY_SECTIONS_MOST];
};

/* The driver looks so far ahead, also beyond the last operation. */
#define REPLAY_AHEAD 12u
#define REPLAY_PIECE_OPS                                                                           \
    ((REPLAY_PIECE_BYTES - sizeof(struct replay_piece)) / sizeof(struct replay_op) - REPLAY_AHEAD)

static inline struct replay_op *replay_piece_ops(struct replay_piece *piece)
{
    return (struct replay_op *) (void *) (piece + 1);
}

enum replay_touch { REPLAY_TOUCH_NONE, REPLAY_TOUCH_FIRST, REPLAY_TOUCH_ALL };

struct replay_sample {
    uint64_t operation; /* how many were done */
    uint64_t live_bytes;
    uint64_t resident_bytes;
};

#define REPLAY_SAMPLES 2048u
#define REPLAY_HEAPS_MOST 65536u
#define REPLAY_THREADS_MOST (UINT32_C(1) << 18)
#define REPLAY_SLOTS_MOST (UINT32_C(1) << 30)

/* The first bytes of the file; pieces follow at multiples of REPLAY_PIECE_BYTES. */
struct replay_control {
    /* set before the driver starts */
    uint32_t touch;   /* enum replay_touch */
    bool is_threaded; /* each thread of the trace is one of the driver's */
    bool is_empty;    /* no allocator: measures the driver */
    bool is_streamed;
    uint64_t memory_bytes; /* what the allocator may take */
    /* pieces */
    _Atomic uint64_t produced;
    _Atomic bool is_complete; /* no piece comes after those produced */
    sem_t filled, emptied;    /* of a streamed replay */
    /* results */
    bool is_done;
    bool has_heaps;
    char allocator[256]; /* the file that malloc() is from */
    uint64_t operations; /* calls of the allocator */
    uint64_t failures;   /* that gave NULL */
    uint64_t busy_ns;    /* of all threads, in the loop over operations: on a CPU */
    uint64_t blocked_ns; /* neither on a CPU there nor waiting for one */
    uint64_t wall_ns;    /* from the first operation to the last */
    uint64_t peak_resident_bytes, final_resident_bytes;
    uint64_t last_live_bytes; /* of the last sample operation */
    uint32_t thread_count;
    uint32_t sample_count;
    struct replay_sample samples[REPLAY_SAMPLES];
};

#endif
