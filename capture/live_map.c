/* SPDX-License-Identifier: Apache-2.0 */
/* Grows the live file, hands out chunks, and waits for room. */
#include "capture/live_map.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "capture/clock.h"
#include "capture/trace_file.h"
#include "format/core/grow.h"

/* Chunk sizes: a stream's first chunk; its later ones; those of the global stream, which must hold
 * a class name and a method's texts (64 KiB each) in one piece. */
static const uint64_t chunk_sizes[LIVE_CHUNK_SIZES] = {STEP_LIVE_PAGE, UINT64_C(64) << 10,
                                                       UINT64_C(256) << 10};
/* The file grows by segments of this size, each cut into chunks of one size. Growing costs system
 * calls under the lock, so it has to be rare; what is cut stays cut, so the segment is also the
 * memory that a size can keep although another size needs it. */
#define SEGMENT_BYTES (UINT64_C(1) << 20)
#define LIVE_WAIT_NS INT64_C(1000000000)
#define STILL_WAIT_NS UINT64_C(10000000000)
#define FIRST_OBJECT_STEP 32u
#define LAST_OBJECT_STEP 4096u

_Static_assert(sizeof(struct step_live_header) <= STEP_LIVE_PAGE, "the header is one page");
_Static_assert(sizeof(struct step_live_chunk) == 64, "a chunk header is 64 bytes");

static enum step_status live_map_fail(struct step_error *error, const char *path, const char *what)
{
    return step_error_set(error, STEP_STATUS_IO, path, STEP_NO_OFFSET, "%s: %s", what,
                          strerror(errno));
}

struct growth {
    const struct live_map *map;
    uint64_t start, bytes;
    void *base; /* NULL: it failed with `code` */
    int code;
};

/* Reserves disk blocks before it maps them: a store to a mapping on a full disk kills the
 * process. */
static void grow_by(struct growth *growth, int descriptor)
{
    growth->code = trace_file_extend(descriptor, growth->start, growth->bytes);
    if (growth->code != 0)
        return;
    void *base = mmap(NULL, growth->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor,
                      (off_t) growth->start);
    growth->base = base != MAP_FAILED ? base : NULL;
    growth->code = base != MAP_FAILED ? 0 : errno;
}

static bool is_its_file(const struct live_map *map, int descriptor)
{
    struct stat now;
    return fstat(descriptor, &now) == 0 && now.st_dev == map->device && now.st_ino == map->inode;
}

static void grow_apart(void *data)
{
    struct growth *growth = data;
    int descriptor = trace_file_find(growth->map->path, O_RDWR);
    if (descriptor >= 0 && is_its_file(growth->map, descriptor))
        grow_by(growth, descriptor);
    else
        growth->code = ESTALE;
    if (descriptor >= 0)
        close(descriptor);
}

static void *map_more(struct live_map *map, uint64_t bytes)
{
    if (map->grow != NULL)
        return map->grow(map, bytes);
    uint64_t start = map->header != NULL ? map->header->file_bytes : 0;
    struct growth growth = {.map = map, .start = start, .bytes = bytes};
    if (map->run_apart != NULL && !pthread_equal(map->keeper, pthread_self()))
        map->run_apart(grow_apart, &growth);
    else if (is_its_file(map, map->descriptor))
        grow_by(&growth, map->descriptor);
    else
        growth.code = ESTALE;
    void *base = growth.base;
    errno = growth.code;
    if (base == NULL)
        return NULL;
    if (!STEP_MAKE_ROOM(map->segments, map->segment_capacity, map->segment_count + 1)) {
        munmap(base, bytes);
        return NULL;
    }
    map->segments[map->segment_count++] = (struct segment){base, bytes};
    return base;
}

static enum step_status open_map(struct live_map *map, mode_t mode, struct step_error *error)
{
    map->descriptor = trace_file_make(map->path, mode);
    if (map->descriptor < 0)
        return live_map_fail(error, map->path, "cannot be created");
    struct stat made;
    if (fstat(map->descriptor, &made) != 0 || !trace_file_lock(map->descriptor, 1))
        return live_map_fail(error, map->path, "cannot be locked");
    map->device = made.st_dev;
    map->inode = made.st_ino;
    map->keeper = pthread_self();
    map->header = map_more(map, STEP_LIVE_PAGE);
    if (map->header == NULL)
        return live_map_fail(error, map->path, "cannot be mapped");
    live_map_describe(map);
    return STEP_STATUS_OK;
}

void live_map_describe(struct live_map *map)
{
    memcpy(map->header->magic, STEP_LIVE_MAGIC, sizeof map->header->magic);
    map->header->version = STEP_LIVE_VERSION;
    map->header->page_bytes = STEP_LIVE_PAGE;
    map->header->process_id = (uint64_t) getpid();
    map->header->file_bytes = STEP_LIVE_PAGE;
}

void live_map_init(struct live_map *map, struct live_shared *shared, uint64_t limit_bytes,
                   bool drop)
{
    map->descriptor = -1;
    map->shared = shared;
    map->shared->limit_bytes = limit_bytes;
    map->drop = drop;
    map->next_object = 1;
    pthread_mutex_init(&map->lock, NULL);
}

struct live_map *live_map_create(const char *path, mode_t mode, uint64_t limit_bytes, bool drop,
                                 struct step_error *error)
{
    struct live_map *map = calloc(1, sizeof *map);
    if (map == NULL || (map->path = strdup(path)) == NULL) {
        free(map);
        errno = ENOMEM;
        live_map_fail(error, path, "cannot be mapped");
        return NULL;
    }
    live_map_init(map, &map->own, limit_bytes, drop);
    if (open_map(map, mode, error) != STEP_STATUS_OK) {
        live_map_destroy(map, false);
        return NULL;
    }
    return map;
}

static void free_streams(struct live_map *map)
{
    struct live_stream *stream = atomic_load(&map->shared->all_streams);
    while (stream != NULL) {
        struct live_stream *next = stream->next_all;
        free(stream);
        stream = next;
    }
}

static void free_refs(struct live_map *map)
{
    struct live_chunk_ref *ref = atomic_load(&map->shared->made);
    while (ref != NULL) {
        struct live_chunk_ref *next = ref->next_made;
        free(ref);
        ref = next;
    }
}

void live_map_destroy(struct live_map *map, bool keep_file)
{
    if (map == NULL)
        return;
    if (map->descriptor >= 0 && !keep_file)
        trace_file_remove(map->path, (struct file_identity){map->device, map->inode});
    free_streams(map);
    free_refs(map);
    for (size_t i = 0; i < map->segment_count; i++)
        munmap(map->segments[i].base, map->segments[i].bytes);
    free(map->segments);
    if (map->descriptor >= 0 && (map->device == 0 || is_its_file(map, map->descriptor)))
        close(map->descriptor);
    pthread_mutex_destroy(&map->lock);
    free(map->path);
    free(map);
}

/* Returns zeroed memory. The caller holds the lock. */
static void *live_map_allocate(struct live_map *map, size_t bytes)
{
    return map->allocate != NULL ? map->allocate(map, bytes) : calloc(1, bytes);
}

static struct live_stream *create_stream(struct live_map *map, bool forced)
{
    struct live_stream *stream = live_map_allocate(map, sizeof *stream);
    if (stream == NULL)
        return NULL;
    stream->forced = forced;
    stream->object_step = FIRST_OBJECT_STEP;
    stream->number = map->stream_count++;
    stream->next_all = atomic_load(&map->shared->all_streams);
    atomic_store(&map->shared->all_streams, stream);
    return stream;
}

struct live_stream *live_stream_create(struct live_map *map, bool forced)
{
    pthread_mutex_lock(&map->lock);
    struct live_stream *stream = create_stream(map, forced);
    pthread_mutex_unlock(&map->lock);
    return stream;
}

struct live_stream *live_stream_take(struct live_map *map, bool forced)
{
    pthread_mutex_lock(&map->lock);
    struct live_stream *stream = map->idle_streams;
    if (stream != NULL)
        map->idle_streams = stream->next_idle;
    pthread_mutex_unlock(&map->lock);
    if (stream == NULL)
        return live_stream_create(map, forced);
    stream->forced = forced;
    return stream;
}

void live_stream_give_back(struct live_map *map, struct live_stream *stream)
{
    pthread_mutex_lock(&map->lock);
    stream->next_idle = map->idle_streams;
    map->idle_streams = stream;
    pthread_mutex_unlock(&map->lock);
}

static void live_map_give_up(struct live_map *map, int code)
{
    if (!atomic_load(&map->shared->failed))
        map->shared->code = code;
    atomic_store(&map->shared->failed, true);
}

uint64_t live_take_objects(struct live_map *map, struct live_stream *stream)
{
    uint64_t first = atomic_fetch_add(&map->next_object, stream->object_step);
    stream->next_object = first + 1;
    stream->end_object = first + stream->object_step;
    if (__builtin_expect(first >= LIVE_OBJECTS_MOST, 0)) {
        live_map_give_up(map, EOVERFLOW);
        futex_gate_open(&map->shared->work);
    }
    if (stream->object_step < LAST_OBJECT_STEP)
        stream->object_step *= 2;
    return first;
}

/* Creates a ref for a chunk in new memory. */
static struct live_chunk_ref *make_ref(struct live_map *map, void *memory)
{
    struct live_chunk_ref *ref = live_map_allocate(map, sizeof *ref);
    if (ref == NULL)
        return NULL;
    ref->chunk = memory;
    ref->next_made = atomic_load(&map->shared->made);
    atomic_store(&map->shared->made, ref);
    return ref;
}

static void mark_chunks(uint8_t *base, uint64_t chunk_bytes)
{
    for (uint64_t at = 0; at + chunk_bytes <= SEGMENT_BYTES; at += chunk_bytes) {
        struct step_live_chunk *chunk = (struct step_live_chunk *) (void *) (base + at);
        chunk->magic = STEP_LIVE_CHUNK_MAGIC;
        chunk->size_bytes = (uint32_t) chunk_bytes;
    }
}

/* Splits a new segment into chunks of one size. The caller holds the lock.
 *
 * The order is what makes the ring readable at any moment. mark_chunks() writes the headers of all
 * chunks before `file_bytes` (a sequentially consistent store) covers them; ring_copy.c
 * (ring_copy_find_places()) loads `file_bytes` first and then walks from header to header. With the
 * reverse order it could meet a header of zeros, and the pass would lack all chunks behind it. */
static bool carve(struct live_map *map, uint64_t chunk_bytes, struct live_chunk_ref **list)
{
    uint8_t *base = map_more(map, SEGMENT_BYTES);
    if (base == NULL)
        return false;
    mark_chunks(base, chunk_bytes);
    map->header->file_bytes += SEGMENT_BYTES; /* from now on a copier may read it */
    for (uint64_t at = 0; at + chunk_bytes <= SEGMENT_BYTES; at += chunk_bytes) {
        struct live_chunk_ref *ref = make_ref(map, base + at);
        if (ref == NULL)
            break;
        ref->next = *list;
        *list = ref;
    }
    return *list != NULL;
}

static bool is_full(const struct live_map *map)
{
    return !atomic_load(&map->shared->boundless) &&
           atomic_load(&map->shared->backlog_bytes) >= map->shared->limit_bytes;
}

/* Waits until there is room for another chunk. The caller holds the lock.
 *
 * The count of the gate is read before the condition is checked, and the wait returns at once if
 * the count has changed since. So an opening between check and wait is not lost. The lock is given
 * up meanwhile, because another thread may have to take a chunk that needs no room (a forced
 * stream). LIVE_WAIT_NS bounds each wait: a drain in another process may have been killed, which
 * nobody announces; then is_drained() says so, and all waits end.
 *
 * A stream whose owner has stopped the JVM (live_stand_still()) waits once for STILL_WAIT_NS, and
 * then never again. The drain needs no Java thread and so usually frees chunks meanwhile, but a
 * disk that does not answer would otherwise stop the program for ever inside a safepoint. */
static bool wait_for_room(struct live_map *map, struct live_stream *stream)
{
    struct live_shared *shared = map->shared;
    if (stream->forced || !is_full(map))
        return true;
    if (map->drop || (stream->stands_still && stream->has_waited))
        return false;
    uint64_t start = clock_monotonic_ns();
    for (;;) {
        uint32_t seen = atomic_load(&shared->room.count);
        if (atomic_load(&shared->stopping) || !is_full(map))
            break;
        stream->has_waited = clock_monotonic_ns() - start >= STILL_WAIT_NS;
        if (stream->stands_still && stream->has_waited)
            break;
        pthread_mutex_unlock(&map->lock);
        if (!futex_gate_wait(&shared->room, seen, LIVE_WAIT_NS) && map->is_drained != NULL &&
            !map->is_drained(map))
            live_map_stop(map);
        pthread_mutex_lock(&map->lock);
    }
    waits_add(&shared->waits, stream->thread, clock_monotonic_ns() - start);
    return !atomic_load(&shared->stopping) && !(stream->stands_still && stream->has_waited);
}

void live_note_wait(struct live_map *map, uint64_t thread, uint64_t ns)
{
    pthread_mutex_lock(&map->lock);
    waits_add(&map->shared->waits, thread, ns);
    pthread_mutex_unlock(&map->lock);
}

static size_t size_class(const struct live_chunk_ref *ref)
{
    uint64_t bytes = ref->chunk->size_bytes;
    return bytes == chunk_sizes[0] ? 0 : bytes == chunk_sizes[1] ? 1 : 2;
}

/* Moves the chunks that the drain has returned to the free lists. The caller holds the lock. */
static void take_returned(struct live_map *map)
{
    struct live_chunk_ref *ref = atomic_exchange(&map->shared->returned, NULL);
    while (ref != NULL) {
        struct live_chunk_ref *next = ref->next, **list = &map->free_chunks[size_class(ref)];
        ref->next = *list;
        *list = ref;
        ref = next;
    }
}

/* A stream's first chunk is small. So are all while the chunks being filled have more than half of
 * the limit.
 *
 * Small first chunks bound the memory of many short threads: a page each instead of 64 KiB. The
 * second rule bounds that of many long ones. A chunk that is being filled is not part of the
 * backlog, so wait_for_room() does not count it; without the rule, 10,000 threads would keep 625
 * MiB whatever buffer= says. */
static struct live_chunk_ref *take_chunk(struct live_map *map, const struct live_stream *stream)
{
    bool crowded = map->active_bytes > map->shared->limit_bytes / 2;
    size_t size = stream->number == STEP_LIVE_STREAM_GLOBAL ? 2
                  : stream->order == 0 || crowded           ? 0
                                                            : 1;
    struct live_chunk_ref **list = &map->free_chunks[size];
    if (*list == NULL)
        take_returned(map);
    if (*list == NULL && !carve(map, chunk_sizes[size], list))
        return NULL;
    struct live_chunk_ref *ref = *list;
    *list = ref->next;
    map->active_bytes += ref->chunk->size_bytes;
    return ref;
}

/* Prepares a chunk that was free. Three readers may look at it at any moment, so the order counts:
 *
 * - `used` is 0 before the state becomes ACTIVE (release). look() of ring_copy.c loads the state
 *   (acquire) before `used`; if it sees ACTIVE it sees this 0, or a later value, and never the
 *   length that the chunk had in its last life.
 * - `stream` and `order` are written while the state still is FREE. The pair never occurs again, so
 * a copier knows by it whether the chunk is still the one that it looked at.
 * - `ref` is published last (release). drain_take_active() loads it (acquire) and then reads the
 *   whole header without another order.
 *
 * The members that follow are the encoder's context: a chunk must be decodable without the chunk
 * before it, since after a crash that one may be in the trace already and gone from here. So the
 * first record of a chunk names its object, time and call stack in full. */
static void begin_chunk(struct live_stream *stream, struct live_chunk_ref *ref)
{
    struct step_live_chunk *chunk = ref->chunk;
    ref->stream = stream;
    ref->next = NULL;
    ref->parsed_words = 0;
    chunk->stream = stream->number;
    chunk->order = stream->order++;
    chunk->first_record = stream->events;
    chunk->thread = stream->thread;
    atomic_store_explicit(&chunk->used, 0, memory_order_relaxed);
    atomic_store_explicit(&chunk->owed_at, 0, memory_order_relaxed);
    atomic_store_explicit(&chunk->state, STEP_LIVE_ACTIVE, memory_order_release);
    stream->last_object = 0;
    stream->base_stamp = 0;
    stream->stamp_due = 0;
    stream->stack = 0;
    stream->base = stream->cursor = live_chunk_words(chunk);
    stream->used = &chunk->used;
    stream->end = stream->base + (chunk->size_bytes - sizeof *chunk) / sizeof(uint64_t);
    atomic_store_explicit(&stream->ref, ref, memory_order_release);
}

/* A stack without a lock. Any number of threads push; the one reader takes the whole list at once
 * with an exchange, and never a single element. So the ABA problem of such stacks cannot occur: the
 * compare-exchange only claims that the head is unchanged, and no element is followed. All accesses
 * are sequentially consistent, so whoever takes the list also sees everything that was written to
 * the chunks before they were pushed. */
static void live_map_push(_Atomic(struct live_chunk_ref *) *list, struct live_chunk_ref *ref)
{
    struct live_chunk_ref *head = atomic_load(list);
    do
        ref->next = head;
    while (!atomic_compare_exchange_weak(list, &head, ref));
}

static void queue_full(struct live_map *map, struct live_chunk_ref *ref)
{
    if (!ref->stream->forced)
        atomic_fetch_add(&map->shared->backlog_bytes, ref->chunk->size_bytes);
    atomic_store_explicit(&ref->chunk->state, STEP_LIVE_FULL, memory_order_release);
    live_map_push(&map->shared->full, ref);
    futex_gate_open(&map->shared->work);
}

/* The new chunk is installed before the old one is queued. With the reverse order the drain could
 * take, write and release the old chunk, and another stream could fill it, while `stream->ref`
 * still named it: drain_take_active() would then read another stream's records as this one's. In
 * this order the drain may see the new chunk before the old one has reached the queue;
 * drain_take_active() notices that by the chunk's number and leaves it alone.
 *
 * If no chunk can be had, the old one stays, unchanged and not full. So a dropped record leaves no
 * trace in the stream, and the next call tries again. */
uint64_t *live_reserve_chunk(struct live_map *map, struct live_stream *stream, size_t words)
{
    struct live_chunk_ref *old = atomic_load_explicit(&stream->ref, memory_order_relaxed);
    size_t most = stream->number == STEP_LIVE_STREAM_GLOBAL ? chunk_sizes[2] : chunk_sizes[0];
    if (words * sizeof(uint64_t) > most - sizeof(struct step_live_chunk) ||
        atomic_load_explicit(&map->shared->failed, memory_order_relaxed))
        return NULL;
    pthread_mutex_lock(&map->lock);
    struct live_chunk_ref *ref = NULL;
    if (wait_for_room(map, stream)) {
        ref = take_chunk(map, stream);
        if (ref == NULL)
            live_map_give_up(map, errno);
        else if (old != NULL)
            map->active_bytes -= old->chunk->size_bytes;
    }
    pthread_mutex_unlock(&map->lock);
    if (ref == NULL) {
        bool has_failed = atomic_load(&map->shared->failed);
        if (has_failed)
            futex_gate_open(&map->shared->work);
        if (!has_failed && !atomic_load(&map->shared->stopping))
            atomic_fetch_add(&map->header->dropped, 1); /* otherwise the trace ends, without a
                                                         * gap */
        return NULL;
    }
    begin_chunk(stream, ref);
    if (old != NULL)
        queue_full(map, old);
    return stream->cursor;
}

struct live_chunk_ref *live_map_take_full(struct live_map *map)
{
    struct live_chunk_ref *newest = atomic_exchange(&map->shared->full, NULL), *oldest = NULL;
    while (newest != NULL) {
        struct live_chunk_ref *next = newest->next;
        newest->next = oldest;
        oldest = newest;
        newest = next;
    }
    return oldest;
}

/* Everything that is needed of the chunk is read before it is pushed: afterwards it may belong to
 * another stream. The state becomes FREE before that, so that a copier in the other process does
 * not take the old records for valid ones while the chunk is filled again. The backlog shrinks
 * after the push: a thread that sees room then finds the chunk that is the room, and does not grow
 * the file instead. */
void live_map_release(struct live_map *map, struct live_chunk_ref *ref)
{
    uint64_t bytes = ref->chunk->size_bytes;
    bool forced = ref->stream->forced;
    atomic_store_explicit(&ref->chunk->state, STEP_LIVE_FREE, memory_order_release);
    live_map_push(&map->shared->returned, ref);
    if (!forced)
        atomic_fetch_sub(&map->shared->backlog_bytes, bytes);
    futex_gate_open(&map->shared->room);
}

void live_map_stop(struct live_map *map)
{
    atomic_store(&map->shared->stopping, true);
    futex_gate_open(&map->shared->room);
}

void live_map_lift_limit(struct live_map *map)
{
    atomic_store(&map->shared->boundless, true);
    futex_gate_open(&map->shared->room);
}
