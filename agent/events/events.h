/* SPDX-License-Identifier: Apache-2.0 */
/* Event callbacks for the engines, one per event kind. */
#ifndef AGENT_EVENTS_EVENTS_H
#define AGENT_EVENTS_EVENTS_H

#include <stdbool.h>

#include "agent/base/tracer.h"

enum alloc_origin { ALLOC_SAMPLED, ALLOC_BY_VM };

/* Reports a new object. The VM reports some objects twice: as a sampled allocation, then as an
 * allocation of its own. */
void event_alloc(JNIEnv *jni, jthread thread, jobject object, jclass class, jlong size_bytes,
                 enum alloc_origin source);
struct os_thread;
/* Same as event_alloc(), between probe_enter() and probe_leave(). `by_java`: the caller is a probe
 * in Java code, whose frame and those of the object's constructors are left out of the call
 * stack. */
void event_alloc_within(struct session *session, struct os_thread *os, JNIEnv *jni, jthread thread,
                        jobject object, jclass class, uint64_t size_bytes, enum alloc_origin source,
                        bool by_java);
/* Reports the object with this tag as dead. */
void event_free(jlong tag);
/* Reports objects that `collection`, which ended at `stamp`, found dead. */
void event_free_many(struct session *session, const uint64_t *objects, size_t count, uint64_t stamp,
                     uint64_t collection);
/* Returns the id in the object's tag, or 0. If there is none and the session records existing
 * objects, reports the object now and sets `*is_new`. */
uint64_t event_tagged_object(struct session *session, struct live_stream *stream, uint64_t thread,
                             JNIEnv *jni, jobject object, bool *is_new);
/* Records a class that has been loaded. */
void event_class_load(jclass class);

/* Tags an object. */
bool event_set_tag(jobject object, jlong tag);
/* Serialise the writers of frees, and what depends on their order. No call of JNI or JVMTI in
 * between. */
void event_frees_enter(void);
void event_frees_leave(void);
/* Between these: records that the death of `object` (0: of none) is not awaited, and the threshold
 * from now on: sampled_lives.h. Frees before it keep an earlier time. */
void event_given_up(struct session *session, uint64_t object, uint64_t threshold);
/* The same of a death: records it. */
void event_freed(struct session *session, uint64_t object);
/* The same: from now on, `note` is called with the tags of dead objects, and nothing is recorded.
 * NULL: as before. */
void event_frees_between_files(void (*note)(jlong tag));

/* Closes a batch of frees that has not grown for a while, or at once if `now`. Returns true if it
 * closed one. */
bool event_close_free_batch(struct session *session, bool now);

/* Sets the pause that ends a batch of frees; at a session's start, when the clock's scale is
 * known. */
void event_set_free_gap(struct session *session);
/* Returns when no thread is in event_free() with a session that is no longer tracer.session. */
void event_wait_for_frees(void);

/* Deaths of tagged objects, which the JVM reports with ObjectFree. */

/* Enables these reports for the rest of the JVM's life: see tagged_deaths_flush(). */
void tagged_deaths_report(void);

/* Returns when every object that the JVM has found dead is reported. Java threads only. Disabling
 * the event would also flush, but can hang JDK 17: the thread that disables it and the JVM's
 * reporting thread wait for each other, one at a safepoint, the other in code that does not stop
 * for one. */
void tagged_deaths_flush(void);

#endif
