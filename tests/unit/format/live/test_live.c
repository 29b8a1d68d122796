/* SPDX-License-Identifier: Apache-2.0 */
/* Raw records to a trace: what a dead process left in its live file is read, whole and once. */
#include <CUnit/Basic.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "capture/live_map.h"
#include "format/core/bytes.h"
#include "format/io/memory_output.h"
#include "format/live/id_sort.h"
#include "format/live/live_decoder.h"
#include "format/live/live_streams.h"
#include "steptrace/java_trace.h"
#include "steptrace/reader.h"
#include "tests/unit/run_suite.h"

#define ALLOCATIONS 3000u
#define FREES 700u

static char trace_path[] = "/tmp/steptrace-unit-XXXXXX";
static char live_path[sizeof trace_path + 8];

static int by_value(const void *a, const void *b)
{
    uint64_t left = *(const uint64_t *) a, right = *(const uint64_t *) b;
    return (left > right) - (left < right);
}

/* Against qsort(): ids below `range`, as random as `step` lets them be, from `least` on. */
static void check_id_sort(size_t count, uint64_t least, uint64_t range, bool distinct)
{
    uint64_t *ids = calloc(3 * count + 1, sizeof *ids), *scratch = ids + count;
    uint64_t *sorted = scratch + count, seed = count * 2654435761u + range;
    for (size_t i = 0; i < count; i++) {
        seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        ids[i] = least + (distinct ? i * 7919 % range : (seed >> 20) % range);
        sorted[i] = ids[i];
    }
    qsort(sorted, count, sizeof *sorted, by_value);
    id_sort(ids, scratch, count);
    CU_ASSERT(memcmp(ids, sorted, count * sizeof *ids) == 0);
    free(ids);
}

static void test_id_sort(void)
{
    static const size_t counts[] = {0, 1, 2, 3, 63, 64, 65, 1000, 30000};
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        size_t count = counts[i];
        check_id_sort(count, 1, count + 1, false);              /* close, some twice */
        check_id_sort(count, UINT64_C(1) << 39, 1048576, true); /* each once, dense or sparse */
        check_id_sort(count, 5, UINT64_C(1) << 43, false);      /* far apart */
        check_id_sort(count, UINT64_MAX - 64 * count, 64 * count + 1, true);
        check_id_sort(count, 9, 1, false); /* all alike */
    }
}

static void append(struct live_map *map, struct live_stream *stream, const uint64_t *words,
                   size_t count, unsigned events)
{
    uint64_t *room = live_reserve(map, stream, count);
    CU_ASSERT_PTR_NOT_NULL_FATAL(room);
    memcpy(room, words, count * sizeof *words);
    live_commit(stream, count, events);
}

static void write_start(struct live_map *map, struct live_stream *global)
{
    uint64_t class[4] = {live_word(STEP_LIVE_DEFINE_CLASS, 1), 0, 3};
    uint64_t thread[4] = {live_word(STEP_LIVE_DEFINE_THREAD, 1), 0, 4};
    memcpy(&class[3], "a/B", 3);
    memcpy(&thread[3], "main", 4);
    append(map, global, (uint64_t[]){live_word(STEP_LIVE_VM_START, 0)}, 1, 1);
    append(map, global, (uint64_t[]){live_word(STEP_LIVE_VM_INIT, 10)}, 1, 1);
    append(map, global, class, 4, 0);
    append(map, global, (uint64_t[]){live_word(STEP_LIVE_CLASS_LOAD, 11), 1}, 2, 1);
    append(map, global, thread, 4, 0);
    append(map, global, (uint64_t[]){live_word(STEP_LIVE_THREAD_START, 12), 1}, 2, 1);
}

static uint64_t freed(uint64_t first, uint64_t count)
{
    return live_word(STEP_LIVE_FREE_OBJECT,
                     first | (count - 1) % STEP_LIVE_FREED_MOST << STEP_LIVE_FREED_BITS);
}

/* Writes a live file as a process would that is killed then; `death`: when the JVM died before, or
 * 0. */
static void write_live_file(uint64_t death)
{
    struct live_map *map = live_map_create(live_path, 0, 16 << 20, false, NULL);
    CU_ASSERT_PTR_NOT_NULL_FATAL(map);
    map->header->clock_multiplier = 1;
    map->header->resolution_ns = 1;
    struct live_stream *global = live_stream_create(map, true);
    struct live_stream *frees = live_stream_create(map, true);
    struct live_stream *stream = live_stream_take(map, false);
    write_start(map, global);
    if (death != 0)
        append(map, global, (uint64_t[]){live_word(STEP_LIVE_VM_DEATH, death)}, 1, 1);
    append(map, stream, (uint64_t[]){live_word(STEP_LIVE_THREAD_SWITCH, 1)}, 1, 0);
    stream->thread = 1;
    for (uint64_t i = 0; i < ALLOCATIONS; i++)
        append(map, stream,
               (uint64_t[]){live_word(STEP_LIVE_ALLOC, 20 + i), 1 | UINT64_C(3) << 32,
                            live_next_object(map, stream)},
               3, 1);
    /* in the wrong order, and cut: no FREE_END */
    for (uint64_t last = FREES, run = 1; last > 0; last -= run, run = run % 7 + 1) {
        run = run < last ? run : last;
        append(map, frees, (uint64_t[]){freed(last - run + 1, run)}, 1, (unsigned) run);
    }
    map->header->free_stamp = 5000;
    live_map_destroy(map, true);
}

static struct step_writer *create_writer(struct step_buffer *bytes)
{
    struct step_writer_options options;
    struct step_writer *writer = NULL;
    step_writer_options_init(&options);
    options.definition = &step_java_trace_definition;
    options.output = step_memory_output(bytes);
    CU_ASSERT_EQUAL_FATAL(step_writer_create(&options, &writer, NULL), STEP_STATUS_OK);
    return writer;
}

struct counts {
    uint64_t by_record[STEP_JAVA_RECORD_COUNT];
    uint64_t last_object, last_free, last_free_time;
    unsigned disorder;
};

static void count_record(const struct step_java_trace_binding *binding,
                         const struct step_record_view *view, struct counts *counts)
{
    struct step_java_object_alloc alloc;
    struct step_java_object_free free_event;
    counts->by_record[step_java_trace_record(binding, view->record)]++;
    if (step_java_object_alloc_get(binding, view, &alloc)) {
        counts->disorder += alloc.object != ++counts->last_object || alloc.size != 24 ||
                            alloc.class_ != 1 || alloc.thread != 1;
    } else if (step_java_object_free_get(binding, view, &free_event)) {
        counts->disorder += free_event.object != ++counts->last_free;
        counts->last_free_time = free_event.time;
    }
}

static struct counts count_records(struct step_reader *reader)
{
    struct counts counts = {.disorder = 0};
    struct step_java_trace_binding binding;
    struct step_block *block = NULL;
    struct step_record_view view;
    CU_ASSERT_EQUAL_FATAL(
        step_java_trace_bind(step_reader_borrow_definition(reader), &binding, NULL),
        STEP_STATUS_OK);
    for (size_t i = 0; i < step_reader_block_count(reader); i++) {
        CU_ASSERT_EQUAL(step_reader_load(reader, i, NULL, &block, NULL), STEP_STATUS_OK);
        while (step_block_next(block, &view) == STEP_STATUS_OK)
            count_record(&binding, &view, &counts);
    }
    step_block_destroy(block);
    step_java_trace_unbind(&binding);
    return counts;
}

static void check_counts(const struct counts *counts)
{
    CU_ASSERT_EQUAL(counts->by_record[STEP_JAVA_VM_START], 1);
    CU_ASSERT_EQUAL(counts->by_record[STEP_JAVA_VM_INIT], 1);
    CU_ASSERT_EQUAL(counts->by_record[STEP_JAVA_CLASS_LOAD], 1);
    CU_ASSERT_EQUAL(counts->by_record[STEP_JAVA_THREAD_START], 1);
    CU_ASSERT_EQUAL(counts->by_record[STEP_JAVA_OBJECT_ALLOC], ALLOCATIONS);
    CU_ASSERT_EQUAL(counts->by_record[STEP_JAVA_OBJECT_FREE], FREES);
    CU_ASSERT_EQUAL(counts->disorder, 0);
    CU_ASSERT_TRUE(counts->last_free_time >= 5000);
}

static void write_trace_file(const struct step_buffer *bytes)
{
    int descriptor = open(trace_path, O_WRONLY | O_TRUNC);
    CU_ASSERT_EQUAL(write(descriptor, bytes->data, bytes->length), (ssize_t) bytes->length);
    close(descriptor);
}

/* The trace has nothing but its header: everything comes from the live file. */
static void test_recover_all(void)
{
    struct step_buffer bytes = {0};
    struct step_writer *writer = create_writer(&bytes);
    step_writer_flush(writer);
    step_writer_destroy(writer);
    write_trace_file(&bytes);
    step_buffer_reset(&bytes);
    write_live_file(0);
    struct step_reader *reader = NULL;
    CU_ASSERT_EQUAL_FATAL(step_reader_open(trace_path, &reader, NULL), STEP_STATUS_OK);
    CU_ASSERT_FALSE(step_reader_is_whole(reader));
    CU_ASSERT_EQUAL(step_reader_recovered_count(reader), 4 + ALLOCATIONS + FREES);
    CU_ASSERT_EQUAL(step_reader_dictionary_count(reader, STEP_JAVA_CLASS), 1);
    struct counts counts = count_records(reader);
    check_counts(&counts);
    step_reader_destroy(reader);
    unlink(live_path);
}

/* Threads wrote events after the JVM's death, for which nobody waited. */
static void test_recover_after_death(void)
{
    struct step_buffer bytes = {0};
    struct step_writer *writer = create_writer(&bytes);
    write_live_file(20 + ALLOCATIONS / 2); /* allocation number i is at 20 + i */
    CU_ASSERT_EQUAL(step_live_recover(live_path, writer, NULL, NULL), STEP_STATUS_OK);
    step_writer_flush(writer);
    step_writer_destroy(writer);
    unlink(live_path);
    write_trace_file(&bytes);
    step_buffer_reset(&bytes);
    struct step_reader *reader = NULL;
    CU_ASSERT_EQUAL_FATAL(step_reader_open(trace_path, &reader, NULL), STEP_STATUS_OK);
    struct counts counts = count_records(reader);
    CU_ASSERT_EQUAL(counts.by_record[STEP_JAVA_VM_DEATH], 1);
    CU_ASSERT_EQUAL(counts.by_record[STEP_JAVA_OBJECT_ALLOC], ALLOCATIONS / 2 + 1);
    step_reader_destroy(reader);
}

/* Part of what the live file holds is in the trace already: it must not come twice. */
static void test_recover_rest(void)
{
    struct step_buffer bytes = {0};
    struct step_writer *writer = create_writer(&bytes);
    write_live_file(0);
    CU_ASSERT_EQUAL(step_live_recover(live_path, writer, NULL, NULL), STEP_STATUS_OK);
    step_writer_flush(writer);
    step_writer_destroy(writer);
    write_trace_file(&bytes);
    step_buffer_reset(&bytes);
    struct step_reader *reader = NULL;
    CU_ASSERT_EQUAL_FATAL(step_reader_open(trace_path, &reader, NULL), STEP_STATUS_OK);
    CU_ASSERT_EQUAL(step_reader_recovered_count(reader), 0);
    struct counts counts = count_records(reader);
    check_counts(&counts);
    step_reader_destroy(reader);
    unlink(live_path);
}

/* The process died when a part of a batch of frees was written: the batch is sorted again, and what
 * is there already is passed over.  Until all of it is written none of its chunks may go. */
static void test_recover_part_of_batch(void)
{
    enum { BLOCK = 100, WRITTEN = FREES / BLOCK * BLOCK - BLOCK };
    struct step_buffer bytes = {0};
    struct step_writer_options options;
    struct step_writer *writer = NULL;
    static uint64_t words[FREES + 1];
    size_t consumed = 0;
    step_writer_options_init(&options);
    options.definition = &step_java_trace_definition;
    options.output = step_memory_output(&bytes);
    options.block_records = BLOCK;
    CU_ASSERT_EQUAL_FATAL(step_writer_create(&options, &writer, NULL), STEP_STATUS_OK);
    struct step_live_header clock = {.clock_multiplier = 1, .resolution_ns = 1};
    struct live_decoder *decoder = live_decoder_create(&clock, writer);
    CU_ASSERT_PTR_NOT_NULL_FATAL(decoder);
    for (uint64_t i = 0; i < FREES; i++)
        words[i] = live_word(STEP_LIVE_FREE_OBJECT, FREES - i);
    words[FREES] = live_word(STEP_LIVE_FREE_END, 5000);
    CU_ASSERT_EQUAL(live_streams_begin(decoder, STEP_LIVE_STREAM_FREES, 0, 0), STEP_STATUS_OK);
    CU_ASSERT_EQUAL(
        live_decoder_words(decoder, STEP_LIVE_STREAM_FREES, words, FREES + 1, &consumed, NULL),
        STEP_STATUS_OK);
    CU_ASSERT_EQUAL(consumed, FREES + 1);
    CU_ASSERT_EQUAL(live_decoder_settled(decoder, STEP_LIVE_STREAM_FREES, FREES - 1), 0);
    CU_ASSERT_EQUAL(live_decoder_settled(decoder, STEP_LIVE_STREAM_FREES, FREES), FREES);
    live_decoder_destroy(decoder);
    step_writer_destroy(writer);
    write_trace_file(&bytes);
    CU_ASSERT_EQUAL(truncate(trace_path, (off_t) bytes.length - 1), 0); /* the last block is cut */
    step_buffer_reset(&bytes);
    write_live_file(0);
    struct step_reader *reader = NULL;
    CU_ASSERT_EQUAL_FATAL(step_reader_open(trace_path, &reader, NULL), STEP_STATUS_OK);
    CU_ASSERT_EQUAL(step_reader_recovered_count(reader), 4 + ALLOCATIONS + FREES - WRITTEN);
    struct counts counts = count_records(reader);
    check_counts(&counts);
    step_reader_destroy(reader);
    unlink(live_path);
}

/* Any byte of the live file may be damaged: an error or less records, never a crash. */
static void test_damaged(void)
{
    write_live_file(0);
    int descriptor = open(live_path, O_RDWR);
    CU_ASSERT_TRUE_FATAL(descriptor >= 0);
    for (off_t at = 0; at < 4096 + 2048; at += at < 128 || at >= 4096 ? 1 : 64) {
        unsigned char byte, flipped;
        struct step_buffer bytes = {0};
        CU_ASSERT_EQUAL(pread(descriptor, &byte, 1, at), 1);
        flipped = byte ^ 0x41;
        CU_ASSERT_EQUAL(pwrite(descriptor, &flipped, 1, at), 1);
        struct step_writer *writer = create_writer(&bytes);
        step_live_recover(live_path, writer, NULL, NULL);
        step_writer_destroy(writer);
        step_buffer_reset(&bytes);
        CU_ASSERT_EQUAL(pwrite(descriptor, &byte, 1, at), 1);
    }
    close(descriptor);
    unlink(live_path);
}

/* Allocations with a call stack, from frames of a dictionary, until the stack is set to none. */
static void test_stacks(void)
{
    uint64_t words[64] = {0}, *at = words;
    const uint64_t class[] = {live_word(STEP_LIVE_DEFINE_CLASS, 1), 0, 1, 'A'};
    const uint64_t method[] = {live_word(STEP_LIVE_DEFINE_METHOD, 1), 1, 0, 1 | UINT64_C(1) << 32,
                               'm' | 'V' << 8};
    const uint64_t rest[] = {live_word(STEP_LIVE_DEFINE_FRAME, 1),
                             UINT64_C(1) << 32,
                             17,
                             live_word(STEP_LIVE_DEFINE_FRAME, 2),
                             1 | UINT64_C(1) << 32,
                             UINT64_C(5) << 32,
                             live_word(STEP_LIVE_STACK, 2),
                             live_word(STEP_LIVE_ALLOC, 20),
                             1 | UINT64_C(2) << 32,
                             7,
                             live_word(STEP_LIVE_ALLOC_NEXT, 21),
                             1 | UINT64_C(2) << 32,
                             live_word(STEP_LIVE_STACK, 0),
                             live_word(STEP_LIVE_ALLOC_NEXT, 22),
                             1 | UINT64_C(2) << 32};
    at = (uint64_t *) memcpy(at, class, sizeof class) + 4;
    at = (uint64_t *) memcpy(at, method, sizeof method) + 5;
    memcpy(at, rest, sizeof rest);
    struct step_live_header clock = {.clock_multiplier = 1, .resolution_ns = 1};
    struct step_buffer bytes = {0};
    struct step_writer *writer = create_writer(&bytes);
    struct live_decoder *decoder = live_decoder_create(&clock, writer);
    size_t consumed, count = 9 + sizeof rest / sizeof rest[0];
    CU_ASSERT_PTR_NOT_NULL_FATAL(decoder);
    CU_ASSERT_EQUAL(live_streams_begin(decoder, 2, 0, 0), STEP_STATUS_OK);
    CU_ASSERT_EQUAL(live_decoder_words(decoder, 2, words, count, &consumed, NULL), STEP_STATUS_OK);
    CU_ASSERT_EQUAL(consumed, count);
    CU_ASSERT_EQUAL(live_streams_next_record(decoder, 2), 3);
    live_decoder_destroy(decoder);
    CU_ASSERT_EQUAL(step_writer_close(writer, NULL), STEP_STATUS_OK);
    step_writer_destroy(writer);
    struct step_reader *reader = NULL;
    struct step_java_trace_binding binding;
    struct step_java_frame frame;
    CU_ASSERT_EQUAL_FATAL(
        step_reader_open_memory(bytes.data, bytes.length, "stacks", &reader, NULL), STEP_STATUS_OK);
    struct counts counts = count_records(reader);
    CU_ASSERT_EQUAL(counts.by_record[STEP_JAVA_OBJECT_ALLOC_AT], 2);
    CU_ASSERT_EQUAL(counts.by_record[STEP_JAVA_OBJECT_ALLOC], 1);
    CU_ASSERT_EQUAL_FATAL(
        step_java_trace_bind(step_reader_borrow_definition(reader), &binding, NULL),
        STEP_STATUS_OK);
    CU_ASSERT_TRUE(step_java_frame_look_up(&binding, reader, 2, &frame));
    CU_ASSERT(frame.parent == 1 && frame.method == 1 && frame.line == 0 && frame.bytecode == 5);
    step_java_trace_unbind(&binding);
    step_reader_destroy(reader);
    step_buffer_reset(&bytes);
}

/* engine=sampled: samples with an interval of their own between others, and objects that were given
 * up between batches of frees. */
static void test_samples(void)
{
    const uint64_t thread[] = {live_word(STEP_LIVE_ALLOC, 20),
                               1 | UINT64_C(2) << 32,
                               7,
                               live_word(STEP_LIVE_FACT, 21),
                               STEP_LIVE_SAMPLED,
                               24,
                               1 | UINT64_C(3) << 32,
                               8,
                               4096,
                               live_word(STEP_LIVE_ALLOC, 22),
                               1 | UINT64_C(2) << 32,
                               9};
    const uint64_t frees[] = {live_word(STEP_LIVE_FREE_OBJECT, 7),
                              live_word(STEP_LIVE_FREE_END, 30),
                              live_word(STEP_LIVE_FACT, 31),
                              STEP_LIVE_GIVEN_UP,
                              16,
                              8,
                              UINT64_C(1) << 52,
                              live_word(STEP_LIVE_FREE_OBJECT, 9),
                              live_word(STEP_LIVE_FREE_END, 32)};
    const uint64_t class[] = {live_word(STEP_LIVE_DEFINE_CLASS, 1), 0, 1, 'A'};
    struct step_live_header clock = {.clock_multiplier = 1, .resolution_ns = 1};
    struct step_buffer bytes = {0};
    struct step_writer *writer = create_writer(&bytes);
    struct live_decoder *decoder = live_decoder_create(&clock, writer);
    size_t consumed;
    CU_ASSERT_PTR_NOT_NULL_FATAL(decoder);
    live_streams_begin(decoder, STEP_LIVE_STREAM_GLOBAL, 0, 0);
    CU_ASSERT_EQUAL(live_decoder_words(decoder, STEP_LIVE_STREAM_GLOBAL, class, 4, &consumed, NULL),
                    STEP_STATUS_OK);
    live_streams_begin(decoder, 2, 0, 0);
    CU_ASSERT_EQUAL(live_decoder_words(decoder, 2, thread, 12, &consumed, NULL), STEP_STATUS_OK);
    CU_ASSERT_EQUAL(consumed, 12);
    CU_ASSERT_EQUAL(live_streams_next_record(decoder, 2), 3);
    live_streams_begin(decoder, STEP_LIVE_STREAM_FREES, 0, 0);
    CU_ASSERT_EQUAL(live_decoder_words(decoder, STEP_LIVE_STREAM_FREES, frees, 9, &consumed, NULL),
                    STEP_STATUS_OK);
    CU_ASSERT_EQUAL(live_decoder_settled(decoder, STEP_LIVE_STREAM_FREES, 2), 2);
    CU_ASSERT_EQUAL(live_decoder_words(decoder, 2, frees + 2, 5, &consumed, NULL),
                    STEP_STATUS_CORRUPT); /* in another stream */
    live_decoder_destroy(decoder);
    CU_ASSERT_EQUAL(step_writer_close(writer, NULL), STEP_STATUS_OK);
    step_writer_destroy(writer);
    struct step_reader *reader = NULL;
    CU_ASSERT_EQUAL_FATAL(
        step_reader_open_memory(bytes.data, bytes.length, "samples", &reader, NULL),
        STEP_STATUS_OK);
    struct counts counts = count_records(reader);
    CU_ASSERT_EQUAL(counts.by_record[STEP_JAVA_OBJECT_ALLOC], 2);
    CU_ASSERT_EQUAL(counts.by_record[STEP_JAVA_OBJECT_SAMPLED], 1);
    CU_ASSERT_EQUAL(counts.by_record[STEP_JAVA_OBJECT_GIVEN_UP], 1);
    CU_ASSERT_EQUAL(counts.by_record[STEP_JAVA_OBJECT_FREE], 2);
    step_reader_destroy(reader);
    step_buffer_reset(&bytes);
}

/* Runs that touch, of one object, of the most, of objects of an earlier file. */
static void test_runs_of_frees(void)
{
    const uint64_t words[] = {freed(5000, STEP_LIVE_FREED_MOST),
                              freed(STEP_LIVE_IS_EARLIER | 7, 3),
                              freed(4998, 2),
                              freed(1, 1),
                              freed(STEP_LIVE_IS_EARLIER | 2, 1),
                              freed(2, 4996),
                              freed(5000 + STEP_LIVE_FREED_MOST, 700),
                              live_word(STEP_LIVE_FREE_END, 30)};
    enum { OWN = 1024 + 2 + 1 + 700, EARLIER = 4 };
    struct step_live_header clock = {.clock_multiplier = 1, .resolution_ns = 1};
    struct step_buffer bytes = {0};
    struct step_writer *writer = create_writer(&bytes);
    struct live_decoder *decoder = live_decoder_create(&clock, writer);
    size_t consumed;
    CU_ASSERT_PTR_NOT_NULL_FATAL(decoder);
    live_streams_begin(decoder, STEP_LIVE_STREAM_FREES, 0, 0);
    CU_ASSERT_EQUAL(live_decoder_words(decoder, STEP_LIVE_STREAM_FREES, words, 8, &consumed, NULL),
                    STEP_STATUS_OK);
    uint64_t filled = step_live_freed_count(words[5] >> STEP_LIVE_KIND_BITS);
    CU_ASSERT_EQUAL(live_streams_next_record(decoder, STEP_LIVE_STREAM_FREES),
                    OWN + EARLIER + filled);
    live_decoder_destroy(decoder);
    CU_ASSERT_EQUAL(step_writer_close(writer, NULL), STEP_STATUS_OK);
    step_writer_destroy(writer);
    struct step_reader *reader = NULL;
    CU_ASSERT_EQUAL_FATAL(step_reader_open_memory(bytes.data, bytes.length, "runs", &reader, NULL),
                          STEP_STATUS_OK);
    struct counts counts = count_records(reader);
    CU_ASSERT_EQUAL(counts.by_record[STEP_JAVA_OBJECT_FREE], OWN + filled);
    CU_ASSERT_EQUAL(counts.by_record[STEP_JAVA_OBJECT_FREE_EARLIER], EARLIER);
    CU_ASSERT_EQUAL(counts.last_free_time, 30);
    step_reader_destroy(reader);
    step_buffer_reset(&bytes);
}

static void note_free(void *user, const struct step_live_event *event)
{
    uint64_t *next = user;
    if (event->kind == STEP_LIVE_FREE_OBJECT && event->object <= FREES)
        next[event->object]++;
}

static uint64_t nothing_written(void *user, uint64_t stream)
{
    (void) user;
    return stream == STEP_LIVE_STREAM_FREES ? 5 : 0;
}

static void ignore_entry(void *user, const struct step_live_entry *entry)
{
    (void) user, (void) entry;
}

/* A reader of a running trace gets each object of a run, but for those that are in the trace. */
static void test_peek_at_runs(void)
{
    static uint64_t seen[FREES + 1];
    const struct step_live_look look = {
        .user = seen, .written = nothing_written, .visit = note_free, .define = ignore_entry};
    uint64_t dropped, sum = 0;
    write_live_file(0);
    CU_ASSERT_EQUAL(step_live_peek(live_path, &look, &dropped, NULL), STEP_STATUS_OK);
    for (size_t i = 1; i <= FREES; i++) {
        CU_ASSERT_TRUE(seen[i] <= 1);
        sum += seen[i];
    }
    CU_ASSERT_EQUAL(sum, FREES - 5);
    unlink(live_path);
}

static enum step_status decode(struct step_writer *writer, const uint64_t *words, size_t count)
{
    struct step_live_header clock = {.clock_multiplier = 1, .resolution_ns = 1};
    struct live_decoder *decoder = live_decoder_create(&clock, writer);
    size_t consumed;
    CU_ASSERT_PTR_NOT_NULL_FATAL(decoder);
    live_streams_begin(decoder, STEP_LIVE_STREAM_GLOBAL,
                       step_writer_put_count(writer, STEP_LIVE_STREAM_GLOBAL), 0);
    enum step_status status =
        live_decoder_words(decoder, STEP_LIVE_STREAM_GLOBAL, words, count, &consumed, NULL);
    CU_ASSERT_TRUE(status != STEP_STATUS_OK || consumed == count);
    live_decoder_destroy(decoder);
    return status;
}

static bool text_is(struct step_bytes text, const char *wanted)
{
    return text.length == strlen(wanted) && memcmp(text.data, wanted, text.length) == 0;
}

/* What could not be traced, and what calls came to; lengths that point beyond are refused. */
static void test_facts(void)
{
    uint64_t not_probed[] = {live_word(STEP_LIVE_FACT, 7), STEP_LIVE_NOT_PROBED,  24 + 8, 2,
                             3 | UINT64_C(1) << 32,        3 | UINT64_C(1) << 32, 0};
    const uint64_t count[] = {
        live_word(STEP_LIVE_FACT, 9), STEP_LIVE_METHOD_COUNT, 40, 1, 5, 2, 1000, 300};
    memcpy(&not_probed[6], "a/Bm()Vr", 8);
    struct step_buffer bytes = {0};
    struct step_writer *writer = create_writer(&bytes);
    CU_ASSERT_EQUAL(decode(writer, not_probed, 7), STEP_STATUS_OK);
    uint64_t words[16];
    memcpy(words, count, sizeof count);
    words[2] = 39;
    CU_ASSERT_EQUAL(decode(writer, words, 8), STEP_STATUS_CORRUPT);
    memcpy(words, not_probed, sizeof not_probed);
    words[4]++;
    CU_ASSERT_EQUAL(decode(writer, words, 7), STEP_STATUS_CORRUPT);
    words[1] = 99;
    CU_ASSERT_EQUAL(decode(writer, words, 7), STEP_STATUS_CORRUPT);
    CU_ASSERT_EQUAL(decode(writer, count, 8), STEP_STATUS_OK);
    CU_ASSERT_EQUAL(step_writer_close(writer, NULL), STEP_STATUS_OK);
    step_writer_destroy(writer);
    struct step_reader *reader = NULL;
    struct step_java_trace_binding binding;
    struct step_block *block = NULL;
    struct step_record_view view;
    struct step_java_not_probed fact;
    struct step_java_method_count totals;
    CU_ASSERT_EQUAL_FATAL(step_reader_open_memory(bytes.data, bytes.length, "facts", &reader, NULL),
                          STEP_STATUS_OK);
    step_java_trace_bind(step_reader_borrow_definition(reader), &binding, NULL);
    CU_ASSERT_EQUAL_FATAL(step_reader_load(reader, 0, NULL, &block, NULL), STEP_STATUS_OK);
    CU_ASSERT_EQUAL(step_block_next(block, &view), STEP_STATUS_OK);
    CU_ASSERT_TRUE_FATAL(step_java_not_probed_get(&binding, &view, &fact));
    CU_ASSERT(fact.time == 7 && fact.missing == 2 && text_is(fact.class_, "a/B"));
    CU_ASSERT(text_is(fact.method, "m") && text_is(fact.descriptor, "()V"));
    CU_ASSERT(text_is(fact.reason, "r"));
    CU_ASSERT_EQUAL(step_block_next(block, &view), STEP_STATUS_OK);
    CU_ASSERT_TRUE_FATAL(step_java_method_count_get(&binding, &view, &totals));
    CU_ASSERT(totals.time == 9 && totals.method == 1 && totals.calls == 5);
    CU_ASSERT(totals.exceptions == 2 && totals.inclusive == 1000 && totals.exclusive == 300);
    step_block_destroy(block);
    step_java_trace_unbind(&binding);
    step_reader_destroy(reader);
    step_buffer_reset(&bytes);
}

/* A name, and a phase of the program that begins and ends; a record that is cut is refused. */
static void test_phases(void)
{
    const uint64_t depth = UINT64_C(2) << 32;
    uint64_t name[] = {live_word(STEP_LIVE_DEFINE_METHOD, 1), 0, STEP_LIVE_IS_PHASE_NAME, 4, 0};
    uint64_t begin[] = {live_word(STEP_LIVE_FACT, 7), STEP_LIVE_PHASE, STEP_LIVE_PHASE_BYTES, 1,
                        depth | STEP_LIVE_PHASE_OF_PROGRAM};
    uint64_t end[] = {live_word(STEP_LIVE_FACT, 9), STEP_LIVE_PHASE, STEP_LIVE_PHASE_BYTES, 1,
                      depth | STEP_LIVE_PHASE_OF_PROGRAM | STEP_LIVE_PHASE_ENDS};
    struct step_buffer bytes = {0};
    struct step_writer *writer = create_writer(&bytes);
    memcpy(&name[4], "warm", 4);
    CU_ASSERT_EQUAL(decode(writer, name, 5), STEP_STATUS_OK);
    CU_ASSERT_EQUAL(decode(writer, begin, 5), STEP_STATUS_OK);
    begin[2] = STEP_LIVE_PHASE_BYTES - 8;
    CU_ASSERT_EQUAL(decode(writer, begin, 4), STEP_STATUS_CORRUPT);
    CU_ASSERT_EQUAL(decode(writer, end, 5), STEP_STATUS_OK);
    CU_ASSERT_EQUAL(step_writer_close(writer, NULL), STEP_STATUS_OK);
    step_writer_destroy(writer);
    struct step_reader *reader = NULL;
    struct step_java_trace_binding binding;
    struct step_block *block = NULL;
    struct step_record_view view;
    struct step_java_phase_name entry;
    struct step_java_phase_begin begins;
    struct step_java_phase_end ends;
    CU_ASSERT_EQUAL_FATAL(
        step_reader_open_memory(bytes.data, bytes.length, "phases", &reader, NULL), STEP_STATUS_OK);
    step_java_trace_bind(step_reader_borrow_definition(reader), &binding, NULL);
    CU_ASSERT_TRUE_FATAL(step_java_phase_name_look_up(&binding, reader, 1, &entry));
    CU_ASSERT(text_is(entry.name, "warm"));
    CU_ASSERT_EQUAL_FATAL(step_reader_load(reader, 0, NULL, &block, NULL), STEP_STATUS_OK);
    CU_ASSERT_EQUAL(step_block_next(block, &view), STEP_STATUS_OK);
    CU_ASSERT_TRUE_FATAL(step_java_phase_begin_get(&binding, &view, &begins));
    CU_ASSERT(begins.time == 7 && begins.name == 1 && begins.depth == 2 && begins.scope == 1);
    CU_ASSERT_EQUAL(step_block_next(block, &view), STEP_STATUS_OK);
    CU_ASSERT_TRUE_FATAL(step_java_phase_end_get(&binding, &view, &ends));
    CU_ASSERT(ends.time == 9 && ends.name == 1 && ends.depth == 2 && ends.scope == 1);
    step_block_destroy(block);
    step_java_trace_unbind(&binding);
    step_reader_destroy(reader);
    step_buffer_reset(&bytes);
}

/* As long as the writing process lives, the live file is its own. */
static void test_busy(void)
{
    int ready[2], done[2];
    char byte = 0;
    CU_ASSERT_EQUAL_FATAL(pipe(ready), 0);
    CU_ASSERT_EQUAL_FATAL(pipe(done), 0);
    pid_t child = fork();
    if (child == 0) {
        struct live_map *map = live_map_create(live_path, 0, 1 << 20, false, NULL);
        _exit(map == NULL || write(ready[1], "r", 1) != 1 || read(done[0], &byte, 1) != 1);
    }
    CU_ASSERT_EQUAL(read(ready[0], &byte, 1), 1);
    struct step_buffer bytes = {0};
    struct step_writer *writer = create_writer(&bytes);
    struct step_error error;
    CU_ASSERT_EQUAL(step_live_recover(live_path, writer, NULL, &error), STEP_STATUS_BUSY);
    CU_ASSERT_EQUAL(write(done[1], "d", 1), 1);
    int status = 1;
    waitpid(child, &status, 0);
    CU_ASSERT_EQUAL(status, 0);
    CU_ASSERT_EQUAL(step_live_recover(live_path, writer, NULL, &error), STEP_STATUS_OK);
    step_writer_destroy(writer);
    step_buffer_reset(&bytes);
    unlink(live_path);
}

static int make_file(void)
{
    int descriptor = mkstemp(trace_path);
    snprintf(live_path, sizeof live_path, "%s%s", trace_path, STEP_LIVE_SUFFIX);
    return descriptor < 0 || close(descriptor) != 0;
}

static int remove_file(void)
{
    return unlink(trace_path);
}

void add_suite(void)
{
    CU_pSuite suite = CU_add_suite("live", make_file, remove_file);
    CU_add_test(suite, "id sort", test_id_sort);
    CU_add_test(suite, "recover all", test_recover_all);
    CU_add_test(suite, "recover the rest", test_recover_rest);
    CU_add_test(suite, "recover after death", test_recover_after_death);
    CU_add_test(suite, "recover a part of a batch", test_recover_part_of_batch);
    CU_add_test(suite, "damaged", test_damaged);
    CU_add_test(suite, "stacks", test_stacks);
    CU_add_test(suite, "samples", test_samples);
    CU_add_test(suite, "runs of frees", test_runs_of_frees);
    CU_add_test(suite, "peek at runs", test_peek_at_runs);
    CU_add_test(suite, "facts", test_facts);
    CU_add_test(suite, "phases", test_phases);
    CU_add_test(suite, "busy", test_busy);
}
