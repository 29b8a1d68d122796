/* SPDX-License-Identifier: Apache-2.0 */
/* Raw records that come most, among others: each is in the trace as it was written, whether it was
 * taken in a run or by itself. */
#include <CUnit/Basic.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "format/core/bytes.h"
#include "format/io/memory_output.h"
#include "format/live/live_decoder.h"
#include "format/live/live_streams.h"
#include "steptrace/java_trace.h"
#include "steptrace/reader.h"
#include "tests/unit/run_suite.h"

enum { EVENTS = 12000, MOST_SLOTS = 7, STREAM = 2, WORDS = 9 };

/* What the trace must have. */
struct event {
    uint32_t record;
    uint64_t slots[MOST_SLOTS];
};

/* One run of the test: how often, of 100 events, something else comes than short method events. */
struct mix {
    const char *name;
    unsigned allocations, allocations_in_full, methods_in_full, facts, pops, switches;
    uint64_t resolution;
    uint64_t most_past; /* stamps between events */
    unsigned stacks;    /* of 100 events, how often a stack comes before one */
    unsigned paddings;  /* of 100 objects, how many have one */
    unsigned spared;    /* of 100 short method events, how many have no stamp */
};

/* When an event is: SAME has the time of the event before, SPARED has no stamp, and SPREAD had
 * none. */
struct moment {
    enum { STAMPED, SAME, SPARED, SPREAD } kind;
    uint64_t stamp;
    bool is_switched; /* a switch of threads is before it */
};

static uint64_t draw(uint64_t *state)
{
    *state ^= *state << 13, *state ^= *state >> 7, *state ^= *state << 17;
    return *state;
}

/* Where a stream's writer stands.  `stamp` goes on from event to event, whether that has one. */
struct writing {
    const struct mix *mix;
    uint64_t seed;
    uint64_t stamp, chunk_stamp; /* the last, in this chunk; 0: none */
    uint64_t thread, object;
    uint64_t ticks;
    uint64_t stack; /* in this chunk; 0: none */
};

static const struct step_live_header clock_header = {
    .clock_multiplier = (UINT64_C(1) << 31) / 3, .clock_shift = 30, .resolution_ns = 1};

static uint64_t ns_of(uint64_t stamps)
{
    return (uint64_t) ((unsigned __int128) stamps * clock_header.clock_multiplier >>
                       clock_header.clock_shift);
}

static uint64_t tick(struct writing *writing, uint64_t stamp)
{
    uint64_t ticks = ns_of(stamp) / writing->mix->resolution;
    if (ticks > writing->ticks)
        writing->ticks = ticks;
    return writing->ticks;
}

/* Gives the events without a stamp their times, as docs/formats/live.md has them: those from
 * `first`, which is one.  `last` is the stamp before it. */
static void spread(struct moment *moments, size_t first, size_t count, uint64_t last)
{
    uint64_t events = 0, next = last, passed = 0;
    for (size_t i = first; i < count && (i == first || !moments[i].is_switched); i++) {
        events += moments[i].kind == SPARED;
        if (moments[i].kind == STAMPED) {
            next = moments[i].stamp;
            break;
        }
    }
    uint64_t step = ns_of(next - last) > 2000000 ? 0 : (next - last) / (events + 1);
    for (size_t i = first; passed < events; i++)
        if (moments[i].kind == SPARED)
            moments[i] = (struct moment){SPREAD, last + ++passed * step, false};
}

/* Sets the times of a chunk's events. */
static void set_times(struct writing *writing, struct moment *moments, struct event *events,
                      size_t count)
{
    uint64_t last = 0;
    for (size_t i = 0; i < count; i++) {
        if (moments[i].kind == SPARED)
            spread(moments, i, count, last);
        if (moments[i].kind == STAMPED)
            last = moments[i].stamp;
        events[i].slots[0] = tick(writing, moments[i].kind == SAME ? 0 : moments[i].stamp);
    }
}

static uint64_t word(uint32_t kind, uint64_t payload)
{
    return kind | payload << STEP_LIVE_KIND_BITS;
}

/* An allocation as it follows the one before, or in full; the first of a chunk is in full. */
static size_t write_allocation(struct writing *writing, uint64_t *words, struct event *event)
{
    uint64_t class = 1 + draw(&writing->seed) % 50, units = draw(&writing->seed) % 9;
    bool padded = draw(&writing->seed) % 100 < writing->mix->paddings;
    uint64_t padding = padded ? draw(&writing->seed) % 32 : 0;
    bool full =
        writing->object == 0 || draw(&writing->seed) % 100 < writing->mix->allocations_in_full;
    writing->object += full ? 1 + draw(&writing->seed) % 9 : 1;
    words[0] = word(full ? STEP_LIVE_ALLOC : STEP_LIVE_ALLOC_NEXT, writing->stamp);
    words[1] = step_live_alloc_word(class, padding, units * 8);
    words[2] = writing->object;
    *event = (struct event){
        writing->stack != 0 ? STEP_JAVA_OBJECT_ALLOC_AT : STEP_JAVA_OBJECT_ALLOC,
        {0, writing->thread, class, units * 8, writing->object, padding, writing->stack}};
    return full ? 3 : 2;
}

static size_t write_fact(struct writing *writing, uint64_t *words, struct event *event)
{
    words[0] = word(STEP_LIVE_FACT, writing->stamp);
    words[1] = STEP_LIVE_NOT_PROBED;
    words[2] = 24 + 4;
    words[3] = 2;
    words[4] = 1 | UINT64_C(1) << 32;
    words[5] = 1 | UINT64_C(1) << 32;
    memcpy(&words[6], "amdr\0\0\0", 8);
    *event = (struct event){STEP_JAVA_NOT_PROBED, {0, writing->thread}};
    return 7;
}

static size_t write_method(struct writing *writing, uint64_t *words, struct event *event,
                           struct moment *moment)
{
    static const uint32_t kinds[3][3] = {
        {STEP_LIVE_ENTRY_SHORT, STEP_LIVE_ENTRY, STEP_JAVA_METHOD_ENTRY},
        {STEP_LIVE_EXIT_SHORT, STEP_LIVE_EXIT, STEP_JAVA_METHOD_EXIT},
        {STEP_LIVE_FRAME_POP_SHORT, STEP_LIVE_FRAME_POP, STEP_JAVA_FRAME_POP}};
    uint64_t method = 1 + draw(&writing->seed) % 3000;
    bool pops = draw(&writing->seed) % 100 < writing->mix->pops;
    const uint32_t *kind = kinds[pops ? 2 : draw(&writing->seed) % 2];
    bool full =
        writing->chunk_stamp == 0 || draw(&writing->seed) % 100 < writing->mix->methods_in_full;
    uint64_t object = full && kind[1] == STEP_LIVE_ENTRY ? draw(&writing->seed) % 3 : 0;
    uint64_t past = writing->stamp - writing->chunk_stamp;
    if (!full && draw(&writing->seed) % 100 < writing->mix->spared) {
        moment->kind = SPARED;
        past = UINT32_MAX;
    } else if (!full && past == 0) {
        moment->kind = SAME;
    }
    words[0] = full ? word(kind[1], writing->stamp)
                    : word(kind[0], past << STEP_LIVE_METHOD_BITS | method);
    words[1] = method;
    words[2] = object;
    *event = (struct event){kind[2], {0, writing->thread, method, object}};
    return !full ? 1 : kind[1] == STEP_LIVE_ENTRY ? 3 : 2;
}

/* The next event's words. */
static size_t write_event(struct writing *writing, uint64_t *words, struct event *event,
                          struct moment *moment)
{
    const struct mix *mix = writing->mix;
    uint64_t past = draw(&writing->seed) % (mix->most_past + 1);
    unsigned chance = (unsigned) (draw(&writing->seed) % 100);
    size_t length = 0;
    *moment = (struct moment){.kind = STAMPED};
    if (draw(&writing->seed) % 100 < mix->switches) {
        moment->is_switched = true;
        writing->thread = 1 + draw(&writing->seed) % 3;
        words[length++] = word(STEP_LIVE_THREAD_SWITCH, writing->thread);
    }
    if (draw(&writing->seed) % 100 < mix->stacks) {
        writing->stack = draw(&writing->seed) % 5;
        words[length++] = word(STEP_LIVE_STACK, writing->stack);
    }
    writing->stamp += past;
    if (chance < mix->allocations)
        length += write_allocation(writing, words + length, event);
    else if (chance < mix->allocations + mix->facts)
        length += write_fact(writing, words + length, event);
    else
        length += write_method(writing, words + length, event, moment);
    moment->stamp = writing->stamp;
    if (moment->kind == STAMPED)
        writing->chunk_stamp = writing->stamp;
    return length;
}

/* Writes all events in chunks and hands them over in pieces, as they come while they are written;
 * where some have no stamp, as whole chunks, in which the next stamp is found. */
static void write_events(const struct mix *mix, struct step_writer *writer, struct event *events)
{
    struct step_live_header clock = clock_header;
    clock.resolution_ns = (uint32_t) mix->resolution;
    struct live_decoder *decoder = live_decoder_create(&clock, writer);
    CU_ASSERT_PTR_NOT_NULL_FATAL(decoder);
    struct writing writing = {.mix = mix, .seed = 88172645463325252u, .stamp = 1, .thread = 1};
    for (size_t i = 0; i < EVENTS;) {
        static struct moment moments[4096];
        uint64_t words[4096];
        size_t count = 0, taken = 0, first = i;
        writing.chunk_stamp = writing.object = writing.stack = 0;
        CU_ASSERT_EQUAL(live_streams_begin(decoder, STREAM, i, writing.thread), STEP_STATUS_OK);
        while (i < EVENTS && count + 2 * WORDS <= 4096)
            count += write_event(&writing, words + count, &events[i], &moments[i - first]), i++;
        set_times(&writing, moments, events + first, i - first);
        while (taken < count) {
            size_t most = draw(&writing.seed) % (draw(&writing.seed) % 4 == 0 ? 4 : 2000) + WORDS;
            size_t consumed = 0;
            most = most < count - taken && mix->spared == 0 ? most : count - taken;
            CU_ASSERT_EQUAL_FATAL(
                live_decoder_words(decoder, STREAM, words + taken, most, &consumed, NULL),
                STEP_STATUS_OK);
            CU_ASSERT_NOT_EQUAL_FATAL(consumed, 0);
            taken += consumed;
        }
        CU_ASSERT_EQUAL(live_streams_next_record(decoder, STREAM), i);
    }
    CU_ASSERT_EQUAL(live_decoder_finish(decoder, 0), STEP_STATUS_OK);
    live_decoder_destroy(decoder);
}

/* How many records are not as they must be. */
static size_t compare(struct step_reader *reader, const struct event *events)
{
    struct step_block *block = NULL;
    size_t i = 0, wrong = 0;
    for (size_t b = 0; b < step_reader_block_count(reader); b++) {
        const struct step_block_info *info = step_reader_block_info(reader, b);
        struct step_record_view view;
        CU_ASSERT_EQUAL_FATAL(step_reader_load(reader, b, NULL, &block, NULL), STEP_STATUS_OK);
        wrong += i < EVENTS && info->time_min != events[i].slots[0];
        while (step_block_next(block, &view) == STEP_STATUS_OK && i < EVENTS) {
            size_t slots = step_record_slot_count(&step_java_trace_definition, view.record);
            slots = view.record == STEP_JAVA_NOT_PROBED ? 2 : slots;
            wrong += view.record != events[i].record ||
                     memcmp(view.slots, events[i].slots, slots * sizeof view.slots[0]) != 0;
            i++;
        }
        wrong += info->time_max != events[i - 1].slots[0];
    }
    step_block_destroy(block);
    CU_ASSERT_EQUAL(i, EVENTS);
    return wrong;
}

static void test_mix(const struct mix *mix, uint32_t block_records)
{
    static struct event events[EVENTS];
    struct step_buffer bytes = {0};
    struct step_writer_options options;
    struct step_writer *writer = NULL;
    struct step_reader *reader = NULL;
    step_writer_options_init(&options);
    options.definition = &step_java_trace_definition;
    options.output = step_memory_output(&bytes);
    options.block_records = block_records;
    CU_ASSERT_EQUAL_FATAL(step_writer_create(&options, &writer, NULL), STEP_STATUS_OK);
    write_events(mix, writer, events);
    CU_ASSERT_EQUAL(step_writer_close(writer, NULL), STEP_STATUS_OK);
    step_writer_destroy(writer);
    CU_ASSERT_EQUAL_FATAL(
        step_reader_open_memory(bytes.data, bytes.length, mix->name, &reader, NULL),
        STEP_STATUS_OK);
    size_t wrong = compare(reader, events);
    if (wrong != 0)
        printf("%s, blocks of %" PRIu32 ": %zu records differ\n", mix->name, block_records, wrong);
    CU_ASSERT_EQUAL(wrong, 0);
    step_reader_destroy(reader);
    step_buffer_reset(&bytes);
}

static void test_mixes(void)
{
    static const struct mix mixes[] = {
        {"methods", 0, 0, 0, 0, 1, 0, 1000, 60, 0, 0, 0},
        {"methods at 1 ns", 0, 0, 1, 0, 1, 1, 1, 60, 0, 0, 0},
        {"methods at times that are the same", 0, 0, 0, 0, 0, 0, 1000, 0, 0, 0, 0},
        {"allocations", 100, 1, 0, 0, 0, 0, 1000, 300, 0, 0, 0},
        {"both", 20, 5, 5, 0, 1, 1, 1000, 90, 0, 25, 0},
        {"both, at 10 us", 50, 20, 20, 0, 1, 10, 10000, 900, 0, 0, 0},
        {"with facts", 20, 5, 5, 1, 1, 1, 100, 90, 0, 25, 0},
        {"with many facts", 5, 5, 5, 30, 1, 1, 100, 90, 0, 25, 0},
        {"nothing in short", 30, 100, 100, 0, 10, 1, 1000, 90, 0, 25, 0},
        {"allocations with stacks", 100, 1, 0, 0, 0, 1, 1000, 300, 60, 0, 0},
        {"a stack now and then", 100, 1, 0, 0, 0, 1, 1000, 300, 1, 25, 0},
        {"both, with stacks", 50, 5, 5, 1, 1, 1, 1000, 90, 20, 25, 0},
        {"a padding now and then", 100, 1, 0, 0, 0, 1, 1000, 300, 0, 1, 0},
        {"stacks and paddings", 100, 1, 0, 0, 0, 1, 1000, 300, 60, 30, 0},
        {.name = "a stamp for some", .pops = 1, .resolution = 1, .most_past = 60, .spared = 94},
        {.name = "a stamp for some, at 1 us", .resolution = 1000, .most_past = 900, .spared = 94},
        {.name = "a stamp for few", .resolution = 1, .most_past = 60, .spared = 99},
        {.name = "stamps far from each other",
         .resolution = 1,
         .most_past = 300000,
         .spared = 94,
         .switches = 2},
        {"both, a stamp for some", 5, 5, 5, 1, 1, 1, 1, 90, 20, 25, 94},
    };
    static const uint32_t block_records[] = {0, 19, 1000};
    for (size_t i = 0; i < sizeof mixes / sizeof mixes[0]; i++)
        for (size_t k = 0; k < sizeof block_records / sizeof block_records[0]; k++)
            test_mix(&mixes[i], block_records[k]);
}

void add_suite(void)
{
    CU_pSuite suite = CU_add_suite("live runs", NULL, NULL);
    CU_add_test(suite, "mixes", test_mixes);
}
