/* SPDX-License-Identifier: Apache-2.0 */
/* Copies of a ring that is filled and given back meanwhile: each has all that had been published
 * before it began and is in no trace, without a gap. */
#include <CUnit/Basic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "capture/live_map.h"
#include "capture/ring_copy.h"
#include "tests/unit/run_suite.h"

#define WRITERS 4
#define STREAMS (WRITERS + 1)
#define RECORDS 1000000u
#define RING_BYTES (UINT64_C(128) << 20)
#define LIMIT_BYTES (UINT64_C(256) << 10) /* little, so chunks are small and many */

static char path[] = "/tmp/steptrace-ring-XXXXXX";
static uint8_t *ring;
static struct live_map *map;
static struct ring_copy copy;
static _Atomic int running;
static _Atomic uint64_t published[STREAMS]; /* records that each stream has at least */
static _Atomic uint64_t in_trace[STREAMS];
static _Atomic bool drains;

static void *write_records(void *data)
{
    struct live_stream *stream = data;
    for (uint64_t i = 0; i < RECORDS; i++) {
        uint64_t *room = live_reserve(map, stream, 2);
        if (room == NULL)
            break;
        room[0] = live_word(STEP_LIVE_EXIT, i);
        room[1] = stream->number;
        live_commit(stream, 2, 1);
        atomic_store(&published[stream->number], i + 1);
    }
    atomic_fetch_sub(&running, 1);
    return NULL;
}

/* The trace has a chunk's records before the chunk is given back. */
static void *drain_chunks(void *data)
{
    while (atomic_load(&drains)) {
        for (struct live_chunk_ref *ref = live_map_take_full(map); ref != NULL;) {
            struct live_chunk_ref *next = ref->next;
            struct step_live_chunk *chunk = ref->chunk;
            atomic_store(&in_trace[chunk->stream], chunk->first_record + chunk->used / 16);
            live_map_release(map, ref);
            ref = next;
        }
        nanosleep(&(struct timespec){0, 100000}, NULL);
    }
    return data;
}

/* ---- what the file has ---- */

struct part {
    uint64_t first, end;
};

static bool is_good(const struct step_live_chunk *chunk)
{
    const uint64_t *words = (const uint64_t *) (const void *) (chunk + 1);
    for (uint64_t i = 0; i < chunk->used / 16; i++)
        if (words[2 * i] >> STEP_LIVE_KIND_BITS != chunk->first_record + i ||
            words[2 * i + 1] != chunk->stream)
            return false;
    return true;
}

static int compare_parts(const void *left, const void *right)
{
    const struct part *a = left, *b = right;
    return (a->first > b->first) - (a->first < b->first);
}

/* The end of what follows on `from` without a gap. */
static uint64_t end_of(const uint8_t *file, uint64_t bytes, uint64_t stream, uint64_t from)
{
    static struct part parts[RING_BYTES / STEP_LIVE_PAGE];
    size_t count = 0;
    for (uint64_t at = STEP_LIVE_PAGE; at < bytes;) {
        const struct step_live_chunk *chunk = (const void *) (file + at);
        bool is_chunk = chunk->magic == STEP_LIVE_CHUNK_MAGIC && chunk->size_bytes != 0;
        if (is_chunk && chunk->state != STEP_LIVE_FREE && chunk->stream == stream) {
            CU_ASSERT_TRUE(is_good(chunk));
            parts[count++] =
                (struct part){chunk->first_record, chunk->first_record + chunk->used / 16};
        }
        at += is_chunk ? chunk->size_bytes : STEP_LIVE_PAGE;
    }
    qsort(parts, count, sizeof parts[0], compare_parts);
    uint64_t end = from;
    for (size_t i = 0; i < count; i++)
        if (parts[i].first <= end && parts[i].end > end)
            end = parts[i].end;
        else if (parts[i].first > end)
            return 0;
    return end;
}

static void check_file(const uint64_t *least)
{
    uint64_t bytes = (uint64_t) lseek(copy.file, 0, SEEK_END), traced[STREAMS];
    for (int i = 0; i < STREAMS; i++)
        traced[i] = atomic_load(&in_trace[i]);
    uint8_t *file = mmap(NULL, bytes, PROT_READ, MAP_PRIVATE, copy.file, 0);
    CU_ASSERT_PTR_NOT_EQUAL_FATAL(file, MAP_FAILED);
    for (uint64_t i = 1; i < STREAMS; i++)
        CU_ASSERT_TRUE(end_of(file, bytes, i, traced[i]) >= least[i]);
    munmap(file, bytes);
}

static void copy_and_check(bool last)
{
    uint64_t least[STREAMS];
    for (int i = 0; i < STREAMS; i++)
        least[i] = atomic_load(&published[i]);
    CU_ASSERT_TRUE(ring_copy_pass(&copy, last));
    check_file(least);
}

static void start(void)
{
    struct step_error error;
    ring = mmap(NULL, RING_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CU_ASSERT_PTR_NOT_EQUAL_FATAL(ring, MAP_FAILED);
    map = live_map_create_in(ring, RING_BYTES, LIMIT_BYTES, false, &error);
    CU_ASSERT_PTR_NOT_NULL_FATAL(map);
    live_stream_create(map, true); /* number 0, the one with huge chunks */
    copy = (struct ring_copy){.ring = ring, .ring_bytes = RING_BYTES, .file = mkstemp(path)};
    CU_ASSERT_TRUE_FATAL(copy.file >= 0);
}

static void end(void)
{
    live_map_destroy(map, false);
    munmap(ring, RING_BYTES);
    close(copy.file);
    ring_copy_reset(&copy);
    unlink(path);
    memcpy(path + sizeof path - 7, "XXXXXX", 6);
}

static void test_many_writers(void)
{
    pthread_t threads[WRITERS], drain;
    start();
    atomic_store(&running, WRITERS);
    atomic_store(&drains, true);
    CU_ASSERT_EQUAL_FATAL(pthread_create(&drain, NULL, drain_chunks, NULL), 0);
    for (int i = 0; i < WRITERS; i++)
        CU_ASSERT_EQUAL_FATAL(
            pthread_create(&threads[i], NULL, write_records, live_stream_take(map, false)), 0);
    while (atomic_load(&running) != 0)
        copy_and_check(false);
    for (int i = 0; i < WRITERS; i++)
        pthread_join(threads[i], NULL);
    copy_and_check(true);
    atomic_store(&drains, false);
    pthread_join(drain, NULL);
    for (int i = 1; i < STREAMS; i++)
        CU_ASSERT_EQUAL(atomic_load(&published[i]), RECORDS);
    end();
}

/* Somebody cuts the file: the next copy has all again. */
static void test_cut(void)
{
    start();
    memset(published, 0, sizeof published);
    memset(in_trace, 0, sizeof in_trace);
    struct live_stream *stream = live_stream_take(map, true);
    atomic_store(&running, 1);
    write_records(stream);
    copy_and_check(false);
    CU_ASSERT_EQUAL(ftruncate(copy.file, 5000), 0);
    uint64_t *room = live_reserve(map, stream, 2);
    CU_ASSERT_PTR_NOT_NULL_FATAL(room);
    room[0] = live_word(STEP_LIVE_EXIT, RECORDS);
    room[1] = stream->number;
    live_commit(stream, 2, 1);
    copy_and_check(true);
    end();
}

void add_suite(void)
{
    CU_pSuite suite = CU_add_suite("ring_copy", NULL, NULL);
    CU_add_test(suite, "many writers", test_many_writers);
    CU_add_test(suite, "cut", test_cut);
}
