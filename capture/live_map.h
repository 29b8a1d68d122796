/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The writing side of the live file (steptrace/live.h): chunks of a shared file mapping, streams
 * that append to them, and the queue of full chunks for the drain thread.
 *
 * A stream has one owner at a time.  Its owner reserves room, writes a record, commits.  No lock is
 * taken but when a chunk is full.
 */
#ifndef CAPTURE_LIVE_MAP_H
#define CAPTURE_LIVE_MAP_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "capture/futex.h"
#include "capture/waits.h"
#include "steptrace/live.h"

#define LIVE_CHUNK_SIZES 3

/* What the drain thread knows of a chunk. */
struct live_chunk_ref {
    struct step_live_chunk *chunk;
    struct live_stream *stream;
    struct live_chunk_ref *next;
    struct live_chunk_ref *next_made;
    size_t parsed_words;
    uint64_t end_record; /* the stream's event records up to the chunk's end, once all is parsed */
};

struct live_stream {
    /* the owner's */
    uint64_t *cursor; /* where the next record goes */
    uint64_t *end;
    uint64_t *base;
    _Atomic uint64_t *used;               /* where the chunk says how far it is filled */
    _Atomic(struct live_chunk_ref *) ref; /* the chunk in use, NULL at first */
    uint64_t number;
    uint64_t events;
    uint64_t order;  /* of the next chunk */
    uint64_t thread; /* in force */
    uint64_t last_stamp;
    uint64_t base_stamp;  /* of the last record in this chunk that has a time; 0: none has */
    uint64_t stack;       /* the frame that is in force in this chunk, 0 at its start */
    uint64_t last_object; /* of the last allocation record in this chunk, 0 if there is none */
    uint64_t next_object, end_object; /* object ids set aside for this stream */
    uint64_t object_step;             /* how many to set aside next */
    bool forced;                      /* may exceed the buffers' limit; never waits */
    bool stands_still;                /* all threads wait for this one: it waits for a while */
    bool has_waited;                  /* then: it did, and waits no more */
    struct live_stream *next_idle;
    struct live_stream *next_all;
    /* the drain thread's */
    struct live_chunk_ref *retained_head, *retained_tail; /* full, parsed, not all written */
    uint64_t expected_order;
    size_t retained_bytes;
};

/* What those who fill chunks and who drains them both touch.  They may be two processes, which have
 * this, the chunks, their refs and the streams at the same addresses, and may end at any moment:
 * there is no lock in it. */
struct live_shared {
    uint64_t limit_bytes;
    _Atomic bool stopping;                 /* nobody waits any more, reserve fails */
    _Atomic bool boundless;                /* nobody waits any more, the file grows */
    _Atomic bool failed;                   /* the file could not grow */
    int code;                              /* then: its errno */
    _Atomic uint64_t backlog_bytes;        /* full chunks not yet written, without forced streams */
    struct waits waits;                    /* under the lock */
    _Atomic(struct live_chunk_ref *) full; /* for the drain, newest first */
    _Atomic(struct live_chunk_ref *) returned; /* by the drain, to be filled again */
    _Atomic(struct live_chunk_ref *) made;     /* all; by next_made */
    _Atomic(struct live_stream *) all_streams;
    struct futex_gate room; /* opens when a wait for a chunk may be over */
    struct futex_gate work; /* opens when the drain has something to do */
};

struct live_map {
    struct live_shared *shared; /* `own`, where one process does both */
    struct live_shared own;
    char *path;
    int descriptor; /* the keeper's */
    /* not NULL: it is in a table that only the keeper has, and others grow the file so */
    void (*run_apart)(void (*step)(void *data), void *data);
    pthread_t keeper;
    uint64_t device, inode;
    uint64_t memory_bytes; /* of live_map_create_in() */
    struct step_live_header *header;
    bool drop;
    /* not NULL: where memory for refs and streams comes from, zeroed (with the lock held), how the
     * file grows, and whether there still is somebody who drains */
    void *(*allocate)(struct live_map *map, size_t bytes);
    void *(*grow)(struct live_map *map, uint64_t bytes);
    bool (*is_drained)(struct live_map *map);
    pthread_mutex_t lock; /* of the threads that fill chunks */
    struct live_chunk_ref *free_chunks[LIVE_CHUNK_SIZES];
    struct live_stream *idle_streams;
    uint64_t stream_count;
    uint64_t active_bytes;
    _Atomic uint64_t next_object;
    uint32_t work_seen; /* the drain's */
    struct segment {
        void *base;
        size_t bytes;
    } * segments;
    size_t segment_count, segment_capacity;
};

/* Creates the file, which must not exist, with these permissions (0: TRACE_FILE_MODE), and locks
 * its header for this process. */
struct live_map *live_map_create(const char *path, mode_t mode, uint64_t limit_bytes, bool drop,
                                 struct step_error *error);
/* A map whose ring is memory that is mapped already, all zero; it stays mapped. */
struct live_map *live_map_create_in(void *memory, uint64_t memory_bytes, uint64_t limit_bytes,
                                    bool drop, struct step_error *error);
/* Fills the header in. */
void live_map_describe(struct live_map *map);
/* A map whose file and memory are somebody else's: `shared`, all zero at first, `header` and the
 * three functions say how. */
void live_map_init(struct live_map *map, struct live_shared *shared, uint64_t limit_bytes,
                   bool drop);
/* Unmaps; `keep_file` leaves the file for recovery. */
void live_map_destroy(struct live_map *map, bool keep_file);

/* A stream for a new owner: one that another gave back, or a new one.  NULL: out of memory. */
struct live_stream *live_stream_take(struct live_map *map, bool forced);
/* A stream of its own with the next number, never handed on (the first two: global, frees). */
struct live_stream *live_stream_create(struct live_map *map, bool forced);
void live_stream_give_back(struct live_map *map, struct live_stream *stream);

/* Whether the whole JVM stands still while the owner fills the stream: then it waits for room for
 * 10 s at most, and loses and counts what follows. */
static inline void live_stand_still(struct live_stream *stream, bool does)
{
    stream->stands_still = does;
    stream->has_waited = false;
}

/* The slow path of live_reserve. */
uint64_t *live_reserve_chunk(struct live_map *map, struct live_stream *stream, size_t words);

/* That thread has waited so long for what takes the records. */
void live_note_wait(struct live_map *map, uint64_t thread, uint64_t ns);

/* Room for `words` words, or NULL: dropped, stopping, or failed. */
static inline uint64_t *live_reserve(struct live_map *map, struct live_stream *stream, size_t words)
{
    if (__builtin_expect((size_t) (stream->end - stream->cursor) >= words, 1))
        return stream->cursor;
    return live_reserve_chunk(map, stream, words);
}

/* Publishes what was written at the reserved place. */
static inline void live_commit(struct live_stream *stream, size_t words, unsigned events)
{
    stream->cursor += words;
    stream->events += events;
    atomic_store_explicit(stream->used,
                          (uint64_t) (stream->cursor - stream->base) * sizeof(uint64_t),
                          memory_order_release);
}

static inline uint64_t live_word(enum step_live_kind kind, uint64_t payload)
{
    return (uint64_t) kind | payload << STEP_LIVE_KIND_BITS;
}

static inline uint64_t live_allocs_word(enum step_live_heap_kind kind, uint64_t payload)
{
    return (uint64_t) kind | payload << STEP_LIVE_KIND_BITS;
}

static inline uint64_t *live_chunk_words(struct step_live_chunk *chunk)
{
    return (uint64_t *) (chunk + 1);
}

/* The next object id, from those set aside for the stream. */
uint64_t live_take_objects(struct live_map *map, struct live_stream *stream);
/* Ids have 40 bits where more than one is in a word.  At this many the map fails with EOVERFLOW,
 * and its trace ends; what threads take until then still fits. */
#define LIVE_OBJECTS_MOST ((UINT64_C(1) << 40) - (UINT64_C(1) << 32))

static inline uint64_t live_next_object(struct live_map *map, struct live_stream *stream)
{
    if (__builtin_expect(stream->next_object < stream->end_object, 1))
        return stream->next_object++;
    return live_take_objects(map, stream);
}

/* For the drain thread: all full chunks since the last call, oldest first. */
struct live_chunk_ref *live_map_take_full(struct live_map *map);
/* The chunk's records are in the trace file: it may be used again. */
void live_map_release(struct live_map *map, struct live_chunk_ref *ref);
/* Ends all waiting: there is no more room. */
void live_map_stop(struct live_map *map);
/* Ends all waiting: there is room beyond the limit from now on. */
void live_map_lift_limit(struct live_map *map);

#endif
