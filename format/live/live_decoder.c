/* SPDX-License-Identifier: Apache-2.0 */
/* Raw records to STEP records: one row of a table for each raw kind. */
#include "live_decoder.h"

#include <stdlib.h>
#include <string.h>

#include "constructor_window.h"
#include "id_sort.h"
#include "run.h"
#include "steptrace/java_trace.h"

#define WORD_BYTES sizeof(uint64_t)
#define STREAM_LIMIT (UINT64_C(1) << 24)
#define TEXT_LIMIT (UINT64_C(1) << 20)

/* Of java.MethodEntry, MethodExit and ObjectAlloc. */
enum { ENTRY_SLOTS = 4, EXIT_SLOTS = 3, ALLOC_SLOTS = 5 };

struct stream_state {
    uint64_t next_record;
    uint64_t resumed; /* records below this number are in the trace file already */
    uint64_t thread;
    uint64_t last_ticks;
    uint64_t last_ns;     /* of a stamp that came to last_ticks, rounded down to a tick */
    uint64_t last_object; /* of the allocations in this chunk */
    uint64_t last_stamp;  /* in this chunk */
    struct constructor_window *window; /* NULL until a constructor is seen */
    uint64_t stack;                    /* the frame that they come from */
};

/* Object ids of one collection, until its FREE_END. */
struct free_batch {
    uint64_t *ids;
    size_t count;
    size_t capacity;
    uint64_t *scratch;
    size_t scratch_capacity;
};

/* Where batches end that are not all written yet, as record numbers, ascending. */
struct batch_ends {
    uint64_t *records;
    size_t count;
    size_t capacity;
    uint64_t settled; /* the last one that is written */
};

struct live_decoder {
    struct batch_ends batch_ends;
    struct step_live_header clock;
    struct step_writer *writer;
    struct stream_state *streams;
    size_t stream_count;
    uint64_t max_ticks;
    bool has_runs; /* the writer takes records of methods and allocations in runs */
    struct free_batch frees;
};

/* What a row's function gets: the raw record, whole. */
struct raw {
    struct live_decoder *decoder;
    struct stream_state *state;
    uint64_t stream;
    const uint64_t *words;
    size_t count; /* words up to the end of the input */
    uint64_t ticks;
    uint64_t number; /* of an event record, in its stream */
};

static uint64_t clock_ns(const struct step_live_header *clock, uint64_t stamp)
{
    return (uint64_t) ((unsigned __int128) stamp * clock->clock_multiplier >> clock->clock_shift);
}

uint64_t live_clock_ticks(const struct step_live_header *clock, uint64_t stamp)
{
    return clock_ns(clock, stamp) / clock->resolution_ns;
}

struct live_decoder *live_decoder_create(const struct step_live_header *clock,
                                         struct step_writer *writer)
{
    struct live_decoder *decoder = calloc(1, sizeof *decoder);
    if (decoder == NULL)
        return NULL;
    memcpy(&decoder->clock, clock, sizeof decoder->clock);
    if (decoder->clock.resolution_ns == 0)
        decoder->clock.resolution_ns = 1;
    decoder->clock.clock_shift &= 63;
    decoder->writer = writer;
    decoder->has_runs = step_writer_takes_runs(writer, JAVA_METHOD_ENTRY, ENTRY_SLOTS) &&
                        step_writer_takes_runs(writer, JAVA_METHOD_EXIT, EXIT_SLOTS) &&
                        step_writer_takes_runs(writer, JAVA_OBJECT_ALLOC, ALLOC_SLOTS);
    return decoder;
}

void live_decoder_destroy(struct live_decoder *decoder)
{
    if (decoder == NULL)
        return;
    for (size_t i = 0; i < decoder->stream_count; i++)
        window_destroy(decoder->streams[i].window);
    free(decoder->streams);
    free(decoder->frees.ids);
    free(decoder->frees.scratch);
    free(decoder->batch_ends.records);
    free(decoder);
}

static struct stream_state *stream_at(struct live_decoder *decoder, uint64_t stream)
{
    if (stream >= STREAM_LIMIT)
        return NULL;
    if (stream >= decoder->stream_count) {
        size_t wanted = (size_t) stream + 1 + decoder->stream_count / 2 + 16;
        struct stream_state *grown = realloc(decoder->streams, wanted * sizeof *grown);
        if (grown == NULL)
            return NULL;
        memset(grown + decoder->stream_count, 0, (wanted - decoder->stream_count) * sizeof *grown);
        for (size_t i = decoder->stream_count; i < wanted; i++)
            grown[i].resumed = step_writer_put_count(decoder->writer, i);
        decoder->streams = grown;
        decoder->stream_count = wanted;
    }
    return &decoder->streams[stream];
}

enum step_status live_decoder_begin(struct live_decoder *decoder, uint64_t stream,
                                    uint64_t first_record, uint64_t thread)
{
    struct stream_state *state = stream_at(decoder, stream);
    if (state == NULL)
        return STEP_STATUS_LIMIT;
    state->next_record = first_record;
    state->thread = thread;
    state->last_object = 0;
    state->last_stamp = 0;
    if (state->window != NULL)
        window_cross_chunks(state->window);
    state->stack = 0;
    return STEP_STATUS_OK;
}

uint64_t live_decoder_next_record(const struct live_decoder *decoder, uint64_t stream)
{
    return stream < decoder->stream_count ? decoder->streams[stream].next_record : 0;
}

uint64_t live_decoder_settled(struct live_decoder *decoder, uint64_t stream, uint64_t written)
{
    struct batch_ends *ends = &decoder->batch_ends;
    if (stream != STEP_LIVE_STREAM_FREES)
        return stream < decoder->stream_count && decoder->streams[stream].window != NULL
                   ? window_settled(decoder->streams[stream].window, written)
                   : written;
    size_t passed = 0;
    while (passed < ends->count && ends->records[passed] <= written)
        ends->settled = ends->records[passed++];
    ends->count -= passed;
    if (passed != 0)
        memmove(ends->records, ends->records + passed, ends->count * sizeof *ends->records);
    return ends->settled;
}

static enum step_status note_batch_end(struct batch_ends *ends, uint64_t record)
{
    if (ends->count == ends->capacity) {
        size_t wanted = ends->capacity * 2 + 64;
        uint64_t *grown = realloc(ends->records, wanted * sizeof *grown);
        if (grown == NULL)
            return STEP_STATUS_NO_MEMORY;
        ends->records = grown;
        ends->capacity = wanted;
    }
    ends->records[ends->count++] = record;
    return STEP_STATUS_OK;
}

static enum step_status take_vm_event(const struct raw *raw)
{
    uint32_t kind = (uint32_t) (raw->words[0] & ((1u << STEP_LIVE_KIND_BITS) - 1));
    struct step_writer *writer = raw->decoder->writer;
    struct java_vm_start event = {.time = raw->ticks, .thread = raw->state->thread};
    uint32_t record = kind == STEP_LIVE_VM_START  ? JAVA_VM_START
                      : kind == STEP_LIVE_VM_INIT ? JAVA_VM_INIT
                                                  : JAVA_VM_DEATH;
    uint64_t slots[] = {event.time, event.thread};
    return step_writer_put(writer, raw->stream, record, slots);
}

static enum step_status take_class_load(const struct raw *raw)
{
    struct java_class_load event = {
        .time = raw->ticks, .thread = raw->state->thread, .class_ = raw->words[1]};
    return java_class_load_put(raw->decoder->writer, raw->stream, &event);
}

static enum step_status take_class_existing(const struct raw *raw)
{
    struct java_class_existing event = {
        .time = raw->ticks, .thread = raw->state->thread, .class_ = raw->words[1]};
    return java_class_existing_put(raw->decoder->writer, raw->stream, &event);
}

/* Starts of threads name the thread itself, whoever wrote the record. */
static enum step_status take_thread_start(const struct raw *raw)
{
    struct java_thread_start event = {.time = raw->ticks, .thread = raw->words[1]};
    return java_thread_start_put(raw->decoder->writer, raw->stream, &event);
}

static enum step_status take_thread_existing(const struct raw *raw)
{
    struct java_thread_existing event = {.time = raw->ticks, .thread = raw->words[1]};
    return java_thread_existing_put(raw->decoder->writer, raw->stream, &event);
}

static enum step_status put_alloc_at(struct live_decoder *decoder, uint64_t stream,
                                     const struct window_event *from)
{
    struct java_object_alloc_at event = {.time = from->ticks,
                                         .thread = from->thread,
                                         .class_ = from->name & UINT32_MAX,
                                         .size = (from->name >> 32) * 8,
                                         .object = from->object,
                                         .stack = from->stack};
    return java_object_alloc_at_put(decoder->writer, stream, &event);
}

static enum step_status put_alloc(struct live_decoder *decoder, uint64_t stream,
                                  const struct window_event *from)
{
    if (from->stack != 0)
        return put_alloc_at(decoder, stream, from);
    struct java_object_alloc event = {.time = from->ticks,
                                      .thread = from->thread,
                                      .class_ = from->name & UINT32_MAX,
                                      .size = (from->name >> 32) * 8,
                                      .object = from->object};
    return java_object_alloc_put(decoder->writer, stream, &event);
}

static enum step_status put_existing(struct live_decoder *decoder, uint64_t stream,
                                     const struct window_event *from)
{
    struct java_object_existing event = {.time = from->ticks,
                                         .thread = from->thread,
                                         .class_ = from->name & UINT32_MAX,
                                         .size = (from->name >> 32) * 8,
                                         .object = from->object};
    return java_object_existing_put(decoder->writer, stream, &event);
}

static enum step_status put_entry(struct live_decoder *decoder, uint64_t stream,
                                  const struct window_event *from)
{
    struct java_method_entry event = {
        .time = from->ticks, .thread = from->thread, .method = from->name, .object = from->object};
    return java_method_entry_put(decoder->writer, stream, &event);
}

/* An event of a thread's stream, with the number that it has among the stream's records. */
static enum step_status put_event(struct live_decoder *decoder, struct stream_state *state,
                                  uint64_t stream, uint64_t number, const struct window_event *from)
{
    if (number < state->resumed)
        return STEP_STATUS_OK;
    struct java_method_exit exit = {from->ticks, from->thread, from->name};
    struct java_frame_pop pop = {from->ticks, from->thread, from->name};
    struct java_thread_end end = {.time = from->ticks, .thread = from->name};
    switch (from->kind) {
    case STEP_LIVE_ALLOC:
        return put_alloc(decoder, stream, from);
    case STEP_LIVE_EXISTING:
        return put_existing(decoder, stream, from);
    case STEP_LIVE_ENTRY:
        return put_entry(decoder, stream, from);
    case STEP_LIVE_EXIT:
        return java_method_exit_put(decoder->writer, stream, &exit);
    case STEP_LIVE_FRAME_POP:
        return java_frame_pop_put(decoder->writer, stream, &pop);
    default:
        return java_thread_end_put(decoder->writer, stream, &end);
    }
}

static enum step_status put_window_event(void *context, uint64_t number,
                                         const struct window_event *event)
{
    const struct raw *raw = context;
    return put_event(raw->decoder, raw->state, raw->stream, number, event);
}

static enum step_status take_event(const struct raw *raw, enum step_live_kind kind, uint64_t name,
                                   uint64_t object)
{
    struct window_event event = {
        kind, raw->ticks, raw->state->thread, name, object, raw->state->stack, 0, false};
    struct raw context = *raw;
    if (raw->state->window == NULL || !window_is_open(raw->state->window))
        return put_event(raw->decoder, raw->state, raw->stream, raw->number, &event);
    return window_add(raw->state->window, &event, put_window_event, &context);
}

static enum step_status take_alloc(const struct raw *raw)
{
    return take_event(raw, STEP_LIVE_ALLOC, raw->words[1], raw->state->last_object);
}

static enum step_status take_existing(const struct raw *raw)
{
    return take_event(raw, STEP_LIVE_EXISTING, raw->words[1], raw->words[2]);
}

static enum step_status take_thread_end(const struct raw *raw)
{
    return take_event(raw, STEP_LIVE_THREAD_END, raw->words[1], 0);
}

static enum step_status take_entry(const struct raw *raw)
{
    return take_event(raw, STEP_LIVE_ENTRY, raw->words[1], raw->words[2]);
}

static enum step_status take_exit(const struct raw *raw)
{
    return take_event(raw, STEP_LIVE_EXIT, raw->words[1], 0);
}

static enum step_status take_frame_pop(const struct raw *raw)
{
    return take_event(raw, STEP_LIVE_FRAME_POP, raw->words[1], 0);
}

static uint64_t short_method(const struct raw *raw)
{
    return raw->words[0] >> STEP_LIVE_KIND_BITS & ((UINT64_C(1) << STEP_LIVE_METHOD_BITS) - 1);
}

static enum step_status take_entry_short(const struct raw *raw)
{
    return take_event(raw, STEP_LIVE_ENTRY, short_method(raw), 0);
}

static enum step_status take_exit_short(const struct raw *raw)
{
    return take_event(raw, STEP_LIVE_EXIT, short_method(raw), 0);
}

static enum step_status take_frame_pop_short(const struct raw *raw)
{
    return take_event(raw, STEP_LIVE_FRAME_POP, short_method(raw), 0);
}

static enum step_status wait_for_object(const struct raw *raw, uint64_t method)
{
    if (raw->state->window == NULL && (raw->state->window = window_create()) == NULL)
        return STEP_STATUS_NO_MEMORY;
    window_open(raw->state->window, raw->number);
    return take_event(raw, STEP_LIVE_ENTRY, method, 0);
}

static enum step_status take_entry_new(const struct raw *raw)
{
    return wait_for_object(raw, raw->words[1]);
}

static enum step_status take_entry_new_short(const struct raw *raw)
{
    return wait_for_object(raw, short_method(raw));
}

/* Puts what waits, as far as it is known. */
static enum step_status close_window(const struct raw *raw)
{
    struct raw context = *raw;
    return raw->state->window != NULL ? window_close(raw->state->window, put_window_event, &context)
                                      : STEP_STATUS_OK;
}

static enum step_status take_constructed(const struct raw *raw)
{
    if (raw->state->window != NULL)
        window_construct(raw->state->window, raw->words[1] & INT64_MAX,
                         raw->words[0] >> STEP_LIVE_KIND_BITS);
    return raw->words[1] >> 63 != 0 ? close_window(raw) : STEP_STATUS_OK;
}

static enum step_status hold_free(struct free_batch *frees, uint64_t id)
{
    if (frees->count == frees->capacity) {
        size_t wanted = frees->capacity * 2 + 4096;
        uint64_t *grown = realloc(frees->ids, wanted * sizeof *grown);
        if (grown == NULL)
            return STEP_STATUS_NO_MEMORY;
        frees->ids = grown;
        frees->capacity = wanted;
    }
    frees->ids[frees->count++] = id;
    return STEP_STATUS_OK;
}

/* Sorts the batch and puts it; a part that the trace file has already is passed over. */
static enum step_status put_frees(struct live_decoder *decoder, struct stream_state *state,
                                  uint64_t ticks)
{
    struct free_batch *frees = &decoder->frees;
    if (frees->scratch_capacity < frees->count) {
        free(frees->scratch);
        frees->scratch = malloc(frees->capacity * sizeof *frees->scratch);
        frees->scratch_capacity = frees->scratch != NULL ? frees->capacity : 0;
        if (frees->scratch == NULL)
            return STEP_STATUS_NO_MEMORY;
    }
    id_sort(frees->ids, frees->scratch, frees->count);
    uint64_t first = state->next_record - frees->count;
    enum step_status status = STEP_STATUS_OK;
    for (size_t i = 0; i < frees->count && status == STEP_STATUS_OK; i++) {
        if (first + i < state->resumed)
            continue;
        struct java_object_free event = {.time = ticks, .thread = 0, .object = frees->ids[i]};
        status = java_object_free_put(decoder->writer, STEP_LIVE_STREAM_FREES, &event);
    }
    frees->count = 0;
    return status == STEP_STATUS_OK ? note_batch_end(&decoder->batch_ends, state->next_record)
                                    : status;
}

static enum step_status take_free_end(const struct raw *raw)
{
    return put_frees(raw->decoder, raw->state, raw->ticks);
}

/* What waits is not this thread's. */
static enum step_status take_thread_switch(const struct raw *raw)
{
    enum step_status status = close_window(raw);
    if (status != STEP_STATUS_OK)
        return status;
    raw->state->thread = raw->words[0] >> STEP_LIVE_KIND_BITS;
    return STEP_STATUS_OK;
}

static enum step_status take_stack(const struct raw *raw)
{
    raw->state->stack = raw->words[0] >> STEP_LIVE_KIND_BITS;
    return STEP_STATUS_OK;
}

/* Calls a define function unless the dictionary has the entry; a gap is damage. */
static bool entry_is_next(struct live_decoder *decoder, uint32_t record, uint64_t id,
                          enum step_status *status)
{
    uint64_t known = step_writer_dictionary_count(decoder->writer, record);
    *status = id <= known + 1 && id != 0 ? STEP_STATUS_OK : STEP_STATUS_CORRUPT;
    return id == known + 1;
}

static enum step_status take_define_class(const struct raw *raw)
{
    enum step_status status;
    if (!entry_is_next(raw->decoder, JAVA_CLASS, raw->words[0] >> STEP_LIVE_KIND_BITS, &status))
        return status;
    struct java_class entry = {.name = {(const uint8_t *) &raw->words[3], (size_t) raw->words[2]},
                               .loader = raw->words[1]};
    return java_class_define(raw->decoder->writer, &entry, NULL);
}

static enum step_status take_define_method(const struct raw *raw)
{
    enum step_status status;
    if (!entry_is_next(raw->decoder, JAVA_METHOD, raw->words[0] >> STEP_LIVE_KIND_BITS, &status))
        return status;
    const uint8_t *text = (const uint8_t *) &raw->words[4];
    size_t name_length = (size_t) (raw->words[3] & UINT32_MAX);
    struct java_method entry = {.class_ = raw->words[1],
                                .name = {text, name_length},
                                .descriptor = {text + name_length, (size_t) (raw->words[3] >> 32)},
                                .modifiers = raw->words[2]};
    return java_method_define(raw->decoder->writer, &entry, NULL);
}

static enum step_status take_define_thread(const struct raw *raw)
{
    enum step_status status;
    if (!entry_is_next(raw->decoder, JAVA_THREAD, raw->words[0] >> STEP_LIVE_KIND_BITS, &status))
        return status;
    struct java_thread entry = {.name = {(const uint8_t *) &raw->words[3], (size_t) raw->words[2]},
                                .flags = raw->words[1]};
    return java_thread_define(raw->decoder->writer, &entry, NULL);
}

static enum step_status take_define_frame(const struct raw *raw)
{
    enum step_status status;
    if (!entry_is_next(raw->decoder, JAVA_FRAME, raw->words[0] >> STEP_LIVE_KIND_BITS, &status))
        return status;
    struct java_frame entry = {.parent = raw->words[1] & UINT32_MAX,
                               .method = raw->words[1] >> 32,
                               .line = raw->words[2] & UINT32_MAX,
                               .bytecode = raw->words[2] >> 32};
    return java_frame_define(raw->decoder->writer, &entry, NULL);
}

/* The next of the texts of a fact; false: it is longer than what is left. */
static bool take_text(const uint8_t **at, uint64_t *left, uint64_t length, struct step_bytes *text)
{
    *text = (struct step_bytes){*at, (size_t) length};
    if (length > *left)
        return false;
    *at += length;
    *left -= length;
    return true;
}

static enum step_status take_not_probed(const struct raw *raw, const uint64_t *words,
                                        uint64_t length)
{
    struct java_not_probed event = {.time = raw->ticks, .thread = raw->state->thread};
    if (length < 3 * WORD_BYTES)
        return STEP_STATUS_CORRUPT;
    const uint8_t *at = (const uint8_t *) &words[3];
    uint64_t left = length - 3 * WORD_BYTES;
    event.missing = words[0];
    if (!take_text(&at, &left, words[1] & UINT32_MAX, &event.class_) ||
        !take_text(&at, &left, words[1] >> 32, &event.method) ||
        !take_text(&at, &left, words[2] & UINT32_MAX, &event.descriptor) ||
        !take_text(&at, &left, words[2] >> 32, &event.reason))
        return STEP_STATUS_CORRUPT;
    return java_not_probed_put(raw->decoder->writer, raw->stream, &event);
}

static enum step_status take_method_count(const struct raw *raw, const uint64_t *words,
                                          uint64_t length)
{
    if (length < STEP_LIVE_METHOD_COUNT_BYTES)
        return STEP_STATUS_CORRUPT;
    struct java_method_count event = {.time = raw->ticks,
                                      .thread = raw->state->thread,
                                      .method = words[0],
                                      .calls = words[1],
                                      .exceptions = words[2],
                                      .inclusive = words[3],
                                      .exclusive = words[4]};
    return java_method_count_put(raw->decoder->writer, raw->stream, &event);
}

/* record_words() has seen to it that all of it is there. */
static enum step_status take_fact(const struct raw *raw)
{
    switch (raw->words[1]) {
    case STEP_LIVE_NOT_PROBED:
        return take_not_probed(raw, &raw->words[3], raw->words[2]);
    case STEP_LIVE_METHOD_COUNT:
        return take_method_count(raw, &raw->words[3], raw->words[2]);
    default:
        return STEP_STATUS_CORRUPT;
    }
}

enum stamp_form { NO_STAMP, STAMP, PAST };

/* Words before the text, and which of them holds its length (two 32-bit lengths for a method). */
static const struct {
    uint32_t fixed_words;
    uint32_t length_word; /* 0: no text */
    bool is_event;
    enum stamp_form stamp;
    enum step_status (*take)(const struct raw *raw);
} rows[STEP_LIVE_KIND_COUNT] = {
    [STEP_LIVE_THREAD_SWITCH] = {1, 0, false, NO_STAMP, take_thread_switch},
    [STEP_LIVE_DEFINE_CLASS] = {3, 2, false, NO_STAMP, take_define_class},
    [STEP_LIVE_DEFINE_METHOD] = {4, 3, false, NO_STAMP, take_define_method},
    [STEP_LIVE_DEFINE_THREAD] = {3, 2, false, NO_STAMP, take_define_thread},
    [STEP_LIVE_FREE_END] = {1, 0, false, STAMP, take_free_end},
    [STEP_LIVE_DEFINE_FRAME] = {3, 0, false, NO_STAMP, take_define_frame},
    [STEP_LIVE_STACK] = {1, 0, false, NO_STAMP, take_stack},
    [STEP_LIVE_VM_START] = {1, 0, true, STAMP, take_vm_event},
    [STEP_LIVE_VM_INIT] = {1, 0, true, STAMP, take_vm_event},
    [STEP_LIVE_VM_DEATH] = {1, 0, true, STAMP, take_vm_event},
    [STEP_LIVE_CLASS_LOAD] = {2, 0, true, STAMP, take_class_load},
    [STEP_LIVE_CLASS_EXISTING] = {2, 0, true, STAMP, take_class_existing},
    [STEP_LIVE_THREAD_START] = {2, 0, true, STAMP, take_thread_start},
    [STEP_LIVE_THREAD_EXISTING] = {2, 0, true, STAMP, take_thread_existing},
    [STEP_LIVE_THREAD_END] = {2, 0, true, STAMP, take_thread_end},
    [STEP_LIVE_ALLOC] = {3, 0, true, STAMP, take_alloc},
    [STEP_LIVE_ALLOC_NEXT] = {2, 0, true, STAMP, take_alloc},
    [STEP_LIVE_EXISTING] = {3, 0, true, STAMP, take_existing},
    [STEP_LIVE_FREE_OBJECT] = {1, 0, true, NO_STAMP, NULL},
    [STEP_LIVE_ENTRY] = {3, 0, true, STAMP, take_entry},
    [STEP_LIVE_EXIT] = {2, 0, true, STAMP, take_exit},
    [STEP_LIVE_FRAME_POP] = {2, 0, true, STAMP, take_frame_pop},
    [STEP_LIVE_ENTRY_SHORT] = {1, 0, true, PAST, take_entry_short},
    [STEP_LIVE_EXIT_SHORT] = {1, 0, true, PAST, take_exit_short},
    [STEP_LIVE_FRAME_POP_SHORT] = {1, 0, true, PAST, take_frame_pop_short},
    [STEP_LIVE_ENTRY_NEW] = {2, 0, true, STAMP, take_entry_new},
    [STEP_LIVE_ENTRY_NEW_SHORT] = {1, 0, true, PAST, take_entry_new_short},
    [STEP_LIVE_CONSTRUCTED] = {2, 0, false, NO_STAMP, take_constructed},
    [STEP_LIVE_UNWAITED] = {1, 0, false, NO_STAMP, close_window},
    [STEP_LIVE_FACT] = {3, 2, true, STAMP, take_fact},
};

/* Words of the record that starts at `words`, 0 if it is not whole, SIZE_MAX if it is no record. */
static size_t record_words(const uint64_t *words, size_t count)
{
    uint32_t kind = (uint32_t) (words[0] & ((1u << STEP_LIVE_KIND_BITS) - 1));
    if (kind >= STEP_LIVE_KIND_COUNT || rows[kind].fixed_words == 0)
        return SIZE_MAX;
    if (rows[kind].fixed_words > count)
        return 0;
    if (rows[kind].length_word == 0)
        return rows[kind].fixed_words;
    uint64_t length = words[rows[kind].length_word];
    if (kind == STEP_LIVE_DEFINE_METHOD)
        length = (length & UINT32_MAX) + (length >> 32);
    if (length > TEXT_LIMIT)
        return SIZE_MAX;
    size_t total = rows[kind].fixed_words + (size_t) ((length + WORD_BYTES - 1) / WORD_BYTES);
    return total <= count ? total : 0;
}

static uint64_t later_ticks(struct live_decoder *decoder, struct stream_state *state,
                            uint64_t stamp)
{
    uint64_t ns = clock_ns(&decoder->clock, stamp);
    uint64_t resolution = decoder->clock.resolution_ns;
    if (ns - state->last_ns < resolution) /* most events: no division for them */
        return state->last_ticks;
    uint64_t ticks = ns / resolution;
    if (ticks <= state->last_ticks)
        return state->last_ticks;
    state->last_ticks = ticks;
    state->last_ns = ticks * resolution;
    if (ticks > decoder->max_ticks)
        decoder->max_ticks = ticks;
    return ticks;
}

static uint64_t stamp_of(struct stream_state *state, enum stamp_form form, uint64_t word)
{
    uint64_t payload = word >> STEP_LIVE_KIND_BITS;
    state->last_stamp =
        form == PAST ? state->last_stamp + (payload >> STEP_LIVE_METHOD_BITS) : payload;
    return state->last_stamp;
}

static enum step_status take_record(struct live_decoder *decoder, uint64_t stream,
                                    struct stream_state *state, const uint64_t *words, size_t count)
{
    uint32_t kind = (uint32_t) (words[0] & ((1u << STEP_LIVE_KIND_BITS) - 1));
    struct raw raw = {decoder, state, stream, words, count, 0, 0};
    if (rows[kind].stamp != NO_STAMP)
        raw.ticks = later_ticks(decoder, state, stamp_of(state, rows[kind].stamp, words[0]));
    if (kind == STEP_LIVE_ALLOC)
        state->last_object = words[2];
    else if (kind == STEP_LIVE_ALLOC_NEXT)
        state->last_object++;
    if (rows[kind].is_event) {
        raw.number = state->next_record++;
        if (kind == STEP_LIVE_FREE_OBJECT)
            return hold_free(&decoder->frees, words[0] >> STEP_LIVE_KIND_BITS);
        if (raw.number < state->resumed && stream == STEP_LIVE_STREAM_GLOBAL)
            return STEP_STATUS_OK;
    }
    return rows[kind].take(&raw);
}

/* The type of the records that come most, by their raw kind: entries and exits in short, and,
 * without stacks, allocations in a row. */
static const uint16_t common[1u << STEP_LIVE_KIND_BITS] = {
    [STEP_LIVE_ENTRY_SHORT] = JAVA_METHOD_ENTRY + 1,
    [STEP_LIVE_EXIT_SHORT] = JAVA_METHOD_EXIT + 1,
    [STEP_LIVE_ALLOC_NEXT] = JAVA_OBJECT_ALLOC + 1,
};

/* Puts one of them; returns its slots.  `words` has all of it, `slots` room for the longest. */
static size_t put_common(struct live_decoder *decoder, struct stream_state *state, uint32_t kind,
                         const uint64_t *words, uint64_t *slots)
{
    slots[0] = later_ticks(decoder, state, stamp_of(state, rows[kind].stamp, words[0]));
    slots[1] = state->thread;
    if (kind == STEP_LIVE_ALLOC_NEXT) {
        slots[2] = words[1] & UINT32_MAX;
        slots[3] = (words[1] >> 32) * 8;
        slots[4] = ++state->last_object;
        return ALLOC_SLOTS;
    }
    slots[2] = words[0] >> STEP_LIVE_KIND_BITS & ((UINT64_C(1) << STEP_LIVE_METHOD_BITS) - 1);
    slots[3] = 0; /* the object of an entry; of an exit, it is written over */
    return kind == STEP_LIVE_ENTRY_SHORT ? ENTRY_SLOTS : EXIT_SLOTS;
}

/*
 * Takes the run of such records that stands at `words`, while nothing waits in a constructor's
 * window; returns how many words that is.  What it does is what take_record() would do.
 */
static size_t take_run(struct live_decoder *decoder, uint64_t stream, struct stream_state *state,
                       const uint64_t *words, size_t count, enum step_status *status)
{
    struct step_run run;
    if (!decoder->has_runs || (state->window != NULL && window_is_open(state->window)) ||
        state->next_record < state->resumed)
        return 0;
    *status = step_writer_begin_run(decoder->writer, stream, &run);
    if (*status != STEP_STATUS_OK)
        return 0;
    uint64_t *slots = run.slots;
    size_t records = 0, taken = 0;
    while (records < run.most && taken < count) {
        uint32_t kind = (uint32_t) (words[taken] & ((1u << STEP_LIVE_KIND_BITS) - 1));
        uint32_t type = common[kind];
        if (type == 0 || (kind == STEP_LIVE_ALLOC_NEXT && (state->stack != 0 || count - taken < 2)))
            break;
        slots += put_common(decoder, state, kind, words + taken, slots);
        run.types[records++] = (uint16_t) (type - 1);
        taken += rows[kind].fixed_words;
    }
    state->next_record += records;
    *status = step_writer_end_run(decoder->writer, records, (size_t) (slots - run.slots));
    return taken;
}

enum step_status live_decoder_words(struct live_decoder *decoder, uint64_t stream,
                                    const uint64_t *words, size_t count, size_t *consumed,
                                    struct step_error *error)
{
    struct stream_state *state = stream_at(decoder, stream);
    *consumed = 0;
    if (state == NULL)
        return step_error_set(error, STEP_STATUS_CORRUPT, NULL, STEP_NO_OFFSET,
                              "stream number %llu is out of range", (unsigned long long) stream);
    while (*consumed < count) {
        enum step_status status = STEP_STATUS_OK;
        size_t run = 0;
        if (common[words[*consumed] & ((1u << STEP_LIVE_KIND_BITS) - 1)] != 0)
            run = take_run(decoder, stream, state, words + *consumed, count - *consumed, &status);
        *consumed += run;
        if (run > 0 && status == STEP_STATUS_OK)
            continue;
        size_t whole = *consumed < count ? record_words(words + *consumed, count - *consumed) : 1;
        if (whole == 0)
            break;
        if (whole == SIZE_MAX)
            return step_error_set(error, STEP_STATUS_CORRUPT, NULL, STEP_NO_OFFSET,
                                  "no raw record starts with %016llx",
                                  (unsigned long long) words[*consumed]);
        if (status == STEP_STATUS_OK)
            status = take_record(decoder, stream, state, words + *consumed, count - *consumed);
        if (status != STEP_STATUS_OK)
            return step_error_set(error, status, NULL, STEP_NO_OFFSET,
                                  "a raw record could not be taken: %s", step_status_text(status));
        *consumed += whole;
    }
    return STEP_STATUS_OK;
}

static enum step_status close_all_windows(struct live_decoder *decoder)
{
    enum step_status status = STEP_STATUS_OK;
    for (size_t i = 0; i < decoder->stream_count && status == STEP_STATUS_OK; i++) {
        struct raw raw = {.decoder = decoder, .state = &decoder->streams[i], .stream = i};
        status = close_window(&raw);
    }
    return status;
}

enum step_status live_decoder_finish(struct live_decoder *decoder, uint64_t stamp)
{
    enum step_status status = close_all_windows(decoder);
    if (status != STEP_STATUS_OK)
        return status;
    if (decoder->frees.count == 0)
        return STEP_STATUS_OK;
    struct stream_state *state = stream_at(decoder, STEP_LIVE_STREAM_FREES);
    if (state == NULL)
        return STEP_STATUS_NO_MEMORY;
    uint64_t ticks = later_ticks(decoder, state, stamp);
    return put_frees(decoder, state, ticks > decoder->max_ticks ? ticks : decoder->max_ticks);
}
