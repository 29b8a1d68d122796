/* SPDX-License-Identifier: Apache-2.0 */
/* Decodes raw records of threads: events, and changes of the decoder's state. */
#include "format/live/live_records.h"
#include "steptrace/java_trace.h"

/* ---- slots, in the order of format/definitions/java.step, which live_recover.c checks ---- */

/* Events with a time, a thread, and at most a class.  Starts of threads name the started thread,
 * whichever thread wrote the record. */
enum step_status live_take_plain(const struct raw *raw)
{
    static const uint32_t records[] = {[STEP_LIVE_VM_START] = STEP_JAVA_VM_START,
                                       [STEP_LIVE_VM_INIT] = STEP_JAVA_VM_INIT,
                                       [STEP_LIVE_VM_DEATH] = STEP_JAVA_VM_DEATH,
                                       [STEP_LIVE_CLASS_LOAD] = STEP_JAVA_CLASS_LOAD,
                                       [STEP_LIVE_CLASS_EXISTING] = STEP_JAVA_CLASS_EXISTING,
                                       [STEP_LIVE_THREAD_START] = STEP_JAVA_THREAD_START,
                                       [STEP_LIVE_THREAD_EXISTING] = STEP_JAVA_THREAD_EXISTING};
    uint32_t kind = live_kind(raw->words[0]);
    uint64_t named = kind >= STEP_LIVE_CLASS_LOAD ? raw->words[1] : 0;
    const uint64_t slots[] = {raw->ticks,
                              kind >= STEP_LIVE_THREAD_START ? named : raw->state->thread, named};
    return step_writer_put(raw->decoder->streams.writer, raw->stream, records[kind], slots);
}

static enum step_status live_events_put_object(struct live_decoder *decoder, uint64_t stream,
                                               const struct window_event *from)
{
    uint32_t record = from->kind == STEP_LIVE_EXISTING ? STEP_JAVA_OBJECT_EXISTING
                      : from->stack != 0               ? STEP_JAVA_OBJECT_ALLOC_AT
                                                       : STEP_JAVA_OBJECT_ALLOC;
    const uint64_t slots[] = {from->ticks,
                              from->thread,
                              step_live_alloc_class(from->name),
                              step_live_alloc_size(from->name),
                              from->object,
                              step_live_alloc_padding(from->name),
                              from->stack}; /* of OBJECT_ALLOC_AT alone */
    if (from->kind == STEP_LIVE_ALLOC)
        live_add_bytes(decoder, from->thread, step_live_alloc_size(from->name));
    return step_writer_put(decoder->streams.writer, stream, record, slots);
}

static enum step_status live_events_put_phase(struct live_decoder *decoder, uint64_t stream,
                                              const struct window_event *from)
{
    const uint64_t slots[] = {from->ticks, from->thread, from->name, from->object >> 32,
                              (from->object & STEP_LIVE_PHASE_OF_PROGRAM) != 0};
    bool ends = (from->object & STEP_LIVE_PHASE_ENDS) != 0;
    return step_writer_put(decoder->streams.writer, stream,
                           ends ? STEP_JAVA_PHASE_END : STEP_JAVA_PHASE_BEGIN, slots);
}

/* Writes an event of a thread's stream under its number among the stream's records. */
static enum step_status live_events_put(struct live_decoder *decoder, struct stream_state *state,
                                        uint64_t stream, uint64_t number,
                                        const struct window_event *from)
{
    if (number < state->resumed)
        return STEP_STATUS_OK;
    const uint64_t slots[] = {from->ticks, from->thread, from->name, from->object};
    switch (from->kind) {
    case STEP_LIVE_ALLOC:
    case STEP_LIVE_EXISTING:
        return live_events_put_object(decoder, stream, from);
    case STEP_LIVE_ENTRY:
        return step_writer_put(decoder->streams.writer, stream, STEP_JAVA_METHOD_ENTRY, slots);
    case STEP_LIVE_EXIT:
        return step_writer_put(decoder->streams.writer, stream, STEP_JAVA_METHOD_EXIT, slots);
    case STEP_LIVE_FRAME_POP:
        return step_writer_put(decoder->streams.writer, stream, STEP_JAVA_FRAME_POP, slots);
    case STEP_LIVE_REFERENCE:
        return live_put_reference(decoder, stream, from);
    case STEP_LIVE_FACT:
        return live_events_put_phase(decoder, stream, from);
    default: /* the thread that ends */
        return step_writer_put(decoder->streams.writer, stream, STEP_JAVA_THREAD_END,
                               (const uint64_t[]){from->ticks, from->name});
    }
}

static enum step_status put_window_event(void *context, uint64_t number,
                                         const struct window_event *event)
{
    const struct raw *raw = context;
    return live_events_put(raw->decoder, raw->state, raw->stream, number, event);
}

static enum step_status put_or_wait(const struct raw *raw, const struct window_event *event)
{
    struct raw context = *raw;
    if (raw->state->window == NULL || !window_is_open(raw->state->window))
        return live_events_put(raw->decoder, raw->state, raw->stream, raw->number, event);
    return window_add(raw->state->window, event, put_window_event, &context);
}

static enum step_status live_events_take(const struct raw *raw, enum step_live_kind kind,
                                         uint64_t name, uint64_t object)
{
    struct window_event event = {
        kind, raw->ticks, raw->state->thread, name, object, raw->state->stack, 0, false};
    return put_or_wait(raw, &event);
}

enum step_status live_take_reference(const struct raw *raw)
{
    bool more = live_reference_words(raw->words, raw->count) > 3;
    struct window_event event = {.kind = STEP_LIVE_REFERENCE,
                                 .ticks = raw->ticks,
                                 .thread = raw->state->thread,
                                 .name = raw->words[1],
                                 .object = raw->words[2],
                                 .stack = more ? raw->words[3] : 0};
    return put_or_wait(raw, &event);
}

enum step_status live_take_phase(const struct raw *raw)
{
    return live_events_take(raw, STEP_LIVE_FACT, raw->words[3], raw->words[4]);
}

/* engine=sampled has no constructors' windows. */
enum step_status live_take_sampled(const struct raw *raw)
{
    struct step_java_object_sampled event = {.time = raw->ticks,
                                             .thread = raw->state->thread,
                                             .class_ = step_live_alloc_class(raw->words[3]),
                                             .size = step_live_alloc_size(raw->words[3]),
                                             .object = raw->words[4],
                                             .stack = raw->state->stack,
                                             .interval = raw->words[5]};
    if (raw->number < raw->state->resumed)
        return STEP_STATUS_OK;
    return step_java_object_sampled_put(raw->decoder->streams.writer, raw->stream, &event);
}

/* What the raw records of a thread's events become, by kind. */
static const struct {
    uint8_t event; /* enum step_live_kind */
    bool is_short; /* the method is in word 0 */
    bool is_new;   /* it waits for its object */
} events[STEP_LIVE_KIND_COUNT] = {
    [STEP_LIVE_THREAD_END] = {STEP_LIVE_THREAD_END, false, false},
    [STEP_LIVE_ALLOC] = {STEP_LIVE_ALLOC, false, false},
    [STEP_LIVE_ALLOC_NEXT] = {STEP_LIVE_ALLOC, false, false},
    [STEP_LIVE_EXISTING] = {STEP_LIVE_EXISTING, false, false},
    [STEP_LIVE_ENTRY] = {STEP_LIVE_ENTRY, false, false},
    [STEP_LIVE_EXIT] = {STEP_LIVE_EXIT, false, false},
    [STEP_LIVE_FRAME_POP] = {STEP_LIVE_FRAME_POP, false, false},
    [STEP_LIVE_ENTRY_SHORT] = {STEP_LIVE_ENTRY, true, false},
    [STEP_LIVE_EXIT_SHORT] = {STEP_LIVE_EXIT, true, false},
    [STEP_LIVE_FRAME_POP_SHORT] = {STEP_LIVE_FRAME_POP, true, false},
    [STEP_LIVE_ENTRY_NEW] = {STEP_LIVE_ENTRY, false, true},
    [STEP_LIVE_ENTRY_NEW_SHORT] = {STEP_LIVE_ENTRY, true, true},
};

enum step_status live_take_event(const struct raw *raw)
{
    uint32_t kind = live_kind(raw->words[0]);
    uint64_t name = events[kind].is_short ? raw->words[0] >> STEP_LIVE_KIND_BITS &
                                                ((UINT64_C(1) << STEP_LIVE_METHOD_BITS) - 1)
                                          : raw->words[1];
    uint64_t object = 0;
    if (events[kind].event == STEP_LIVE_ALLOC)
        object = raw->state->last_object;
    else if (kind == STEP_LIVE_EXISTING || kind == STEP_LIVE_ENTRY)
        object = raw->words[2];
    if (events[kind].is_new) {
        if (raw->state->window == NULL && (raw->state->window = window_create()) == NULL)
            return STEP_STATUS_NO_MEMORY;
        window_open(raw->state->window, raw->number);
    }
    return live_events_take(raw, events[kind].event, name, object);
}

/* Writes the waiting records, with the objects known so far. */
enum step_status live_close_window(const struct raw *raw)
{
    struct raw context = *raw;
    return raw->state->window != NULL ? window_close(raw->state->window, put_window_event, &context)
                                      : STEP_STATUS_OK;
}

enum step_status live_take_constructed(const struct raw *raw)
{
    if (raw->state->window != NULL)
        window_construct(raw->state->window, raw->words[1] & INT64_MAX,
                         raw->words[0] >> STEP_LIVE_KIND_BITS);
    return raw->words[1] >> 63 != 0 ? live_close_window(raw) : STEP_STATUS_OK;
}

/* Waiting records belong to the previous thread, so they are written first: their constructors can
 * no longer return in this stream. */
enum step_status live_take_thread_switch(const struct raw *raw)
{
    enum step_status status = live_close_window(raw);
    if (status != STEP_STATUS_OK)
        return status;
    raw->state->thread = raw->words[0] >> STEP_LIVE_KIND_BITS;
    return STEP_STATUS_OK;
}

enum step_status live_take_stack(const struct raw *raw)
{
    raw->state->stack = raw->words[0] >> STEP_LIVE_KIND_BITS;
    return STEP_STATUS_OK;
}
