/* SPDX-License-Identifier: Apache-2.0 */
/* The table of streams of a live file, and the window of records that wait for a constructor's
 * object. */
#include "format/live/live_streams.h"

#include <stdlib.h>
#include <string.h>

#include "format/core/grow.h"

/* Records that wait longer are written without their object, so that memory stays bounded: a
 * constructor may run the whole program. */
#define EVENTS_LIMIT 65536u

struct span {
    uint64_t start, end;
};

struct constructor_window {
    bool open;
    bool crosses; /* the window extends over several chunks */
    uint64_t first_number;
    struct window_event *events;
    size_t count, capacity;
    size_t last_alloc; /* index of the last allocation for which an entry was found */
    /* closed windows over several chunks, whose records are not all written yet */
    struct span *spans;
    size_t span_count, span_capacity;
};

struct constructor_window *window_create(void)
{
    return calloc(1, sizeof(struct constructor_window));
}

static void window_destroy(struct constructor_window *window)
{
    if (window == NULL)
        return;
    free(window->events);
    free(window->spans);
    free(window);
}

bool window_is_open(const struct constructor_window *window)
{
    return window->open;
}

void window_open(struct constructor_window *window, uint64_t number)
{
    if (window->open)
        return;
    window->open = true;
    window->crosses = false;
    window->first_number = number;
    window->count = 0;
    window->last_alloc = 0;
}

enum step_status window_add(struct constructor_window *window, const struct window_event *event,
                            window_put *put, void *context)
{
    if (!STEP_MAKE_ROOM(window->events, window->capacity, window->count + 1))
        return STEP_STATUS_NO_MEMORY;
    window->events[window->count++] = *event;
    return window->count >= EVENTS_LIMIT ? window_close(window, put, context) : STEP_STATUS_OK;
}

static bool is_alloc_of(const struct window_event *event, uint64_t object)
{
    return (event->kind == STEP_LIVE_ALLOC || event->kind == STEP_LIVE_EXISTING) &&
           event->object == object;
}

/* Constructors of one object return from the innermost outwards, so the next call usually asks for
 * the same object.  Otherwise it is searched backwards from the newest. */
static struct window_event *find_alloc(struct constructor_window *window, size_t from,
                                       uint64_t object)
{
    if (window->last_alloc > from && window->last_alloc < window->count &&
        is_alloc_of(&window->events[window->last_alloc], object))
        return &window->events[window->last_alloc];
    for (size_t i = window->count; i-- > from;) {
        if (is_alloc_of(&window->events[i], object)) {
            window->last_alloc = i;
            return &window->events[i];
        }
    }
    return NULL;
}

/* The entry is found by its distance, counted in event records, which the probe knows.  An
 * object has an entry for each constructor in its chain of superclasses, and they report from
 * the innermost outwards: the last partner is the outermost entry, before which the allocation
 * belongs. */
void window_construct(struct constructor_window *window, uint64_t distance, uint64_t object)
{
    if (!window->open || distance == 0 || distance > window->count || object == 0)
        return;
    size_t place = window->count - (size_t) distance;
    struct window_event *entry = &window->events[place];
    if (entry->kind != STEP_LIVE_ENTRY)
        return;
    entry->object = object;
    struct window_event *alloc = find_alloc(window, place + 1, object);
    if (alloc == NULL)
        return;
    if (alloc->partner != 0)
        window->events[alloc->partner - 1].partner = 0;
    alloc->partner = place + 1;
    entry->partner = (size_t) (alloc - window->events) + 1;
}

static enum step_status note_span(struct constructor_window *window)
{
    if (!window->crosses)
        return STEP_STATUS_OK;
    if (!STEP_MAKE_ROOM(window->spans, window->span_capacity, window->span_count + 1))
        return STEP_STATUS_NO_MEMORY;
    window->spans[window->span_count++] =
        (struct span){window->first_number, window->first_number + window->count};
    return STEP_STATUS_OK;
}

/* Writes the events in their new order, and numbers them in that order.  Their set is the same as
 * before, so the numbers after the window are not moved by it; that is why only the window as a
 * whole is settled. */
enum step_status window_close(struct constructor_window *window, window_put *put, void *context)
{
    if (!window->open)
        return STEP_STATUS_OK;
    window->open = false;
    enum step_status status = note_span(window);
    uint64_t number = window->first_number;
    for (size_t i = 0; i < window->count && status == STEP_STATUS_OK; i++) {
        struct window_event *event = &window->events[i];
        if (event->kind == STEP_LIVE_ENTRY && event->partner != 0) {
            struct window_event *alloc = &window->events[event->partner - 1];
            alloc->ticks = event->ticks;
            alloc->is_put = true;
            status = put(context, number++, alloc);
        }
        if (!event->is_put && status == STEP_STATUS_OK)
            status = put(context, number++, event);
    }
    window->count = 0;
    return status;
}

/* Call when the stream continues in another chunk. */
static void window_cross_chunks(struct constructor_window *window)
{
    window->crosses = window->crosses || window->open;
}

/* A window within one chunk is written before the chunk can be given back.  One over several chunks
 * may be written in part when its first chunk is looked at: its span says that nothing of it is
 * final before all is. */
uint64_t window_settled(struct constructor_window *window, uint64_t written)
{
    size_t passed = 0;
    while (passed < window->span_count && window->spans[passed].end <= written)
        passed++;
    window->span_count -= passed;
    if (passed != 0)
        memmove(window->spans, window->spans + passed, window->span_count * sizeof *window->spans);
    if (window->span_count != 0 && window->spans[0].start < written)
        return window->spans[0].start;
    return written;
}

#define STREAM_LIMIT (UINT64_C(1) << 24)
#define PAGE_STREAMS 64u

struct stream_state *live_streams_find(const struct live_streams *streams, uint64_t stream)
{
    uint64_t page = stream / PAGE_STREAMS;
    return page < streams->page_count && streams->pages[page] != NULL
               ? &streams->pages[page][stream % PAGE_STREAMS]
               : NULL;
}

uint64_t live_streams_end(const struct live_streams *streams)
{
    return (uint64_t) streams->page_count * PAGE_STREAMS;
}

void live_streams_init(struct live_streams *streams, const struct step_live_header *clock,
                       struct step_writer *writer)
{
    *streams = (struct live_streams){.clock = live_clock(clock), .writer = writer};
}

void live_streams_reset(struct live_streams *streams)
{
    for (uint64_t i = 0; i < live_streams_end(streams); i++) {
        struct stream_state *state = live_streams_find(streams, i);
        if (state != NULL)
            window_destroy(state->window);
    }
    for (size_t i = 0; i < streams->page_count; i++)
        free(streams->pages[i]);
    free(streams->pages);
    *streams = (struct live_streams){0};
}

/* The number of records that the trace file has of the stream is asked once, before any is added:
 * in recovery that is where the file ends. */
struct stream_state *live_streams_at(struct live_streams *streams, uint64_t stream)
{
    struct stream_state *found = live_streams_find(streams, stream);
    size_t page = (size_t) (stream / PAGE_STREAMS);
    if (found != NULL)
        return found;
    if (stream >= STREAM_LIMIT ||
        !STEP_MAKE_ZEROED_ROOM(streams->pages, streams->page_count, page + 1))
        return NULL;
    struct stream_state *states = calloc(PAGE_STREAMS, sizeof *states);
    if (states == NULL)
        return NULL;
    for (size_t i = 0; i < PAGE_STREAMS; i++)
        states[i].resumed =
            step_writer_put_count(streams->writer, (uint64_t) page * PAGE_STREAMS + i);
    streams->pages[page] = states;
    return &states[stream % PAGE_STREAMS];
}

struct stream_state *live_streams_open(struct live_streams *streams, uint64_t stream,
                                       struct step_error *error)
{
    struct stream_state *state = live_streams_at(streams, stream);
    if (state == NULL)
        step_error_set(error, STEP_STATUS_CORRUPT, NULL, STEP_NO_OFFSET,
                       "stream number %llu is out of range", (unsigned long long) stream);
    return state;
}

enum step_status live_streams_no_record(uint64_t word, struct step_error *error)
{
    return step_error_set(error, STEP_STATUS_CORRUPT, NULL, STEP_NO_OFFSET,
                          "no raw record starts with %016llx", (unsigned long long) word);
}

enum step_status live_streams_not_taken(enum step_status status, struct step_error *error)
{
    return step_error_set(error, status, NULL, STEP_NO_OFFSET,
                          "a raw record could not be taken: %s", step_status_text(status));
}

/* Nothing but the window passes from chunk to chunk: chunks say their thread and their first number
 * themselves, and begin with a full stamp, no stack and no last object.  So a lost chunk costs its
 * own records only. */
enum step_status live_streams_begin(void *decoder, uint64_t stream, uint64_t first_record,
                                    uint64_t thread)
{
    struct stream_state *state = live_streams_at(decoder, stream);
    if (state == NULL)
        return STEP_STATUS_LIMIT;
    state->next_record = first_record;
    state->thread = thread;
    state->last_object = 0;
    state->last_stamp = 0;
    state->between.left = 0;
    if (state->window != NULL)
        window_cross_chunks(state->window);
    state->stack = 0;
    return STEP_STATUS_OK;
}

uint64_t live_streams_next_record(void *decoder, uint64_t stream)
{
    const struct stream_state *state = live_streams_find(decoder, stream);
    return state != NULL ? state->next_record : 0;
}

uint64_t live_streams_latest(const struct live_streams *streams)
{
    uint64_t latest = 0;
    for (uint64_t i = 0; i < live_streams_end(streams); i++) {
        const struct stream_state *state = live_streams_find(streams, i);
        if (state != NULL && state->last_ticks > latest)
            latest = state->last_ticks;
    }
    return latest;
}

/* The header is untrusted: a resolution of 0 would be divided by, and a shift of 64 or more is
 * undefined in C. */
struct step_live_header live_clock(const struct step_live_header *header)
{
    struct step_live_header clock;
    memcpy(&clock, header, sizeof clock);
    if (clock.resolution_ns == 0)
        clock.resolution_ns = 1;
    clock.clock_shift &= 63;
    return clock;
}
