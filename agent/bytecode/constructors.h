/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Open constructors whose object is not known yet.  A constructor's entry waits for its object;
 * frames that are of one object lie one above the other, each but the innermost in its super() or
 * this().  Where the object won't come, or comes too late for who reads the trace, the frames get
 * an id that is reserved for it, and the class of the outermost constructor is the object's.
 */
#ifndef AGENT_BYTECODE_CONSTRUCTORS_H
#define AGENT_BYTECODE_CONSTRUCTORS_H

#include "agent/records/threads.h"

/* Bits of method_frame.pending above the number of the entry's record. */
#define FRAME_IN_SUPER (UINT64_C(1) << 63)
#define FRAME_OUTERMOST (UINT64_C(1) << 62) /* of its object, which `object` is */
#define FRAME_RESERVED (UINT64_C(1) << 61)  /* the entry has the id of an object still to come */
#define FRAME_RECORD (FRAME_RESERVED - 1)

static inline bool frame_waits(const struct method_frame *frame)
{
    return (frame->pending & FRAME_RECORD) != 0 && (frame->pending & FRAME_RESERVED) == 0;
}

/* An object was made and got this id, or (constructor_take_reserved()) is about to get one. */
void constructor_made(struct java_thread *java, struct session *session, uint64_t class,
                      uint64_t object);
/* The id that is reserved for an object of that class, which is made now; 0: none. */
uint64_t constructor_take_reserved(struct java_thread *java, struct session *session,
                                   uint64_t class);
/* The id that is reserved for the object of the constructor that is entered now; 0: none. */
uint64_t constructor_reserved(struct session *session, const struct java_thread *java, JNIEnv *jni,
                              uint32_t number);
/* Gives all entries that have waited in the stream for long their objects. */
void constructors_keep_window(struct session *session, struct os_thread *os, JNIEnv *jni,
                              struct java_thread *java, struct live_stream *stream);
/* The same for a thread that leaves its native thread: another stream has what it records next. */
void constructors_leave(struct session *session, struct os_thread *os, JNIEnv *jni,
                        struct java_thread *java);
/* The same for all threads, none of which is in a probe any more. */
void constructors_end(struct session *session, JNIEnv *jni);
/* The innermost frame, which waits, or whose object was reserved, is left by an exception. */
void constructor_fails(struct session *session, struct os_thread *os, struct java_thread *java,
                       struct live_stream *stream);

/* Writes the record that gives a waiting entry its object. */
void constructor_write(struct session *session, struct live_stream *stream,
                       const struct java_thread *java, const struct method_frame *frame,
                       uint64_t object);

/* The same where there is room for two words. */
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
