/* SPDX-License-Identifier: Apache-2.0 */
/* Raw heap records to STEP records: one row of a table for each raw kind. */
#include "format/live/live_allocs.h"

#include <stdlib.h>

#include "format/live/live_call_texts.h"
#include "format/live/live_streams.h"
#include "steptrace/hatf_trace.h"

#define FRAME_WORDS 3u

struct live_allocs_decoder {
    struct step_live_header clock;
    struct step_writer *writer;
    struct live_streams streams;
    struct live_call_texts texts;
    bool has_end;
    uint64_t end;
};

/* What a row's function gets: the raw record, whole. */
struct allocs_raw {
    struct live_allocs_decoder *decoder;
    struct step_writer *writer;
    uint64_t stream;
    uint64_t thread;
    uint64_t heap;
    uint64_t frame;
    uint64_t ticks;
    const uint64_t *words;
};

struct live_allocs_decoder *live_allocs_decoder_create(const struct step_live_header *clock,
                                                       struct step_writer *writer)
{
    struct live_allocs_decoder *decoder = calloc(1, sizeof *decoder);
    if (decoder == NULL)
        return NULL;
    decoder->clock = live_clock(clock);
    decoder->writer = writer;
    return decoder;
}

void live_allocs_decoder_destroy(struct live_allocs_decoder *decoder)
{
    if (decoder == NULL)
        return;
    live_streams_reset(&decoder->streams);
    live_call_texts_reset(&decoder->texts);
    free(decoder);
}

void live_allocs_decoder_set_describe(struct live_allocs_decoder *decoder,
                                      live_allocs_describe describe, void *user)
{
    decoder->texts.describe = describe;
    decoder->texts.user = user;
}

enum step_status live_allocs_decoder_begin(struct live_allocs_decoder *decoder, uint64_t stream,
                                           uint64_t first_record, uint64_t thread)
{
    struct stream_state *state = live_streams_at(&decoder->streams, decoder->writer, stream);
    if (state == NULL)
        return STEP_STATUS_LIMIT;
    state->next_record = first_record;
    state->thread = thread;
    state->stack = 0;
    return STEP_STATUS_OK;
}

uint64_t live_allocs_decoder_latest(const struct live_allocs_decoder *decoder)
{
    return live_streams_latest(&decoder->streams);
}

void live_allocs_decoder_end_at(struct live_allocs_decoder *decoder, uint64_t time)
{
    decoder->end = time;
    decoder->has_end = true;
}

uint64_t live_allocs_decoder_next_record(const struct live_allocs_decoder *decoder, uint64_t stream)
{
    return live_streams_next_record(&decoder->streams, stream);
}

static uint64_t low_bits(uint64_t word, unsigned count)
{
    return word & ((UINT64_C(1) << count) - 1);
}

static uint32_t kind_of(const uint64_t *words)
{
    return (uint32_t) low_bits(words[0], STEP_LIVE_KIND_BITS);
}

static uint64_t size_in(uint64_t word)
{
    return low_bits(word, STEP_LIVE_HEAP_ALIGNMENT_SHIFT);
}

static enum step_status put_thread(const struct allocs_raw *raw, uint32_t record)
{
    const uint64_t slots[] = {raw->ticks, raw->words[1], 0};
    return step_writer_put(raw->writer, raw->stream, record, slots);
}

static enum step_status take_thread_create(const struct allocs_raw *raw)
{
    return put_thread(raw, STEP_HEAP_THREAD_CREATE);
}

static enum step_status take_thread_destroy(const struct allocs_raw *raw)
{
    return put_thread(raw, STEP_HEAP_THREAD_DESTROY);
}

static enum step_status put_heap(const struct allocs_raw *raw, uint32_t record)
{
    const uint64_t slots[] = {raw->ticks, raw->thread, 0, raw->words[1]};
    return step_writer_put(raw->writer, raw->stream, record, slots);
}

static enum step_status take_heap_create(const struct allocs_raw *raw)
{
    return put_heap(raw, STEP_HEAP_HEAP_CREATE);
}

static enum step_status take_heap_destroy(const struct allocs_raw *raw)
{
    return put_heap(raw, STEP_HEAP_HEAP_DESTROY);
}

static enum step_status take_alloc(const struct allocs_raw *raw)
{
    const struct step_heap_alloc event = {
        .time = raw->ticks,
        .thread = raw->thread,
        .attributes =
            live_call_texts_entry(&raw->decoder->texts, raw->writer, raw->words[1], raw->frame),
        .heap = raw->heap,
        .size = size_in(raw->words[1]),
        .address = raw->words[2]};
    return step_heap_alloc_put(raw->writer, raw->stream, &event);
}

static enum step_status take_free(const struct allocs_raw *raw)
{
    uint64_t call = raw->words[1] >> STEP_LIVE_HEAP_CALL_SHIFT << STEP_LIVE_HEAP_CALL_SHIFT;
    const struct step_heap_free event = {
        .time = raw->ticks,
        .thread = raw->thread,
        .attributes = live_call_texts_entry(&raw->decoder->texts, raw->writer, call, 0),
        .heap = raw->heap,
        .address = low_bits(raw->words[1], STEP_LIVE_HEAP_CALL_SHIFT)};
    return step_heap_free_put(raw->writer, raw->stream, &event);
}

/* Its outcome shows in the two addresses. */
static enum step_status take_realloc(const struct allocs_raw *raw)
{
    uint64_t old_address = raw->words[2], new_address = raw->words[3];
    uint32_t record = old_address == 0             ? STEP_HEAP_REALLOC_ALLOC
                      : new_address == 0           ? STEP_HEAP_REALLOC_FREE
                      : old_address == new_address ? STEP_HEAP_REALLOC_IN_PLACE
                                                   : STEP_HEAP_REALLOC_MOVE;
    const uint64_t slots[] = {
        raw->ticks,
        raw->thread,
        live_call_texts_entry(&raw->decoder->texts, raw->writer, raw->words[1], raw->frame),
        raw->heap,
        size_in(raw->words[1]),
        old_address,
        new_address};
    return step_writer_put(raw->writer, raw->stream, record, slots);
}

static const struct {
    uint32_t words;
    enum step_status (*take)(const struct allocs_raw *raw);
} rows[STEP_LIVE_HEAP_KIND_COUNT] = {
    [STEP_LIVE_HEAP_THREAD_CREATE] = {2, take_thread_create},
    [STEP_LIVE_HEAP_THREAD_DESTROY] = {2, take_thread_destroy},
    [STEP_LIVE_HEAP_ALLOC] = {3, take_alloc},
    [STEP_LIVE_HEAP_FREE] = {2, take_free},
    [STEP_LIVE_HEAP_REALLOC] = {4, take_realloc},
    [STEP_LIVE_HEAP_CREATE] = {2, take_heap_create},
    [STEP_LIVE_HEAP_DESTROY] = {2, take_heap_destroy},
};

/* Its own records stand behind it, the allocation last, in one chunk. */
static bool ends_too_late(const struct live_allocs_decoder *decoder, const uint64_t *words,
                          size_t count)
{
    const uint64_t *own = words + rows[STEP_LIVE_HEAP_REALLOC].words;
    size_t before =
        rows[STEP_LIVE_HEAP_REALLOC].words + (words[2] != 0 ? rows[STEP_LIVE_HEAP_FREE].words : 0);
    if (words[2] != 0)
        own += rows[STEP_LIVE_HEAP_FREE].words;
    return words[3] != 0 && words[2] != words[3] && count > before &&
           live_stamp_ns(&decoder->clock, own[0] >> STEP_LIVE_KIND_BITS) /
                   decoder->clock.resolution_ns >
               decoder->end;
}

/* Once there is an end, is the record behind it? */
static bool is_behind_end(const struct live_allocs_decoder *decoder, uint64_t ticks, uint32_t kind,
                          const uint64_t *words, size_t count)
{
    return decoder->has_end && (ticks > decoder->end || (kind == STEP_LIVE_HEAP_REALLOC &&
                                                         ends_too_late(decoder, words, count)));
}

static enum step_status take_event(struct live_allocs_decoder *decoder, uint64_t stream,
                                   struct stream_state *state, const uint64_t *words, size_t count)
{
    uint32_t kind = kind_of(words);
    uint64_t ticks = live_later_ticks(&decoder->clock, state, words[0] >> STEP_LIVE_KIND_BITS);
    uint64_t heap = state->heap;
    state->heap = 0;
    if (state->next_record++ < state->resumed || is_behind_end(decoder, ticks, kind, words, count))
        return STEP_STATUS_OK;
    const struct allocs_raw raw = {decoder, decoder->writer, stream, state->thread,
                                   heap,    state->stack,    ticks,  words};
    return rows[kind].take(&raw);
}

enum step_status live_allocs_decoder_words(struct live_allocs_decoder *decoder, uint64_t stream,
                                           const uint64_t *words, size_t count, size_t *consumed,
                                           struct step_error *error)
{
    struct stream_state *state = live_streams_at(&decoder->streams, decoder->writer, stream);
    *consumed = 0;
    if (state == NULL)
        return step_error_set(error, STEP_STATUS_CORRUPT, NULL, STEP_NO_OFFSET,
                              "stream number %llu is out of range", (unsigned long long) stream);
    while (*consumed < count) {
        const uint64_t *record = words + *consumed;
        uint32_t kind = kind_of(record);
        uint64_t *target = kind == STEP_LIVE_THREAD_SWITCH ? &state->thread
                           : kind == STEP_LIVE_HEAP_IN     ? &state->heap
                           : kind == STEP_LIVE_STACK       ? &state->stack
                                                           : NULL;
        if (target != NULL) {
            *target = record[0] >> STEP_LIVE_KIND_BITS;
            ++*consumed;
            continue;
        }
        if (kind == STEP_LIVE_HEAP_FRAME && count - *consumed >= FRAME_WORDS) {
            live_call_texts_frame(&decoder->texts, record[0] >> STEP_LIVE_KIND_BITS, record[1],
                                  record[2]);
            *consumed += FRAME_WORDS;
            continue;
        }
        if (kind >= STEP_LIVE_HEAP_KIND_COUNT || rows[kind].take == NULL)
            return step_error_set(error, STEP_STATUS_CORRUPT, NULL, STEP_NO_OFFSET,
                                  "no raw record starts with %016llx",
                                  (unsigned long long) record[0]);
        if (rows[kind].words > count - *consumed)
            break;
        enum step_status status = take_event(decoder, stream, state, record, count - *consumed);
        if (status != STEP_STATUS_OK)
            return step_error_set(error, status, NULL, STEP_NO_OFFSET,
                                  "a raw record could not be taken: %s", step_status_text(status));
        *consumed += rows[kind].words;
    }
    return STEP_STATUS_OK;
}

enum step_status live_allocs_decoder_owed(struct live_allocs_decoder *decoder, uint64_t stream,
                                          uint64_t record, const uint64_t *words,
                                          struct step_error *error)
{
    size_t consumed;
    if (live_allocs_decoder_next_record(decoder, stream) != record)
        return STEP_STATUS_OK;
    if (kind_of(words) != STEP_LIVE_HEAP_IN || kind_of(words + 1) != STEP_LIVE_HEAP_FREE)
        return step_error_set(error, STEP_STATUS_CORRUPT, NULL, STEP_NO_OFFSET,
                              "what is owed is no free");
    return live_allocs_decoder_words(decoder, stream, words, STEP_LIVE_OWED_WORDS, &consumed,
                                     error);
}
