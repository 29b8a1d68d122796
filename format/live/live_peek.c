/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the records of a running program that are not in its trace yet.
 *
 * The program goes on writing while its chunks are read.  A chunk is copied and then looked at
 * again: if stream and order are the same and its end has not moved back, it was not handed on
 * meanwhile, and the words below the end that was read first were whole all the time
 * (live_peek_is_same()). Otherwise the chunk is left out: its records are in the trace file by
 * then, or in the next look. The file's lock is ignored, and no state is kept from one look to the
 * next.
 */
#include <stdlib.h>

#include "format/live/live_allocs.h"
#include "format/live/live_file.h"
#include "format/live/live_records.h"

struct peek {
    const struct step_live_look *look;
    struct live_file file;
    struct step_live_header clock;
    uint64_t *words; /* content of a chunk */
    size_t capacity;
    bool is_java; /* otherwise a native program */
};

static int live_peek_by_place(const void *left, const void *right)
{
    const struct found_chunk *a = left, *b = right;
    if (a->head.stream != b->head.stream)
        return a->head.stream < b->head.stream ? -1 : 1;
    return (a->head.order > b->head.order) - (a->head.order < b->head.order);
}

/* Keeps only the chunks with records that the trace lacks.  A chunk of which the next one of its
 * stream begins with a record that the trace has is done.  Chunks of the global stream are all
 * kept: their definitions are needed, whatever the trace has of their events. */
static void choose_chunks(struct peek *peek)
{
    struct live_file *file = &peek->file;
    size_t kept = 0;
    if (file->count > 1)
        qsort(file->chunks, file->count, sizeof *file->chunks, live_peek_by_place);
    for (size_t i = 0; i < file->count; i++) {
        const struct found_chunk *chunk = &file->chunks[i];
        bool is_last = i + 1 == file->count || chunk[1].head.stream != chunk->head.stream;
        if (!is_last && chunk->head.stream != STEP_LIVE_STREAM_GLOBAL &&
            chunk[1].head.first_record <= peek->look->written(peek->look->user, chunk->head.stream))
            continue;
        file->chunks[kept++] = *chunk;
    }
    file->count = kept;
}

static struct step_bytes live_peek_text_at(const uint64_t *words, uint64_t offset, uint64_t length)
{
    return (struct step_bytes){(const uint8_t *) words + offset, (size_t) length};
}

/* live_record_words() has checked that it is complete. */
static void visit_entry(const struct peek *peek, const uint64_t *words)
{
    struct step_live_entry entry = {.kind = live_kind(words[0]),
                                    .number = words[0] >> STEP_LIVE_KIND_BITS};
    switch (entry.kind) {
    case STEP_LIVE_DEFINE_CLASS:
        entry.loader = words[1];
        entry.name = live_peek_text_at(&words[3], 0, words[2]);
        break;
    case STEP_LIVE_DEFINE_METHOD:
        if (words[2] > UINT32_MAX &&
            words[2] != STEP_LIVE_IS_PHASE_NAME) /* of another dictionary */
            return;
        entry.class_ = words[1];
        entry.modifiers = words[2];
        entry.name = live_peek_text_at(&words[4], 0, words[3] & UINT32_MAX);
        entry.descriptor = live_peek_text_at(&words[4], words[3] & UINT32_MAX, words[3] >> 32);
        break;
    case STEP_LIVE_DEFINE_THREAD:
        entry.flags = words[1];
        entry.name = live_peek_text_at(&words[3], 0, words[2]);
        break;
    case STEP_LIVE_DEFINE_FRAME:
        entry.parent = words[1] & UINT32_MAX;
        entry.method = words[1] >> 32;
        entry.line = words[2] & UINT32_MAX;
        entry.bytecode = words[2] >> 32;
        break;
    default:
        return;
    }
    peek->look->define(peek->look->user, &entry);
}

/* State of a chunk that affects later records. */
struct chunk_state {
    struct step_live_event event;
    uint64_t stamp, last_object;
};

static void live_peek_take_alloc(struct chunk_state *state, const uint64_t *words, uint32_t kind)
{
    struct step_live_event *event = &state->event;
    event->kind = kind == STEP_LIVE_EXISTING ? STEP_LIVE_EXISTING : STEP_LIVE_ALLOC;
    event->class_ = step_live_alloc_class(words[1]);
    event->size = step_live_alloc_size(words[1]);
    if (kind == STEP_LIVE_ALLOC_NEXT)
        state->last_object++;
    else
        event->object = words[2];
    if (kind == STEP_LIVE_ALLOC)
        state->last_object = words[2];
    if (kind != STEP_LIVE_EXISTING)
        event->object = state->last_object;
}

static void take_stamp(const struct peek *peek, struct chunk_state *state, uint64_t word,
                       bool is_short)
{
    uint64_t payload = word >> STEP_LIVE_KIND_BITS;
    if (!is_short)
        state->stamp = payload;
    else if (payload >> STEP_LIVE_METHOD_BITS !=
             STEP_LIVE_PAST_SPARED) /* else: the last stamp's time */
        state->stamp += payload >> STEP_LIVE_METHOD_BITS;
    state->event.ticks = live_stamp_ns(&peek->clock, state->stamp) / peek->clock.resolution_ns;
}

/* live_record_words() has checked that it has its length. */
static void take_fact(struct step_live_event *event, const uint64_t *words)
{
    if (words[1] == STEP_LIVE_PHASE && words[2] >= STEP_LIVE_PHASE_BYTES) {
        event->kind = STEP_LIVE_FACT;
        event->method = words[3];
        event->object = words[4];
    } else if (words[1] == STEP_LIVE_SAMPLED && words[2] >= STEP_LIVE_SAMPLED_BYTES) {
        event->kind = STEP_LIVE_ALLOC;
        event->class_ = step_live_alloc_class(words[3]);
        event->size = step_live_alloc_size(words[3]);
        event->object = words[4];
        event->interval = words[5];
    } else if (words[1] == STEP_LIVE_GIVEN_UP) {
        event->kind = STEP_LIVE_FACT;
        event->gave_up = true;
    }
}

static void live_peek_take_event(const struct peek *peek, struct chunk_state *state,
                                 const uint64_t *words)
{
    uint32_t kind = live_kind(words[0]);
    uint64_t payload = words[0] >> STEP_LIVE_KIND_BITS;
    struct step_live_event *event = &state->event;
    bool is_short = kind == STEP_LIVE_ENTRY_SHORT || kind == STEP_LIVE_EXIT_SHORT ||
                    kind == STEP_LIVE_FRAME_POP_SHORT || kind == STEP_LIVE_ENTRY_NEW_SHORT;
    event->kind = STEP_LIVE_NONE;
    event->object = event->interval = 0;
    event->gave_up = false;
    if (kind != STEP_LIVE_FREE_OBJECT)
        take_stamp(peek, state, words[0], is_short);
    switch (kind) {
    case STEP_LIVE_ALLOC:
    case STEP_LIVE_ALLOC_NEXT:
    case STEP_LIVE_EXISTING:
        live_peek_take_alloc(state, words, kind);
        break;
    case STEP_LIVE_FREE_OBJECT:
        if ((payload & STEP_LIVE_IS_EARLIER) == 0)
            event->kind = STEP_LIVE_FREE_OBJECT;
        event->object = step_live_freed_object(payload);
        break;
    case STEP_LIVE_ENTRY:
    case STEP_LIVE_ENTRY_NEW:
        event->kind = STEP_LIVE_ENTRY;
        event->method = words[1];
        break;
    case STEP_LIVE_ENTRY_SHORT:
    case STEP_LIVE_ENTRY_NEW_SHORT:
        event->kind = STEP_LIVE_ENTRY;
        event->method = payload & ((UINT64_C(1) << STEP_LIVE_METHOD_BITS) - 1);
        break;
    case STEP_LIVE_FACT:
        take_fact(event, words);
        break;
    default:
        break;
    }
}

/* The same for an event record of a native program. */
static void take_heap_event(const struct peek *peek, struct chunk_state *state,
                            const uint64_t *words)
{
    struct step_live_event *event = &state->event;
    uint32_t kind = live_kind(words[0]);
    take_stamp(peek, state, words[0], false);
    event->kind = kind == STEP_LIVE_HEAP_ALLOC  ? STEP_LIVE_ALLOC
                  : kind == STEP_LIVE_HEAP_FREE ? STEP_LIVE_FREE_OBJECT
                  : kind == STEP_LIVE_HEAP_REALLOC && words[2] == words[3] && words[2] != 0
                      ? (uint32_t) STEP_LIVE_HEAP_REALLOC
                      : (uint32_t) STEP_LIVE_NONE;
    event->class_ = words[1] >> STEP_LIVE_HEAP_CALL_SHIFT;
    event->size = words[1] & ((UINT64_C(1) << STEP_LIVE_HEAP_ALIGNMENT_SHIFT) - 1);
    event->object = kind == STEP_LIVE_HEAP_ALLOC || kind == STEP_LIVE_HEAP_REALLOC
                        ? words[2]
                        : words[1] & ((UINT64_C(1) << STEP_LIVE_HEAP_CALL_SHIFT) - 1);
}

/* Takes a record that is no event. */
static void take_other(const struct peek *peek, struct chunk_state *state, const uint64_t *words)
{
    uint64_t payload = words[0] >> STEP_LIVE_KIND_BITS;
    if (live_kind(words[0]) == STEP_LIVE_THREAD_SWITCH)
        state->event.thread = payload;
    else if (peek->is_java && live_kind(words[0]) == STEP_LIVE_STACK)
        state->event.stack = payload;
    else if (peek->is_java)
        visit_entry(peek, words);
}

static void visit_words(struct peek *peek, const struct found_chunk *chunk, size_t count)
{
    const struct step_live_look *look = peek->look;
    uint64_t written = look->written(look->user, chunk->head.stream),
             number = chunk->head.first_record;
    struct chunk_state state = {
        .event = {.stream = chunk->head.stream, .thread = chunk->head.thread}};
    state.event.ticks =
        live_stamp_ns(&peek->clock, peek->file.header.free_stamp) / peek->clock.resolution_ns;
    for (size_t at = 0, length; at < count; at += length) {
        const uint64_t *words = peek->words + at;
        length = peek->is_java ? live_record_words(words, count - at)
                               : live_allocs_record_words(words[0]);
        if (length == 0 || length > count - at)
            break;
        if (peek->is_java ? !live_record_is_event(words[0])
                          : length == 1 || live_kind(words[0]) == STEP_LIVE_HEAP_FRAME) {
            take_other(peek, &state, words);
            continue;
        }
        uint64_t objects = 1;
        if (peek->is_java) {
            live_peek_take_event(peek, &state, words);
            if (live_kind(words[0]) == STEP_LIVE_FREE_OBJECT)
                objects = step_live_freed_count(words[0] >> STEP_LIVE_KIND_BITS);
        } else {
            take_heap_event(peek, &state, words);
            state.event.method = number;
        }
        for (; objects != 0; objects--, state.event.object++)
            if (number++ >= written)
                look->visit(look->user, &state.event);
    }
}

/* Returns true if the chunk is unchanged since its header was read. */
static bool live_peek_is_same(struct peek *peek, const struct found_chunk *chunk)
{
    struct step_live_chunk now;
    return live_file_read(&peek->file, chunk->offset, &now, sizeof now) &&
           now.state != STEP_LIVE_FREE && now.stream == chunk->head.stream &&
           now.order == chunk->head.order && now.used >= chunk->head.used;
}

static enum step_status visit_chunk(struct peek *peek, const struct found_chunk *chunk)
{
    size_t bytes = (size_t) chunk->head.used;
    if (bytes > peek->capacity) {
        free(peek->words);
        peek->words = malloc(bytes);
        peek->capacity = peek->words != NULL ? bytes : 0;
        if (peek->words == NULL)
            return step_error_set(peek->file.error, STEP_STATUS_NO_MEMORY, peek->file.path,
                                  chunk->offset, "out of memory");
    }
    if (live_file_read(&peek->file, chunk->offset + sizeof(struct step_live_chunk), peek->words,
                       bytes) &&
        live_peek_is_same(peek, chunk))
        visit_words(peek, chunk, bytes / sizeof *peek->words);
    return STEP_STATUS_OK;
}

enum step_status step_live_peek(const char *path, const struct step_live_look *look,
                                uint64_t *dropped, struct step_error *error)
{
    struct peek peek = {.look = look, .file = {.path = path, .descriptor = -1, .error = error}};
    *dropped = 0;
    enum step_status status = live_file_open(&peek.file);
    if (status == STEP_STATUS_OK)
        status = live_file_find_chunks(&peek.file);
    if (status == STEP_STATUS_OK) {
        *dropped = peek.file.header.dropped;
        peek.is_java = peek.file.header.definition == STEP_LIVE_DEFINITION_JAVA;
        peek.clock = live_clock(&peek.file.header);
        choose_chunks(&peek);
    }
    for (size_t i = 0; i < peek.file.count && status == STEP_STATUS_OK; i++)
        status = visit_chunk(&peek, &peek.file.chunks[i]);
    free(peek.words);
    live_file_close(&peek.file);
    return status;
}
