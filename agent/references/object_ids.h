/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which id an object has, for probes that name objects (engine=bytecode).
 *
 * A thread keeps where the objects that it named lately lie, with their ids: true until the next
 * collection, and looked at in a hold only (agent/records/hold.h).  For others the weak references'
 * table by identity hashes is asked (agent/deaths/identity.h), then the object's tag.
 */
#ifndef AGENT_REFERENCES_OBJECT_IDS_H
#define AGENT_REFERENCES_OBJECT_IDS_H

#include "agent/records/threads.h"

/* 0: NULL, or it has none.  One that no event had told of is told of in `stream` now, if the
 * session takes existing objects. */
uint64_t object_id_of(struct session *session, struct os_thread *os, struct live_stream *stream,
                      uint64_t thread, JNIEnv *jni, jobject object);
/* Called for each such object, between probe_enter() and probe_leave(). */
typedef void first_sight_hook(struct session *session, struct os_thread *os, JNIEnv *jni,
                              jobject object);
/* Before any session. */
void object_ids_at_first_sight(first_sight_hook *hook);
/* The object, which is new, has got this id. */
void object_id_note(const struct session *session, struct os_thread *os, jobject object,
                    uint64_t id);
/* The native thread ends. */
void object_ids_thread_ended(struct os_thread *os);

#endif
