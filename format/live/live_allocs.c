/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decodes raw records of native programs to STEP records, by a table with one row for each raw
 * kind.
 *
 * It follows the same rules as live_decoder.c: state begins anew with each chunk, and records that
 * the trace file has are passed over by their number.  There are fewer kinds, no deaths to sort,
 * and no windows.
 */
#include "format/live/live_allocs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/core/grow.h"
#include "format/core/hash.h"
#include "format/core/hash_index.h"
#include "format/live/live_streams.h"
#include "steptrace/budget.h"
#include "steptrace/hatf_trace.h"

/* ---- call texts, CALL[,align=N][;FRAME]...: one dictionary entry for each that occurred ---- */

struct live_call_frame {
    uint64_t parent, address;
};

struct live_call_entry {
    uint64_t call, frame; /* as in the raw records */
    uint64_t entry;       /* of the dictionary */
};

struct live_call_texts {
    live_allocs_describe describe;
    void *user;
    struct live_call_frame *frames;
    size_t frame_capacity;
    struct step_budget numbers; /* that frames may still add to the table */
    struct live_call_entry *entries;
    size_t capacity, count;
    struct step_index index; /* of the entries */
};

#define TEXT_MOST 60000u /* HATF's attributes have at most 65,535 bytes */
/* Numbers of frames: a constant, and for each frame that was read.  Chunks may be lost. */
#define FRAME_NUMBERS (UINT64_C(1) << 20)
#define FRAME_NUMBERS_PER_FRAME 4096u
#define DEPTH_MOST 1024

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

static void live_call_texts_init(struct live_call_texts *texts)
{
    *texts = (struct live_call_texts){.numbers = step_budget_of(FRAME_NUMBERS, 0, 0)};
}

static void live_call_texts_reset(struct live_call_texts *texts)
{
    free(texts->frames);
    free(texts->entries);
    step_index_reset(&texts->index);
    live_call_texts_init(texts);
}

/* Stores a frame. */
static void live_call_texts_frame(struct live_call_texts *texts, uint64_t frame, uint64_t parent,
                                  uint64_t address)
{
    uint64_t more = frame >= texts->frame_capacity ? frame + 1 - texts->frame_capacity : 0;
    step_budget_earn(&texts->numbers, FRAME_NUMBERS_PER_FRAME, 1);
    if (frame == 0 || parent >= frame || !step_budget_take(&texts->numbers, more))
        return;
    if (STEP_MAKE_ZEROED_ROOM(texts->frames, texts->frame_capacity, (size_t) frame + 1))
        texts->frames[frame] = (struct live_call_frame){parent, address};
}

static size_t live_allocs_put_frames(const struct live_call_texts *texts, uint64_t frame, char *out,
                                     size_t used)
{
    for (int depth = 0; depth < DEPTH_MOST && frame != 0 && frame < texts->frame_capacity &&
                        texts->frames[frame].address != 0;
         depth++) {
        char one[1024];
        const struct live_call_frame *at = &texts->frames[frame];
        size_t length =
            texts->describe != NULL
                ? texts->describe(texts->user, at->address, one, sizeof one)
                : (size_t) snprintf(one, sizeof one, "0x%llx", (unsigned long long) at->address);
        if (length + 1 > TEXT_MOST - used)
            break;
        out[used++] = ';';
        memcpy(out + used, one, length);
        used += length;
        frame = at->parent;
    }
    return used;
}

static uint64_t live_allocs_define(const struct live_call_texts *texts, struct step_writer *writer,
                                   uint64_t call_word, uint64_t frame)
{
    static _Thread_local char text[TEXT_MOST];
    uint64_t call = call_word >> STEP_LIVE_HEAP_CALL_SHIFT, entry = 0;
    unsigned alignment = call_word >> STEP_LIVE_HEAP_ALIGNMENT_SHIFT & 63;
    size_t used = (size_t) snprintf(text, sizeof text, alignment != 0 ? "%s,align=%llu" : "%s",
                                    call_names[call], 1ull << alignment);
    used = live_allocs_put_frames(texts, frame, text, used);
    const struct step_heap_attributes value = {{(const uint8_t *) text, used}};
    return step_heap_attributes_define(writer, &value, &entry) == STEP_STATUS_OK ? entry : 0;
}

/* Makes room for one more. */
static bool live_allocs_reserve(struct live_call_texts *texts)
{
    return STEP_MAKE_ROOM(texts->entries, texts->capacity, texts->count + 1) &&
           step_index_reserve(&texts->index);
}

/* Returns the dictionary entry for a raw record's call and frame; 0: it needs none. */
static uint64_t live_call_texts_entry(struct live_call_texts *texts, struct step_writer *writer,
                                      uint64_t size_word, uint64_t frame)
{
    uint64_t call = size_word >> STEP_LIVE_HEAP_ALIGNMENT_SHIFT << STEP_LIVE_HEAP_ALIGNMENT_SHIFT;
    if ((call == 0 && frame == 0) || call >> STEP_LIVE_HEAP_CALL_SHIFT >= STEP_LIVE_CALL_COUNT ||
        !live_allocs_reserve(texts))
        return 0;
    uint32_t hash = step_hash_half(frame ^ call), place;
    STEP_INDEX_EACH (&texts->index, hash, place)
        if (texts->entries[place].call == call && texts->entries[place].frame == frame)
            return texts->entries[place].entry;
    uint64_t entry = live_allocs_define(texts, writer, call, frame);
    if (entry != 0) {
        step_index_add(&texts->index, hash, (uint32_t) texts->count);
        texts->entries[texts->count++] = (struct live_call_entry){call, frame, entry};
    }
    return entry;
}

struct live_allocs_decoder {
    struct live_streams streams;
    struct live_call_texts texts;
    bool has_end;
    uint64_t end;
    uint64_t asked_bytes;
};

/* Argument of a row's function: the whole raw record. */
struct allocs_raw {
    struct live_allocs_decoder *decoder;
    struct step_writer *writer;
    uint64_t stream;
    uint64_t thread;
    uint64_t heap;
    uint64_t frame;
    uint64_t ticks;
    uint32_t record; /* of the row */
    const uint64_t *words;
};

struct live_allocs_decoder *live_allocs_decoder_create(const struct step_live_header *clock,
                                                       struct step_writer *writer)
{
    struct live_allocs_decoder *decoder = calloc(1, sizeof *decoder);
    if (decoder == NULL)
        return NULL;
    live_streams_init(&decoder->streams, clock, writer);
    live_call_texts_init(&decoder->texts);
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

uint64_t live_allocs_decoder_asked_bytes(const struct live_allocs_decoder *decoder)
{
    return decoder->asked_bytes;
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

void live_allocs_decoder_end_before(struct live_allocs_decoder *decoder, uint64_t stamp)
{
    uint64_t ticks =
        live_stamp_ns(&decoder->streams.clock, stamp) / decoder->streams.clock.resolution_ns;
    live_allocs_decoder_end_at(decoder, ticks > 0 ? ticks - 1 : 0);
}

static uint64_t low_bits(uint64_t word, unsigned count)
{
    return word & ((UINT64_C(1) << count) - 1);
}

static uint64_t size_in(uint64_t word)
{
    return low_bits(word, STEP_LIVE_HEAP_ALIGNMENT_SHIFT);
}

static enum step_status live_allocs_put(const struct allocs_raw *raw, const uint64_t *slots)
{
    return step_writer_put(raw->writer, raw->stream, raw->record, slots);
}

static enum step_status live_allocs_take_thread(const struct allocs_raw *raw)
{
    return live_allocs_put(raw, (const uint64_t[]){raw->ticks, raw->words[1], 0});
}

static enum step_status live_allocs_take_heap(const struct allocs_raw *raw)
{
    return live_allocs_put(raw, (const uint64_t[]){raw->ticks, raw->thread, 0, raw->words[1]});
}

/* Returns the attributes of a record whose call is in that word. */
static uint64_t attributes_of(const struct allocs_raw *raw, uint64_t call, uint64_t frame)
{
    return live_call_texts_entry(&raw->decoder->texts, raw->writer, call, frame);
}

static void live_allocs_add_asked(struct live_allocs_decoder *decoder, uint64_t bytes)
{
    uint64_t room = UINT64_MAX - decoder->asked_bytes;
    decoder->asked_bytes += bytes < room ? bytes : room;
}

static enum step_status live_allocs_take(const struct allocs_raw *raw)
{
    live_allocs_add_asked(raw->decoder, size_in(raw->words[1]));
    const uint64_t slots[] = {raw->ticks,
                              raw->thread,
                              attributes_of(raw, raw->words[1], raw->frame),
                              raw->heap,
                              size_in(raw->words[1]),
                              raw->words[2]};
    return live_allocs_put(raw, slots);
}

static enum step_status live_allocs_take_free(const struct allocs_raw *raw)
{
    uint64_t call = raw->words[1] >> STEP_LIVE_HEAP_CALL_SHIFT << STEP_LIVE_HEAP_CALL_SHIFT;
    const uint64_t slots[] = {raw->ticks, raw->thread, attributes_of(raw, call, 0), raw->heap,
                              low_bits(raw->words[1], STEP_LIVE_HEAP_CALL_SHIFT)};
    return live_allocs_put(raw, slots);
}

/* The two addresses show the outcome: which of the two is NULL, and whether the block has moved. */
static enum step_status live_allocs_take_realloc(const struct allocs_raw *raw)
{
    uint64_t old_address = raw->words[2], new_address = raw->words[3];
    uint32_t record = old_address == 0             ? STEP_HEAP_REALLOC_ALLOC
                      : new_address == 0           ? STEP_HEAP_REALLOC_FREE
                      : old_address == new_address ? STEP_HEAP_REALLOC_IN_PLACE
                                                   : STEP_HEAP_REALLOC_MOVE;
    const uint64_t slots[] = {raw->ticks,
                              raw->thread,
                              attributes_of(raw, raw->words[1], raw->frame),
                              raw->heap,
                              size_in(raw->words[1]),
                              old_address,
                              new_address};
    if (record == STEP_HEAP_REALLOC_IN_PLACE) /* another has an allocation of its own */
        live_allocs_add_asked(raw->decoder, size_in(raw->words[1]));
    return step_writer_put(raw->writer, raw->stream, record, slots);
}

/* Records without a function change the state of their stream, or are frames. */
static const struct {
    uint32_t words;
    enum step_status (*take)(const struct allocs_raw *raw);
    uint32_t record;
} rows[STEP_LIVE_HEAP_KIND_COUNT] = {
    [STEP_LIVE_THREAD_SWITCH] = {1, NULL, 0},
    [STEP_LIVE_HEAP_IN] = {1, NULL, 0},
    [STEP_LIVE_STACK] = {1, NULL, 0},
    [STEP_LIVE_HEAP_FRAME] = {3, NULL, 0},
    [STEP_LIVE_HEAP_THREAD_CREATE] = {2, live_allocs_take_thread, STEP_HEAP_THREAD_CREATE},
    [STEP_LIVE_HEAP_THREAD_DESTROY] = {2, live_allocs_take_thread, STEP_HEAP_THREAD_DESTROY},
    [STEP_LIVE_HEAP_ALLOC] = {3, live_allocs_take, STEP_HEAP_ALLOC},
    [STEP_LIVE_HEAP_FREE] = {2, live_allocs_take_free, STEP_HEAP_FREE},
    [STEP_LIVE_HEAP_REALLOC] = {4, live_allocs_take_realloc, 0},
    [STEP_LIVE_HEAP_CREATE] = {2, live_allocs_take_heap, STEP_HEAP_HEAP_CREATE},
    [STEP_LIVE_HEAP_DESTROY] = {2, live_allocs_take_heap, STEP_HEAP_HEAP_DESTROY},
};

size_t live_allocs_record_words(uint64_t word)
{
    return live_kind(word) < STEP_LIVE_HEAP_KIND_COUNT ? rows[live_kind(word)].words : 0;
}

/* Returns true if the last of a realloc's own records, the allocation, is after the end.  They
 * follow it in the same chunk.  A realloc frees and allocates in one call; if its allocation is
 * lost, so is its own record, and the free that is left is what happened to the old address. */
static bool ends_too_late(const struct live_allocs_decoder *decoder, const uint64_t *words,
                          size_t count)
{
    const uint64_t *own = words + rows[STEP_LIVE_HEAP_REALLOC].words;
    size_t before =
        rows[STEP_LIVE_HEAP_REALLOC].words + (words[2] != 0 ? rows[STEP_LIVE_HEAP_FREE].words : 0);
    if (words[2] != 0)
        own += rows[STEP_LIVE_HEAP_FREE].words;
    return words[3] != 0 && words[2] != words[3] && count > before &&
           live_stamp_ns(&decoder->streams.clock, own[0] >> STEP_LIVE_KIND_BITS) /
                   decoder->streams.clock.resolution_ns >
               decoder->end;
}

/* Returns true if an end is set and the record is after it. */
static bool is_behind_end(const struct live_allocs_decoder *decoder, uint64_t ticks, uint32_t kind,
                          const uint64_t *words, size_t count)
{
    return decoder->has_end && (ticks > decoder->end || (kind == STEP_LIVE_HEAP_REALLOC &&
                                                         ends_too_late(decoder, words, count)));
}

static enum step_status live_allocs_take_event(struct live_allocs_decoder *decoder, uint64_t stream,
                                               struct stream_state *state, const uint64_t *words,
                                               size_t count)
{
    uint32_t kind = live_kind(words[0]);
    uint64_t ticks =
        live_later_ticks(&decoder->streams.clock, state, words[0] >> STEP_LIVE_KIND_BITS);
    uint64_t heap = state->heap;
    state->heap = 0;
    if (state->next_record++ < state->resumed || is_behind_end(decoder, ticks, kind, words, count))
        return STEP_STATUS_OK;
    const struct allocs_raw raw = {.decoder = decoder,
                                   .writer = decoder->streams.writer,
                                   .stream = stream,
                                   .thread = state->thread,
                                   .heap = heap,
                                   .frame = state->stack,
                                   .ticks = ticks,
                                   .record = rows[kind].record,
                                   .words = words};
    return rows[kind].take(&raw);
}

/* Takes a complete record. */
static enum step_status live_allocs_take_record(struct live_allocs_decoder *decoder,
                                                uint64_t stream, struct stream_state *state,
                                                const uint64_t *words, size_t count)
{
    uint32_t kind = live_kind(words[0]);
    uint64_t payload = words[0] >> STEP_LIVE_KIND_BITS;
    if (rows[kind].take != NULL)
        return live_allocs_take_event(decoder, stream, state, words, count);
    if (kind == STEP_LIVE_HEAP_IN)
        state->heap = payload;
    else if (kind == STEP_LIVE_STACK)
        state->stack = payload;
    else if (kind == STEP_LIVE_THREAD_SWITCH)
        state->thread = payload;
    else
        live_call_texts_frame(&decoder->texts, payload, words[1], words[2]);
    return STEP_STATUS_OK;
}

enum step_status live_allocs_decoder_words(void *user, uint64_t stream, const uint64_t *words,
                                           size_t count, size_t *consumed, struct step_error *error)
{
    struct live_allocs_decoder *decoder = user;
    struct stream_state *state = live_streams_open(&decoder->streams, stream, error);
    *consumed = 0;
    if (state == NULL)
        return STEP_STATUS_CORRUPT;
    while (*consumed < count) {
        const uint64_t *record = words + *consumed;
        size_t length = live_allocs_record_words(record[0]);
        if (length == 0)
            return live_streams_no_record(record[0], error);
        if (length > count - *consumed)
            break;
        enum step_status status =
            live_allocs_take_record(decoder, stream, state, record, count - *consumed);
        if (status != STEP_STATUS_OK)
            return live_streams_not_taken(status, error);
        *consumed += length;
    }
    return STEP_STATUS_OK;
}

enum step_status live_allocs_decoder_owed(struct live_allocs_decoder *decoder, uint64_t stream,
                                          uint64_t record, const uint64_t *words,
                                          struct step_error *error)
{
    size_t consumed;
    if (live_streams_next_record(decoder, stream) != record)
        return STEP_STATUS_OK;
    if (live_kind(words[0]) != STEP_LIVE_HEAP_IN || live_kind(words[1]) != STEP_LIVE_HEAP_FREE)
        return step_error_set(error, STEP_STATUS_CORRUPT, NULL, STEP_NO_OFFSET,
                              "a pending record is not a free");
    return live_allocs_decoder_words(decoder, stream, words, STEP_LIVE_OWED_WORDS, &consumed,
                                     error);
}
