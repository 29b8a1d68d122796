/* SPDX-License-Identifier: Apache-2.0 */
/* Raw heap records to STEP records: one row of a table for each raw kind. */
#include "format/live/live_allocs.h"

#include <stdio.h>
#include <stdlib.h>

#include "format/live/live_streams.h"
#include "steptrace/hatf_trace.h"

#define ALIGNMENTS 64u

struct live_allocs_decoder {
    struct step_live_header clock;
    struct step_writer *writer;
    struct live_streams streams;
    /* dictionary entries of the calls that have been seen, by call and log2 of the alignment */
    uint64_t attributes[STEP_LIVE_CALL_COUNT][ALIGNMENTS];
};

/* What a row's function gets: the raw record, whole. */
struct allocs_raw {
    struct live_allocs_decoder *decoder;
    struct step_writer *writer;
    uint64_t stream;
    uint64_t thread;
    uint64_t heap;
    uint64_t ticks;
    const uint64_t *words;
};

/* What the attributes of a record say that was not made by malloc, realloc, free. */
static const char *const call_names[STEP_LIVE_CALL_COUNT] = {
    [STEP_LIVE_CALL_PLAIN] = "malloc",
    [STEP_LIVE_CALL_CALLOC] = "calloc",
    [STEP_LIVE_CALL_ALIGNED_ALLOC] = "aligned_alloc",
    [STEP_LIVE_CALL_POSIX_MEMALIGN] = "posix_memalign",
    [STEP_LIVE_CALL_MEMALIGN] = "memalign",
    [STEP_LIVE_CALL_VALLOC] = "valloc",
    [STEP_LIVE_CALL_PVALLOC] = "pvalloc",
    [STEP_LIVE_CALL_NEW] = "new",
    [STEP_LIVE_CALL_NEW_ARRAY] = "new[]",
    [STEP_LIVE_CALL_DELETE] = "delete",
    [STEP_LIVE_CALL_DELETE_ARRAY] = "delete[]",
    [STEP_LIVE_CALL_MALLOCX] = "mallocx",
    [STEP_LIVE_CALL_RALLOCX] = "rallocx",
    [STEP_LIVE_CALL_DALLOCX] = "dallocx",
    [STEP_LIVE_CALL_HEAP_MALLOC] = "mi_heap_malloc",
    [STEP_LIVE_CALL_HEAP_CALLOC] = "mi_heap_calloc",
    [STEP_LIVE_CALL_HEAP_REALLOC] = "mi_heap_realloc",
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
    free(decoder);
}

enum step_status live_allocs_decoder_begin(struct live_allocs_decoder *decoder, uint64_t stream,
                                           uint64_t first_record, uint64_t thread)
{
    struct stream_state *state = live_streams_at(&decoder->streams, decoder->writer, stream);
    if (state == NULL)
        return STEP_STATUS_LIMIT;
    state->next_record = first_record;
    state->thread = thread;
    return STEP_STATUS_OK;
}

uint64_t live_allocs_decoder_next_record(const struct live_allocs_decoder *decoder, uint64_t stream)
{
    return live_streams_next_record(&decoder->streams, stream);
}

/* The entry for a call; 0: none is needed. */
static uint64_t attributes_of(struct live_allocs_decoder *decoder, uint64_t word)
{
    uint64_t call = word >> STEP_LIVE_HEAP_CALL_SHIFT;
    uint32_t alignment = (word >> STEP_LIVE_HEAP_ALIGNMENT_SHIFT) % ALIGNMENTS;
    if ((call == STEP_LIVE_CALL_PLAIN && alignment == 0) || call >= STEP_LIVE_CALL_COUNT)
        return 0;
    uint64_t *entry = &decoder->attributes[call][alignment];
    char text[64];
    int length = snprintf(text, sizeof text, alignment != 0 ? "%s,align=%llu" : "%s",
                          call_names[call], 1ull << alignment);
    const struct step_heap_attributes value = {{(const uint8_t *) text, (size_t) length}};
    if (*entry == 0 &&
        step_heap_attributes_define(decoder->writer, &value, entry) != STEP_STATUS_OK)
        *entry = 0;
    return *entry;
}

static uint64_t low_bits(uint64_t word, unsigned count)
{
    return word & ((UINT64_C(1) << count) - 1);
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
    const struct step_heap_alloc event = {.time = raw->ticks,
                                          .thread = raw->thread,
                                          .attributes = attributes_of(raw->decoder, raw->words[1]),
                                          .heap = raw->heap,
                                          .size = size_in(raw->words[1]),
                                          .address = raw->words[2]};
    return step_heap_alloc_put(raw->writer, raw->stream, &event);
}

static enum step_status take_free(const struct allocs_raw *raw)
{
    uint64_t call = raw->words[1] >> STEP_LIVE_HEAP_CALL_SHIFT << STEP_LIVE_HEAP_CALL_SHIFT;
    const struct step_heap_free event = {.time = raw->ticks,
                                         .thread = raw->thread,
                                         .attributes = attributes_of(raw->decoder, call),
                                         .heap = raw->heap,
                                         .address =
                                             low_bits(raw->words[1], STEP_LIVE_HEAP_CALL_SHIFT)};
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
    const uint64_t slots[] = {raw->ticks,
                              raw->thread,
                              attributes_of(raw->decoder, raw->words[1]),
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

static enum step_status take_event(struct live_allocs_decoder *decoder, uint64_t stream,
                                   struct stream_state *state, const uint64_t *words, uint32_t kind)
{
    uint64_t ticks = live_later_ticks(&decoder->clock, state, words[0] >> STEP_LIVE_KIND_BITS);
    uint64_t heap = state->heap;
    state->heap = 0;
    if (state->next_record++ < state->resumed)
        return STEP_STATUS_OK;
    const struct allocs_raw raw = {decoder, decoder->writer, stream, state->thread,
                                   heap,    ticks,           words};
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
        uint32_t kind = (uint32_t) (record[0] & ((1u << STEP_LIVE_KIND_BITS) - 1));
        if (kind == STEP_LIVE_THREAD_SWITCH || kind == STEP_LIVE_HEAP_IN) {
            uint64_t *target = kind == STEP_LIVE_HEAP_IN ? &state->heap : &state->thread;
            *target = record[0] >> STEP_LIVE_KIND_BITS;
            ++*consumed;
            continue;
        }
        if (kind >= STEP_LIVE_HEAP_KIND_COUNT || rows[kind].take == NULL)
            return step_error_set(error, STEP_STATUS_CORRUPT, NULL, STEP_NO_OFFSET,
                                  "no raw record starts with %016llx",
                                  (unsigned long long) record[0]);
        if (rows[kind].words > count - *consumed)
            break;
        enum step_status status = take_event(decoder, stream, state, record, kind);
        if (status != STEP_STATUS_OK)
            return step_error_set(error, status, NULL, STEP_NO_OFFSET,
                                  "a raw record could not be taken: %s", step_status_text(status));
        *consumed += rows[kind].words;
    }
    return STEP_STATUS_OK;
}
