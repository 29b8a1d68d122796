/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the drain thread costs: raw records of method events, allocations and frees, as the agent's
 * probes write them, through the live decoder and the writer.
 *
 *   bench_drain [-n EVENTS] [-m MOST] [-t TIMES] [-o OUTPUT.step] TRACE.step
 *
 * The events are those of a Java trace: of its blocks so many, evenly spaced, that they come to
 * MOST events, cut into chunks of the live file's size, and, where all are of methods, repeated,
 * with later times, until there are EVENTS.  The time is that of the processor, the best of TIMES
 * runs. With -o the trace is written to a file, so that what came of it can be compared.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "format/live/live_decoder.h"
#include "format/live/live_streams.h"
#include "steptrace/java_trace.h"
#include "steptrace/reader.h"
#include "steptrace/writer.h"
#include "tests/bench/bench.h"

enum {
    CHUNK_WORDS = ((64 << 10) - sizeof(struct step_live_chunk)) / sizeof(uint64_t),
    STAMP_SHIFT = 32,
    STAMPS_A_NS = 3,
    EVENT_STAMPS = 60, /* between events of one tick */
    FULL_WORDS = 4
};

struct settings {
    uint64_t events;
    uint64_t most;
    uint64_t times;
    const char *output;
    const char *path;
};

/* One of a stream; its first record has a time, those after it the time since the one before. */
struct chunk {
    uint64_t stream;
    uint64_t thread;
    uint64_t first; /* its first word */
    uint64_t stack; /* of its latest allocation */
    size_t first_word;
    size_t words;
    size_t events;
};

/* What is replayed.  The times of a repetition are `span` later than those of the one before. */
struct replay {
    struct chunk *chunks;
    size_t chunk_count, chunk_capacity;
    uint64_t *words;
    size_t word_count, word_capacity;
    uint64_t first_ticks, last_ticks, span;
    size_t events;
    uint64_t streams;
    uint64_t resolution, tick; /* the latter in stamps */
    uint64_t last_stamp, last_object, batch_stamp;
    bool has_objects; /* each of their words has a stamp: played once */
};

static const struct {
    enum step_live_kind brief, full;
    size_t slots;
} kinds[] = {
    [STEP_JAVA_METHOD_ENTRY] = {STEP_LIVE_ENTRY_SHORT, STEP_LIVE_ENTRY, 4},
    [STEP_JAVA_METHOD_EXIT] = {STEP_LIVE_EXIT_SHORT, STEP_LIVE_EXIT, 3},
    [STEP_JAVA_FRAME_POP] = {STEP_LIVE_FRAME_POP_SHORT, STEP_LIVE_FRAME_POP, 3},
};

static bool is_method_event(uint32_t record)
{
    return record < sizeof kinds / sizeof kinds[0] && kinds[record].full != 0;
}

static bool is_wanted_event(uint32_t record)
{
    return is_method_event(record) || record == STEP_JAVA_OBJECT_ALLOC ||
           record == STEP_JAVA_OBJECT_ALLOC_AT || record == STEP_JAVA_OBJECT_FREE;
}

static struct chunk *begin_chunk(struct replay *replay, uint64_t stream, uint64_t thread)
{
    if (replay->chunk_count == replay->chunk_capacity) {
        replay->chunk_capacity = replay->chunk_capacity * 2 + 64;
        replay->chunks =
            must(realloc(replay->chunks, replay->chunk_capacity * sizeof *replay->chunks));
    }
    struct chunk *chunk = &replay->chunks[replay->chunk_count++];
    *chunk = (struct chunk){.stream = stream, .thread = thread, .first_word = replay->word_count};
    if (stream >= replay->streams)
        replay->streams = stream + 1;
    return chunk;
}

/* Room for one more event in the stream's last chunk, if that is the one at hand. */
static uint64_t *room(struct replay *replay, uint64_t stream, uint64_t thread, uint64_t stamp,
                      struct chunk **chunk)
{
    *chunk = replay->chunk_count != 0 ? &replay->chunks[replay->chunk_count - 1] : NULL;
    if (*chunk == NULL || (*chunk)->stream != stream || (*chunk)->thread != thread ||
        (*chunk)->words + FULL_WORDS > CHUNK_WORDS || stamp < replay->last_stamp)
        *chunk = begin_chunk(replay, stream, thread);
    if (replay->word_count + FULL_WORDS > replay->word_capacity) {
        replay->word_capacity = replay->word_capacity * 2 + CHUNK_WORDS;
        replay->words = must(realloc(replay->words, replay->word_capacity * sizeof(uint64_t)));
    }
    return replay->words + replay->word_count;
}

static size_t method_words(const struct replay *replay, const struct chunk *chunk, uint32_t record,
                           const uint64_t *slots, uint64_t stamp, uint64_t *words)
{
    uint64_t object = record == STEP_JAVA_METHOD_ENTRY ? slots[3] : 0;
    uint64_t past = stamp - replay->last_stamp;
    if (chunk->events == 0 || object != 0 || past >> STEP_LIVE_PAST_BITS != 0) {
        words[0] = (uint64_t) kinds[record].full | stamp << STEP_LIVE_KIND_BITS;
        words[1] = slots[2];
        words[2] = object;
        return record == STEP_JAVA_METHOD_ENTRY ? 3 : 2;
    }
    words[0] = (uint64_t) kinds[record].brief | (past << STEP_LIVE_METHOD_BITS | slots[2])
                                                    << STEP_LIVE_KIND_BITS;
    return 1;
}

/* A stack comes after a chunk's first event, so that this one's word is the chunk's first. */
static size_t alloc_words(struct replay *replay, struct chunk *chunk, const uint64_t *slots,
                          uint64_t stamp, uint64_t *words)
{
    size_t length = 0;
    bool next = chunk->events != 0 && slots[4] == replay->last_object + 1;
    replay->last_object = slots[4];
    if (chunk->events != 0 && slots[6] != chunk->stack) {
        chunk->stack = slots[6];
        words[length++] = (uint64_t) STEP_LIVE_STACK | slots[6] << STEP_LIVE_KIND_BITS;
    }
    words[length++] =
        (uint64_t) (next ? STEP_LIVE_ALLOC_NEXT : STEP_LIVE_ALLOC) | stamp << STEP_LIVE_KIND_BITS;
    words[length++] = slots[2] | slots[3] / 8 << 32;
    if (!next)
        words[length++] = slots[4];
    return length;
}

/* The first free of another time comes after the end of the batch before. */
static size_t free_words(struct replay *replay, const uint64_t *slots, uint64_t stamp,
                         uint64_t *words)
{
    size_t length = 0;
    if (replay->batch_stamp != 0 && replay->batch_stamp / replay->tick != stamp / replay->tick)
        words[length++] = (uint64_t) STEP_LIVE_FREE_END | replay->batch_stamp
                                                              << STEP_LIVE_KIND_BITS;
    replay->batch_stamp = stamp;
    words[length++] = (uint64_t) STEP_LIVE_FREE_OBJECT | slots[2] << STEP_LIVE_KIND_BITS;
    return length;
}

/* Appends the event. */
static void add(struct replay *replay, uint64_t stream, uint32_t record, const uint64_t *slots,
                uint64_t stamp)
{
    struct chunk *chunk;
    uint64_t *words = room(replay, stream, slots[1], stamp, &chunk);
    size_t length =
        is_method_event(record)           ? method_words(replay, chunk, record, slots, stamp, words)
        : record == STEP_JAVA_OBJECT_FREE ? free_words(replay, slots, stamp, words)
                                          : alloc_words(replay, chunk, slots, stamp, words);
    replay->has_objects = replay->has_objects || !is_method_event(record);
    if (chunk->events == 0)
        chunk->first = words[0];
    replay->word_count += length;
    replay->last_stamp = stamp;
    chunk->words += length;
    chunk->events++;
    replay->events++;
}

/* Takes a block's events.  Those of one tick are spread over it. */
static void take_block(struct replay *replay, struct step_block *block, uint64_t stream)
{
    struct step_record_view view;
    enum { SLOTS = 7 };
    uint64_t ticks = UINT64_MAX, within = 0, tick = replay->tick;
    replay->last_object = 0;
    while (step_block_next(block, &view) == STEP_STATUS_OK) {
        uint64_t slots[SLOTS] = {0};
        if (!is_wanted_event(view.record))
            continue;
        size_t count = is_method_event(view.record)               ? kinds[view.record].slots
                       : view.record == STEP_JAVA_OBJECT_FREE     ? 3
                       : view.record == STEP_JAVA_OBJECT_ALLOC_AT ? SLOTS
                                                                  : SLOTS - 1;
        memcpy(slots, view.slots, count * sizeof slots[0]);
        within = slots[0] == ticks ? within + EVENT_STAMPS : 1;
        if (within >= tick)
            within = tick - 1;
        ticks = slots[0];
        if (replay->events == 0 || ticks < replay->first_ticks)
            replay->first_ticks = ticks;
        if (ticks > replay->last_ticks)
            replay->last_ticks = ticks;
        add(replay, stream, view.record, slots, ticks * tick + within);
    }
}

/* Blocks of threads, and those of frees. */
static bool is_wanted(const struct step_reader *reader, size_t i)
{
    return step_reader_block_info(reader, i)->stream >= STEP_LIVE_STREAM_FREES;
}

static void load(struct replay *replay, struct step_reader *reader, const struct settings *settings)
{
    struct step_block *block = NULL;
    struct step_error error;
    uint64_t all = 0, taken = 0;
    const char *resolution = step_reader_property(reader, "resolution-ns");
    replay->resolution = resolution != NULL ? strtoull(resolution, NULL, 10) : 1000;
    replay->tick = replay->resolution * STAMPS_A_NS;
    for (size_t i = 0; i < step_reader_block_count(reader); i++)
        all += is_wanted(reader, i) ? step_reader_block_info(reader, i)->record_count : 0;
    uint64_t passed = 0;
    for (size_t i = 0; i < step_reader_block_count(reader); i++) {
        if (!is_wanted(reader, i))
            continue;
        const struct step_block_info *info = step_reader_block_info(reader, i);
        passed += info->record_count;
        if ((double) passed / (double) all * (double) settings->most < (double) taken)
            continue;
        taken += info->record_count;
        check(step_reader_load(reader, i, NULL, &block, &error), &error);
        take_block(replay, block, info->stream);
    }
    step_block_destroy(block);
    replay->span = replay->last_ticks + 1 - replay->first_ticks;
    if (replay->events == 0) {
        fputs("bench_drain: the trace has no such events\n", stderr);
        exit(1);
    }
}

/* What the events name. */
static void define(struct step_writer *writer, const struct step_reader *reader)
{
    const struct step_definition *definition = step_reader_borrow_definition(reader);
    for (uint32_t record = 0; record < definition->record_count; record++)
        for (uint64_t id = 1; id <= step_reader_dictionary_count(reader, record); id++) {
            const uint64_t *slots = step_reader_dictionary_entry(reader, record, id);
            if (slots != NULL)
                step_writer_define(writer, record, slots, NULL);
        }
}

static enum step_status count_bytes(void *user, const void *data, size_t length,
                                    struct step_error *error)
{
    (void) data;
    (void) error;
    *(uint64_t *) user += length;
    return STEP_STATUS_OK;
}

static struct step_writer *make_writer(const struct settings *settings,
                                       const struct step_reader *reader, uint64_t *bytes)
{
    struct step_writer_options options;
    struct step_writer *writer;
    struct step_error error;
    step_writer_options_init(&options);
    options.definition = step_reader_borrow_definition(reader);
    options.output = (struct step_output){bytes, count_bytes};
    if (settings->output != NULL)
        check(step_writer_open(settings->output, &options, &writer, &error), &error);
    else
        check(step_writer_create(&options, &writer, &error), &error);
    for (size_t i = 0; settings->output != NULL && i < step_reader_property_count(reader); i++)
        step_writer_property(writer, step_reader_property_key(reader, i),
                             step_reader_property_value(reader, i));
    define(writer, reader);
    return writer;
}

/* All chunks once more. */
static uint64_t pass(const struct replay *replay, struct live_decoder *decoder,
                     uint64_t *next_records, uint64_t later, uint64_t most)
{
    uint64_t events = 0;
    for (size_t i = 0; i < replay->chunk_count && events < most; i++) {
        const struct chunk *chunk = &replay->chunks[i];
        uint64_t *words = replay->words + chunk->first_word;
        struct step_error error;
        size_t consumed;
        words[0] = chunk->first + (later << STEP_LIVE_KIND_BITS);
        check(
            live_streams_begin(decoder, chunk->stream, next_records[chunk->stream], chunk->thread),
            NULL);
        check(live_decoder_words(decoder, chunk->stream, words, chunk->words, &consumed, &error),
              &error);
        next_records[chunk->stream] += chunk->events;
        events += chunk->events;
    }
    return events;
}

/* Seconds for all events. */
static double drain(const struct replay *replay, const struct settings *settings,
                    const struct step_reader *reader, uint64_t *bytes)
{
    struct step_live_header clock = {
        .clock_multiplier = ((UINT64_C(1) << STAMP_SHIFT) + STAMPS_A_NS - 1) / STAMPS_A_NS,
        .clock_shift = STAMP_SHIFT,
        .resolution_ns = (uint32_t) replay->resolution};
    struct step_error error;
    uint64_t *next_records = must(calloc((size_t) replay->streams, sizeof *next_records));
    *bytes = 0;
    struct step_writer *writer = make_writer(settings, reader, bytes);
    struct live_decoder *decoder = must(live_decoder_create(&clock, writer));
    uint64_t events = 0, span = replay->span * replay->resolution * STAMPS_A_NS;
    double start = now();
    for (uint64_t i = 0; events < settings->events; i++)
        events += pass(replay, decoder, next_records, i * span, settings->events - events);
    check(live_decoder_finish(decoder, 0), NULL);
    check(step_writer_close(writer, &error), &error);
    double took = now() - start;
    if (settings->output != NULL)
        *bytes = step_writer_size(writer);
    live_decoder_destroy(decoder);
    step_writer_destroy(writer);
    free(next_records);
    return took;
}

static struct settings read_settings(int argc, char **argv)
{
    struct settings settings = {50000000, 8000000, 1, NULL, NULL};
    int option;
    while ((option = getopt(argc, argv, "n:m:t:o:")) != -1) {
        if (option == 'n')
            settings.events = strtoull(optarg, NULL, 10);
        else if (option == 'm')
            settings.most = strtoull(optarg, NULL, 10);
        else if (option == 't')
            settings.times = strtoull(optarg, NULL, 10);
        else if (option == 'o')
            settings.output = optarg;
        else
            exit(2);
    }
    if (optind + 1 != argc) {
        fputs("usage: bench_drain [-n EVENTS] [-m MOST] [-t TIMES] [-o OUTPUT.step] TRACE.step\n",
              stderr);
        exit(2);
    }
    settings.path = argv[optind];
    return settings;
}

int main(int argc, char **argv)
{
    struct settings settings = read_settings(argc, argv);
    struct replay replay = {0};
    struct step_reader *reader = NULL;
    struct step_error error;
    check(step_reader_open(settings.path, &reader, &error), &error);
    load(&replay, reader, &settings);
    printf("%zu events in %zu chunks of %" PRIu64 " streams, %zu words\n", replay.events,
           replay.chunk_count, replay.streams, replay.word_count);
    if (replay.has_objects)
        settings.events = replay.events;
    double best = 1e9;
    uint64_t bytes = 0;
    for (uint64_t i = 0; i < settings.times; i++) {
        double took = drain(&replay, &settings, reader, &bytes);
        best = took < best ? took : best;
    }
    printf("%.2f ns an event, %.4f bytes an event\n", best * 1e9 / (double) settings.events,
           (double) bytes / (double) settings.events);
    free(replay.chunks);
    free(replay.words);
    step_reader_destroy(reader);
    return 0;
}
