/* SPDX-License-Identifier: Apache-2.0 */
/* What the drain has not got into the trace file stays in the live file: where the file takes no
 * more, and where nobody waits any longer. */
#include <CUnit/Basic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "capture/drain.h"
#include "capture/retained_chunks.h"
#include "format/io/memory_output.h"
#include "steptrace/java_trace.h"
#include "tests/unit/run_suite.h"

#define ROUND 4000u /* records, of 8 bytes: what one chunk more than the first has no room for */

static char path[] = "/tmp/steptrace-drain-XXXXXX";
static struct step_buffer bytes;
static struct live_stream *stream;
static uint64_t decoded;
static bool fails, late;

static enum step_status begin(void *decoder, uint64_t number, uint64_t first_record,
                              uint64_t thread)
{
    (void) decoder, (void) number, (void) first_record, (void) thread;
    return STEP_STATUS_OK;
}

static enum step_status words(void *decoder, uint64_t number, const uint64_t *from, size_t count,
                              size_t *consumed, struct step_error *error)
{
    (void) decoder, (void) number, (void) from, (void) error;
    *consumed = fails ? 0 : count;
    decoded += *consumed;
    return fails ? STEP_STATUS_IO : STEP_STATUS_OK;
}

static uint64_t next_record(void *decoder, uint64_t number)
{
    (void) decoder, (void) number;
    return decoded;
}

/* All that was decoded is in the file. */
static uint64_t settled(void *decoder, uint64_t number, uint64_t written)
{
    (void) decoder, (void) number, (void) written;
    return decoded;
}

static bool take_all_full(struct drain *drain)
{
    struct live_chunk_ref *ref = live_map_take_full(drain->map);
    bool any = ref != NULL;
    while (ref != NULL) {
        struct live_chunk_ref *next = ref->next;
        drain_take_full(drain, ref);
        ref = next;
    }
    return any;
}

static bool is_late(const struct drain *drain)
{
    (void) drain;
    return late;
}

static const struct drain_operations operations = {.begin = begin,
                                                   .words = words,
                                                   .next_record = next_record,
                                                   .settled = settled,
                                                   .take_all_full = take_all_full,
                                                   .is_late = is_late};

static void write_round(struct live_map *map)
{
    for (uint64_t i = 0; i < ROUND; i++) {
        uint64_t *room = live_reserve(map, stream, 1);
        CU_ASSERT_PTR_NOT_NULL_FATAL(room);
        room[0] = live_word(STEP_LIVE_EXIT, i);
        live_commit(stream, 1, 1);
    }
}

/* Words in chunks that a reader of the live file would take. */
static uint64_t words_there(const struct live_map *map)
{
    uint64_t count = 0;
    for (const struct live_chunk_ref *ref = atomic_load(&map->shared->made); ref != NULL;
         ref = ref->next_made)
        if (atomic_load(&ref->chunk->state) != STEP_LIVE_FREE)
            count += live_published_words(ref->chunk);
    return count;
}

/* The second round is in chunks that the first has had. */
static struct drain drain_of_two_rounds(void)
{
    struct step_writer_options options;
    struct step_writer *writer = NULL;
    fails = late = false;
    decoded = 0;
    bytes = (struct step_buffer){0};
    unlink(path);
    struct live_map *map = live_map_create(path, 0, 1 << 20, false, NULL);
    CU_ASSERT_PTR_NOT_NULL_FATAL(map);
    live_stream_create(map, true); /* number 0, the one with huge chunks */
    stream = live_stream_take(map, false);
    step_writer_options_init(&options);
    options.definition = &step_java_trace_definition;
    options.output = step_memory_output(&bytes);
    CU_ASSERT_EQUAL_FATAL(step_writer_create(&options, &writer, NULL), STEP_STATUS_OK);
    struct drain drain = {
        .operations = &operations, .path = path, .map = map, .writer = writer, .decoder = &decoded};
    for (int i = 0; i < 8; i++) {
        write_round(map);
        drain_take_everything(&drain);
    }
    CU_ASSERT_EQUAL(decoded, 8 * ROUND);
    write_round(map);
    write_round(map);
    write_round(map);
    return drain;
}

static void destroy(struct drain *drain)
{
    step_writer_destroy(drain->writer);
    live_map_destroy(drain->map, false);
    step_buffer_reset(&bytes);
}

static void test_failed(void)
{
    struct drain drain = drain_of_two_rounds();
    uint64_t there = words_there(drain.map);
    fails = true;
    drain_take_everything(&drain);
    CU_ASSERT_TRUE(drain.failed);
    CU_ASSERT_TRUE(there >= 3 * ROUND);
    CU_ASSERT_EQUAL(words_there(drain.map), there);
    destroy(&drain);
}

static void test_late(void)
{
    struct drain drain = drain_of_two_rounds();
    uint64_t there = words_there(drain.map);
    size_t length = bytes.length;
    late = true;
    drain_take_everything(&drain);
    drain_close(&drain);
    CU_ASSERT_TRUE(drain.left);
    CU_ASSERT_EQUAL(decoded, 8 * ROUND);
    CU_ASSERT_EQUAL(words_there(drain.map), there);
    CU_ASSERT_EQUAL(bytes.length, length);
    late = false; /* what was left in the midst is not taken up again */
    drain_take_everything(&drain);
    drain_close(&drain);
    CU_ASSERT_EQUAL(decoded, 8 * ROUND);
    CU_ASSERT_EQUAL(bytes.length, length);
    destroy(&drain);
}

static void test_in_time(void)
{
    struct drain drain = drain_of_two_rounds();
    size_t length = bytes.length;
    drain_take_everything(&drain);
    drain_close(&drain);
    CU_ASSERT_FALSE(drain.left);
    CU_ASSERT_EQUAL(decoded, 11 * ROUND);
    CU_ASSERT_TRUE(bytes.length > length);
    destroy(&drain);
}

static int make_file(void)
{
    int descriptor = mkstemp(path);
    return descriptor < 0 || close(descriptor) != 0;
}

void add_suite(void)
{
    CU_pSuite suite = CU_add_suite("drain", make_file, NULL);
    CU_add_test(suite, "failed", test_failed);
    CU_add_test(suite, "late", test_late);
    CU_add_test(suite, "in time", test_in_time);
}
