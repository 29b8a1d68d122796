/* SPDX-License-Identifier: Apache-2.0 */
/* Writes raw records of probes to their thread's stream. */
#ifndef AGENT_RECORDS_PUT_RECORD_H
#define AGENT_RECORDS_PUT_RECORD_H

#include "agent/records/threads.h"

/* Reserves room for an event of the thread. Writes a record with the thread's number first if the
 * stream's current thread is another.
 *
 * Room for both is reserved at once, so that both are in one chunk and either both or none of them
 * is dropped. A chunk that is begun for them has the stream's former thread in its header
 * (begin_chunk()), so it can be decoded without the chunk before it. */
static inline uint64_t *reserve_event(struct session *session, struct live_stream *stream,
                                      uint64_t thread, size_t words)
{
    if (__builtin_expect(stream->thread == thread, 1))
        return live_reserve(session->map, stream, words);
    uint64_t *room = live_reserve(session->map, stream, words + 1);
    if (room == NULL)
        return NULL;
    room[0] = live_word(STEP_LIVE_THREAD_SWITCH, thread);
    stream->thread = thread;
    stream->stamp_due = 0; /* the last stamp is another thread's */
    live_commit(stream, 1, 0);
    return room + 1;
}

/* Same for an allocation with the call stack `stack`. */
static inline uint64_t *reserve_alloc(struct session *session, struct live_stream *stream,
                                      uint64_t thread, uint64_t stack, size_t words)
{
    uint64_t *room = reserve_event(session, stream, thread, words + 1);
    if (room == NULL || __builtin_expect(stream->stack == stack, 1))
        return room;
    room[0] = live_word(STEP_LIVE_STACK, stack);
    stream->stack = stack;
    live_commit(stream, 1, 0);
    return room + 1;
}

/* Writes a record of a reference. `stamp`: 0 is now; `more`: the fourth word, of kinds that have
 * one. Returns false if there is no room. */
static inline bool write_reference(struct session *session, struct live_stream *stream,
                                   uint64_t thread, uint64_t stamp, enum step_live_reference kind,
                                   const uint64_t of[2], uint64_t number, uint64_t more)
{
    size_t words = kind >= STEP_LIVE_RANGE_STORE ? 4 : 3;
    uint64_t *room = reserve_event(session, stream, thread, words);
    if (room == NULL)
        return false;
    stream->base_stamp = stamp != 0 ? stamp : naming_stamp(session, stream);
    room[0] = live_word(STEP_LIVE_REFERENCE, stream->base_stamp);
    step_live_reference_words(room, kind, of[0], of[1], number);
    if (words == 4)
        room[3] = more;
    live_commit(stream, words, 1);
    return true;
}

/* `used_bytes`: the size, or with layout=yes that without the bytes after an array's elements. */
static inline uint64_t alloc_word(const struct session *session, uint64_t class,
                                  uint64_t used_bytes)
{
    uint64_t padding = -used_bytes & session->padding_mask;
    return step_live_alloc_word(class, padding, used_bytes + padding);
}

/* Most objects of a stream have the id after the last one's: then the id takes no word. */
static inline void write_alloc_at(const struct session *session, uint64_t stamp,
                                  struct live_stream *stream, uint64_t *room, uint64_t class,
                                  uint64_t used_bytes, uint64_t object, bool existing)
{
    stream->base_stamp = stamp;
    room[1] = alloc_word(session, class, used_bytes);
    if (!existing && object == stream->last_object + 1 && object != 1) {
        room[0] = live_word(STEP_LIVE_ALLOC_NEXT, stamp);
        stream->last_object = object;
        live_commit(stream, 2, 1);
        return;
    }
    room[0] = live_word(existing ? STEP_LIVE_EXISTING : STEP_LIVE_ALLOC, stamp);
    room[2] = object;
    if (!existing)
        stream->last_object = object;
    live_commit(stream, 3, 1);
}

/* Writes the short form of a method event: one word, with the time since the last stamp. Returns
 * false if the values do not fit.
 *
 * The base is the last stamp in this chunk, so each chunk can be decoded alone; it is 0 at a
 * chunk's start, which forces the long form there. 27 bits of the method and 32 of the time are
 * what is left beside the kind: at 3 GHz the time covers 1.4 s. Most traces of methods consist of
 * such words, so their size decides how far the ring reaches and how fast the drain is. */
static inline bool write_short_at(uint64_t stamp, struct live_stream *stream, uint64_t *room,
                                  enum step_live_kind kind, uint64_t method)
{
    uint64_t past = stamp - stream->base_stamp;
    if (__builtin_expect(stream->base_stamp == 0 || past >= STEP_LIVE_PAST_SPARED ||
                             method >> STEP_LIVE_METHOD_BITS != 0,
                         0)) {
        stream->stamp_due = 0; /* this stamp is not written: no event may rely on it */
        return false;
    }
    room[0] = live_word(kind, method | past << STEP_LIVE_METHOD_BITS);
    stream->base_stamp = stamp;
    live_commit(stream, 1, 1);
    return true;
}

/* Same without a stamp. */
static inline bool write_spared(struct live_stream *stream, uint64_t *room,
                                enum step_live_kind kind, uint64_t method)
{
    if (__builtin_expect(method >> STEP_LIVE_METHOD_BITS != 0, 0))
        return false;
    room[0] = live_word(kind, method | STEP_LIVE_PAST_SPARED << STEP_LIVE_METHOD_BITS);
    live_commit(stream, 1, 1);
    return true;
}

/* Writes the long form, with an object if the kind has one. */
static inline void write_event(struct session *session, struct live_stream *stream, uint64_t *room,
                               enum step_live_kind kind, uint64_t method, uint64_t object)
{
    stream->base_stamp = thread_stamp(session, stream);
    room[0] = live_word(kind, stream->base_stamp);
    room[1] = method;
    if (kind == STEP_LIVE_ENTRY)
        room[2] = object;
    live_commit(stream, kind == STEP_LIVE_ENTRY ? 3 : 2, 1);
}

static inline bool push_frame(struct java_thread *java, struct method_frame frame)
{
    if (__builtin_expect(java->depth == java->capacity, 0) && !thread_grow_frames(java))
        return false;
    java->frames[java->depth++] = frame;
    return true;
}

#endif
