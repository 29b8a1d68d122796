/* SPDX-License-Identifier: Apache-2.0 */
/* The writing side of the live file (steptrace/live.h): chunks of a shared file mapping, streams
 * that append to them, and the queue of full chunks for the drain thread.
 *
 * A stream has one owner at a time, which reserves room, writes a record, and commits it. A lock is
 * taken only when a chunk is full. */
#ifndef CAPTURE_LIVE_MAP_H
#define CAPTURE_LIVE_MAP_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "capture/futex.h"
#include "steptrace/live.h"

/* How long threads waited for the drain: the sum and the longest wait, by thread. One writer at a
 * time (the lock of live_map.h). May be in memory that two processes share. */

#define WAITS_THREADS 32u
#define WAITS_TEXT (WAITS_THREADS * 64u) /* enough for waits_print() */

struct waits {
    struct thread_waits {
        uint64_t thread, sum_ns, longest_ns;
    } threads[WAITS_THREADS]; /* if there are more: those that waited longest */
    size_t count;
    uint64_t sum_ns, longest_ns; /* of all */
};

/* Records a wait. `thread` is a number in the trace; 0: none. */
void waits_add(struct waits *waits, uint64_t thread, uint64_t ns);
/* Prints THREAD:SUM:LONGEST in nanoseconds, separated by commas, largest sum first; "" if no thread
 * waited. */
void waits_print(const struct waits *waits, char *text, size_t size);

#define LIVE_CHUNK_SIZES 3

/* State of a chunk for the drain thread. */
struct live_chunk_ref {
    struct step_live_chunk *chunk;
    struct live_stream *stream;
    struct live_chunk_ref *next;
    struct live_chunk_ref *next_made;
    size_t parsed_words;
    uint64_t end_record; /* number of the stream's record after this chunk, once all is parsed */
};

struct live_stream {
    /* used by the owner */
    uint64_t *cursor; /* where the next record goes */
    uint64_t *end;
    uint64_t *base;
    _Atomic uint64_t *used;               /* where the chunk stores how far it is filled */
    _Atomic(struct live_chunk_ref *) ref; /* the chunk in use, NULL at first */
    uint64_t number;
    uint64_t events;
    uint64_t order;  /* of the next chunk */
    uint64_t thread; /* current thread, a number in the trace */
    uint64_t last_stamp;
    uint64_t base_stamp;  /* of the chunk's last record that has a time; 0: none */
    uint64_t stamp_due;   /* resolution=Nevents: the number of events at which one needs a stamp; */
    uint64_t stamped;     /* ... that number at the last such stamp, */
    uint64_t pulse;       /* ... and the agent's pulse then */
    uint64_t stack;       /* current frame in this chunk; 0 at its start */
    uint64_t last_object; /* of the chunk's last allocation record; 0: none */
    uint64_t next_object, end_object; /* object ids reserved for this stream */
    uint64_t object_step;             /* how many to reserve next */
    bool forced;                      /* may exceed the buffers' limit; never waits */
    bool stands_still;                /* all threads wait for the owner: it waits for a limited
                                       * time */
    bool has_waited;                  /* ... which is over: it waits no more */
    struct live_stream *next_idle;
    struct live_stream *next_all;
    /* used by the drain thread */
    struct live_chunk_ref *retained_head, *retained_tail; /* full and parsed, but not completely
                                                           * written */
    uint64_t expected_order;
    size_t retained_bytes;
};

/* State shared by the threads that fill chunks and the one that drains them. They may be in two
 * processes, which have this, the chunks, their refs and the streams at the same addresses, and may
 * end at any moment. Therefore it contains no lock. */
struct live_shared {
    uint64_t limit_bytes;
    _Atomic bool stopping;                 /* no thread waits any more, reserve fails */
    _Atomic bool boundless;                /* no thread waits any more, the file grows */
    _Atomic bool failed;                   /* the file could not grow */
    int code;                              /* errno of that failure */
    _Atomic uint64_t backlog_bytes;        /* bytes of full chunks not written yet, without forced
                                            * streams */
    struct waits waits;                    /* under the lock */
    _Atomic(struct live_chunk_ref *) full; /* full chunks for the drain, newest first */
    _Atomic(struct live_chunk_ref *) returned; /* by the drain, to be filled again */
    _Atomic(struct live_chunk_ref *) made;     /* all refs, linked by next_made */
    _Atomic(struct live_stream *) all_streams;
    struct futex_gate room; /* opens when a wait for a chunk may be over */
    struct futex_gate work; /* opens when the drain has something to do */
};

struct live_map {
    struct live_shared *shared; /* `own` if one process does both */
    struct live_shared own;
    char *path;
    int descriptor; /* in the keeper's descriptor table */
    /* not NULL: only the keeper has this table, and other threads grow the file with this
     * function */
    void (*run_apart)(void (*step)(void *data), void *data);
    pthread_t keeper;
    uint64_t device, inode;
    uint64_t memory_bytes; /* length of live_map_create_in()'s memory */
    struct step_live_header *header;
    bool drop;
    /* May be NULL. allocate() returns zeroed memory for refs and streams (the lock is held), grow()
     * makes the file longer, and is_drained() returns false if the drain has ended. */
    void *(*allocate)(struct live_map *map, size_t bytes);
    void *(*grow)(struct live_map *map, uint64_t bytes);
    bool (*is_drained)(struct live_map *map);
    pthread_mutex_t lock; /* taken by the threads that fill chunks */
    struct live_chunk_ref *free_chunks[LIVE_CHUNK_SIZES];
    struct live_stream *idle_streams;
    uint64_t stream_count;
    uint64_t active_bytes;
    _Atomic uint64_t next_object;
    uint32_t work_seen; /* used by the drain */
    struct segment {
        void *base;
        size_t bytes;
    } * segments;
    size_t segment_count, segment_capacity;
};

/* Creates and maps the file, which must not exist, with permissions `mode` (0: TRACE_FILE_MODE),
 * and locks its header for this process. Returns NULL and sets `error` on failure. */
struct live_map *live_map_create(const char *path, mode_t mode, uint64_t limit_bytes, bool drop,
                                 struct step_error *error);
/* Creates a map whose ring is `memory`, which is mapped, all zero, and stays mapped. */
struct live_map *live_map_create_in(void *memory, uint64_t memory_bytes, uint64_t limit_bytes,
                                    bool drop, struct step_error *error);
/* Fills in the header. */
void live_map_describe(struct live_map *map);
/* Initialises a map whose file and memory belong to the caller, who also sets `header` and the
 * three functions. `shared` must be zeroed. */
void live_map_init(struct live_map *map, struct live_shared *shared, uint64_t limit_bytes,
                   bool drop);
/* Unmaps and frees the map. `keep_file` keeps the file for recovery. */
void live_map_destroy(struct live_map *map, bool keep_file);

/* Returns a stream for a new owner: one that was given back, or a new one. NULL: out of memory. */
struct live_stream *live_stream_take(struct live_map *map, bool forced);
/* Creates a stream with the next number, which is never passed on (the first two: global,
 * frees). */
struct live_stream *live_stream_create(struct live_map *map, bool forced);
void live_stream_give_back(struct live_map *map, struct live_stream *stream);

/* Sets whether the whole JVM stands still while the owner fills the stream. Then it waits for room
 * for 10 s at most, and drops and counts what follows. */
static inline void live_stand_still(struct live_stream *stream, bool does)
{
    stream->stands_still = does;
    stream->has_waited = false;
}

/* The slow path of live_reserve(). */
uint64_t *live_reserve_chunk(struct live_map *map, struct live_stream *stream, size_t words);

/* Records that `thread` has waited `ns` for the consumer of its records. */
void live_note_wait(struct live_map *map, uint64_t thread, uint64_t ns);

/* Returns room for `words` words, or NULL: dropped, stopping, or failed. */
static inline uint64_t *live_reserve(struct live_map *map, struct live_stream *stream, size_t words)
{
    if (__builtin_expect((size_t) (stream->end - stream->cursor) >= words, 1))
        return stream->cursor;
    return live_reserve_chunk(map, stream, words);
}

/* Publishes the words and events that were written at the reserved place.
 *
 * The release store of `used` is the only order between a probe and whoever reads its records. It
 * pairs with two acquire loads: in live_published_words(), for the drain thread, and in look() of
 * ring_copy.c. A reader that sees `used` sees every word below it. So a record is either whole or
 * absent, provided that it is committed once, after its last word. No other store of a record needs
 * an order. What a killed process has left is read later, and needs none. */
static inline void live_commit(struct live_stream *stream, size_t words, unsigned events)
{
    stream->cursor += words;
    stream->events += events;
    atomic_store_explicit(stream->used,
                          (uint64_t) (stream->cursor - stream->base) * sizeof(uint64_t),
                          memory_order_release);
}

/* `kind`: enum step_live_kind, or enum step_live_heap_kind. */
static inline uint64_t live_word(uint32_t kind, uint64_t payload)
{
    return (uint64_t) kind | payload << STEP_LIVE_KIND_BITS;
}

static inline uint64_t *live_chunk_words(struct step_live_chunk *chunk)
{
    return (uint64_t *) (chunk + 1);
}

/* Reserves more object ids for the stream and returns the first of them. */
uint64_t live_take_objects(struct live_map *map, struct live_stream *stream);
/* Object ids have 40 bits in words that hold more than one value. At this many the map fails with
 * EOVERFLOW, and its trace ends; ids that threads take until then still fit. */
#define LIVE_OBJECTS_MOST ((UINT64_C(1) << 40) - (UINT64_C(1) << 32))

static inline uint64_t live_next_object(struct live_map *map, struct live_stream *stream)
{
    if (__builtin_expect(stream->next_object < stream->end_object, 1))
        return stream->next_object++;
    return live_take_objects(map, stream);
}

/* For the drain thread: returns all full chunks since the last call, oldest first. */
struct live_chunk_ref *live_map_take_full(struct live_map *map);
/* Lets the chunk be filled again: its records are in the trace file. */
void live_map_release(struct live_map *map, struct live_chunk_ref *ref);
/* Ends all waits: there is no more room. */
void live_map_stop(struct live_map *map);
/* Ends all waits: the limit does not apply from now on. */
void live_map_lift_limit(struct live_map *map);

#endif
