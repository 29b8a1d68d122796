/* SPDX-License-Identifier: Apache-2.0 */
/* The buffers under several writers and one drainer: nothing lost, nothing twice, in order. */
#include <CUnit/Basic.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "capture/live_map.h"
#include "tests/unit/run_suite.h"

#define WRITERS 4
#define RECORDS 200000u

static char path[] = "/tmp/steptrace-live-XXXXXX";
static struct live_map *map;
static _Atomic int running;

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
    }
    atomic_fetch_sub(&running, 1);
    return NULL;
}

/* What the drainer has seen of each stream. */
static uint64_t next_record[WRITERS + 1];
static unsigned disorder;

static void look_at(struct step_live_chunk *chunk)
{
    const uint64_t *words = live_chunk_words(chunk);
    size_t count = (size_t) chunk->used / 8;
    disorder += chunk->first_record != next_record[chunk->stream];
    for (size_t i = 0; i + 1 < count; i += 2) {
        disorder += words[i] >> STEP_LIVE_KIND_BITS != next_record[chunk->stream]++;
        disorder += words[i + 1] != chunk->stream;
    }
}

static void drain_full(void)
{
    for (struct live_chunk_ref *ref = live_map_take_full(map); ref != NULL;) {
        struct live_chunk_ref *next = ref->next;
        look_at(ref->chunk);
        live_map_release(map, ref);
        ref = next;
    }
}

static bool start_map(uint64_t limit_bytes, bool drop)
{
    struct step_error error;
    unlink(path);
    map = live_map_create(path, 0, limit_bytes, drop, &error);
    return map != NULL;
}

static void test_many_writers(void)
{
    pthread_t threads[WRITERS];
    struct live_stream *streams[WRITERS];
    memset(next_record, 0, sizeof next_record);
    disorder = 0;
    CU_ASSERT_TRUE_FATAL(start_map(1 << 20, false));
    live_stream_create(map, true); /* number 0, the one with huge chunks */
    atomic_store(&running, WRITERS);
    for (int i = 0; i < WRITERS; i++) {
        streams[i] = live_stream_take(map, false);
        CU_ASSERT_EQUAL_FATAL(pthread_create(&threads[i], NULL, write_records, streams[i]), 0);
    }
    while (atomic_load(&running) != 0) {
        drain_full();
        nanosleep(&(struct timespec){0, 200000}, NULL);
    }
    for (int i = 0; i < WRITERS; i++)
        pthread_join(threads[i], NULL);
    drain_full();
    for (int i = 0; i < WRITERS; i++) {
        look_at(atomic_load(&streams[i]->ref)->chunk);
        CU_ASSERT_EQUAL(next_record[streams[i]->number], RECORDS);
    }
    CU_ASSERT_EQUAL(disorder, 0);
    CU_ASSERT_EQUAL(atomic_load(&map->header->dropped), 0);
    live_map_destroy(map, false);
    CU_ASSERT_EQUAL(access(path, F_OK), -1);
}

/* With nobody draining, drop counts what does not fit and the file stays bounded. */
static void test_drop(void)
{
    CU_ASSERT_TRUE_FATAL(start_map(1 << 20, true));
    live_stream_create(map, true);
    struct live_stream *stream = live_stream_take(map, false);
    atomic_store(&running, 1);
    uint64_t kept = 0;
    for (uint64_t i = 0; i < RECORDS; i++) {
        uint64_t *room = live_reserve(map, stream, 2);
        if (room == NULL)
            continue;
        room[0] = live_word(STEP_LIVE_EXIT, i);
        live_commit(stream, 2, 1);
        kept++;
    }
    CU_ASSERT_EQUAL(kept + atomic_load(&map->header->dropped), RECORDS);
    CU_ASSERT_TRUE(kept > 60000 && kept < 100000);
    CU_ASSERT_TRUE(map->header->file_bytes < (4u << 20));
    live_map_destroy(map, true);
    CU_ASSERT_EQUAL(access(path, F_OK), 0);
    unlink(path);
}

static void *wait_for_room(void *data)
{
    write_records(data);
    return NULL;
}

/* Until the writer has filled all that there is, and waits. */
static void wait_until_full(void)
{
    while (atomic_load(&map->shared->room.waiting) == 0)
        nanosleep(&(struct timespec){0, 200000}, NULL);
}

/* A writer that waits for room is let go by live_map_stop(). */
static void test_stop(void)
{
    pthread_t thread;
    CU_ASSERT_TRUE_FATAL(start_map(1 << 20, false));
    live_stream_create(map, true);
    atomic_store(&running, 1);
    pthread_create(&thread, NULL, wait_for_room, live_stream_take(map, false));
    wait_until_full();
    CU_ASSERT_EQUAL(atomic_load(&running), 1);
    live_map_stop(map);
    pthread_join(thread, NULL);
    CU_ASSERT_EQUAL(atomic_load(&running), 0);
    CU_ASSERT_EQUAL(map->shared->waits.count, 1);
    CU_ASSERT_TRUE(map->shared->waits.longest_ns > 0);
    CU_ASSERT_EQUAL(map->shared->waits.sum_ns, map->shared->waits.threads[0].sum_ns);
    live_map_destroy(map, false);
}

/* One that waits goes on where the limit is lifted, and loses nothing; nobody drains. */
static void test_lifted_limit(void)
{
    pthread_t thread;
    CU_ASSERT_TRUE_FATAL(start_map(1 << 20, false));
    live_stream_create(map, true);
    atomic_store(&running, 1);
    struct live_stream *stream = live_stream_take(map, false);
    pthread_create(&thread, NULL, wait_for_room, stream);
    wait_until_full();
    CU_ASSERT_EQUAL(atomic_load(&running), 1);
    live_map_lift_limit(map);
    pthread_join(thread, NULL);
    CU_ASSERT_EQUAL(stream->events, RECORDS);
    CU_ASSERT_EQUAL(atomic_load(&map->header->dropped), 0);
    live_map_destroy(map, false);
}

/* By thread; where there are too many, those that waited longest are kept. */
static void test_waits(void)
{
    struct waits waits = {.count = 0};
    char text[WAITS_TEXT];
    waits_print(&waits, text, sizeof text);
    CU_ASSERT_STRING_EQUAL(text, "");
    waits_add(&waits, 7, 300);
    waits_add(&waits, 9, 1000);
    waits_add(&waits, 7, 500);
    waits_print(&waits, text, sizeof text);
    CU_ASSERT_STRING_EQUAL(text, "9:1000:1000,7:800:500");
    for (uint64_t i = 0; i < WAITS_THREADS; i++)
        waits_add(&waits, 100 + i, 2000 + i);
    CU_ASSERT_EQUAL(waits.count, WAITS_THREADS);
    waits_print(&waits, text, sizeof text);
    CU_ASSERT_PTR_NULL(strstr(text, "9:1000:1000,7"));
    waits_add(&waits, 5, 1);
    waits_print(&waits, text, sizeof text);
    CU_ASSERT_PTR_NULL(strstr(text, ",5:1:1"));
    CU_ASSERT_EQUAL(waits.longest_ns, 2000 + WAITS_THREADS - 1);
    CU_ASSERT_EQUAL(waits.sum_ns,
                    1801 + WAITS_THREADS * 2000 + WAITS_THREADS * (WAITS_THREADS - 1) / 2);
    for (uint64_t i = 0; i < WAITS_THREADS; i++)
        waits_add(&waits, UINT64_MAX - i, UINT64_MAX / 64 - i);
    waits_print(&waits, text, sizeof text); /* the longest text has room */
    CU_ASSERT_PTR_NOT_NULL(strrchr(text, ':'));
    waits.count = SIZE_MAX;
    waits_print(&waits, text, sizeof text);
}

static void test_streams_are_handed_on(void)
{
    CU_ASSERT_TRUE_FATAL(start_map(1 << 20, false));
    struct live_stream *first = live_stream_take(map, false);
    live_stream_give_back(map, first);
    CU_ASSERT_PTR_EQUAL(live_stream_take(map, false), first);
    CU_ASSERT_PTR_NOT_EQUAL(live_stream_take(map, false), first);
    CU_ASSERT_EQUAL(map->stream_count, 2);
    uint64_t a = live_next_object(map, first), b = live_next_object(map, first);
    CU_ASSERT_EQUAL(b, a + 1);
    live_map_destroy(map, false);
}

/* Ids beyond the words that hold them would name other objects: the trace ends before. */
static void test_objects_run_out(void)
{
    CU_ASSERT_TRUE_FATAL(start_map(1 << 20, false));
    struct live_stream *stream = live_stream_take(map, false);
    atomic_store(&map->next_object, LIVE_OBJECTS_MOST - 1000);
    for (unsigned i = 0; i < 900; i++)
        live_next_object(map, stream);
    while (atomic_load(&map->next_object) < LIVE_OBJECTS_MOST) {
        CU_ASSERT_FALSE_FATAL(atomic_load(&map->shared->failed));
        live_next_object(map, stream);
    }
    while (stream->next_object < stream->end_object)
        live_next_object(map, stream);
    live_next_object(map, stream);
    CU_ASSERT_TRUE(atomic_load(&map->shared->failed));
    CU_ASSERT_EQUAL(map->shared->code, EOVERFLOW);
    live_map_destroy(map, false);
}

static int make_file(void)
{
    int descriptor = mkstemp(path);
    return descriptor < 0 || close(descriptor) != 0;
}

void add_suite(void)
{
    CU_pSuite suite = CU_add_suite("live map", make_file, NULL);
    CU_add_test(suite, "many writers", test_many_writers);
    CU_add_test(suite, "drop", test_drop);
    CU_add_test(suite, "stop", test_stop);
    CU_add_test(suite, "lifted limit", test_lifted_limit);
    CU_add_test(suite, "object ids run out", test_objects_run_out);
    CU_add_test(suite, "waits", test_waits);
    CU_add_test(suite, "streams are handed on", test_streams_are_handed_on);
}
