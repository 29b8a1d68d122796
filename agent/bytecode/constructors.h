/* SPDX-License-Identifier: Apache-2.0 */
/* Open constructors whose object is not known yet. A constructor's entry waits for its object.
 * Frames of one object are adjacent, each but the innermost in its super() or this(). If the object
 * does not come, or comes too late for readers of the trace, the frames get an id that is reserved
 * for it, and the class of the outermost constructor is the object's. */
#ifndef AGENT_BYTECODE_CONSTRUCTORS_H
#define AGENT_BYTECODE_CONSTRUCTORS_H

#include "agent/records/threads.h"

/* Bits of method_frame.pending above the number of the entry's record. */
#define FRAME_IN_SUPER (UINT64_C(1) << 63)
#define FRAME_OUTERMOST (UINT64_C(1) << 62) /* of its object, which is in `object` */
#define FRAME_RESERVED (UINT64_C(1) << 61)  /* the entry has an id reserved for its object */
#define FRAME_RECORD (FRAME_RESERVED - 1)

static inline bool frame_waits(const struct method_frame *frame)
{
    return (frame->pending & FRAME_RECORD) != 0 && (frame->pending & FRAME_RESERVED) == 0;
}

/* Call when an object got this id, or (constructor_take_reserved()) is about to get it. */
void constructor_made(struct java_thread *java, struct session *session, uint64_t class,
                      uint64_t object);
/* Returns the id that is reserved for the object of that class that is being created; 0: none. */
uint64_t constructor_take_reserved(struct java_thread *java, struct session *session,
                                   uint64_t class);
/* Returns the id that is reserved for the object of the constructor that is being entered; 0:
 * none. */
uint64_t constructor_reserved(struct session *session, const struct java_thread *java, JNIEnv *jni,
                              uint32_t number);
/* Assigns objects to all entries that have waited in the stream for long. */
void constructors_keep_window(struct session *session, struct os_thread *os, JNIEnv *jni,
                              struct java_thread *java, struct live_stream *stream);
/* Same for a thread that leaves its native thread: its next records are in another stream. */
void constructors_leave(struct session *session, struct os_thread *os, JNIEnv *jni,
                        struct java_thread *java);
/* Same for all threads, none of which is in a probe any more. */
void constructors_end(struct session *session, JNIEnv *jni);
/* Call when an exception leaves the innermost frame, which waits or has a reserved object. */
void constructor_fails(struct session *session, struct os_thread *os, struct java_thread *java,
                       struct live_stream *stream);

/* Writes the record that assigns an object to a waiting entry. */
void constructor_write(struct session *session, struct live_stream *stream,
                       const struct java_thread *java, const struct method_frame *frame,
                       uint64_t object);

/* Same, where there is room for two words. */
static inline void constructor_put(struct live_stream *stream, uint64_t *room,
                                   const struct java_thread *java, const struct method_frame *frame,
                                   uint64_t object)
{
    room[0] = live_word(STEP_LIVE_CONSTRUCTED, object);
    room[1] = (stream->events - (frame->pending & FRAME_RECORD) + 1) |
              (uint64_t) (java->pending == 0) << 63;
    live_commit(stream, 2, 0);
}

#define CONSTRUCTOR_PATIENCE 32768u /* events; readers wait for twice as many */
static inline bool constructors_wait_long(const struct java_thread *java,
                                          const struct live_stream *stream)
{
    return __builtin_expect(java->pending != 0 && stream->events > java->window_start &&
                                stream->events - java->window_start > CONSTRUCTOR_PATIENCE,
                            0);
}

#endif
