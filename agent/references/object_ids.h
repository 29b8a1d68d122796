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
#include "format/core/hash.h"

#define KNOWN_OBJECTS_LOG2 12u

struct known_object {
    uintptr_t place;
    uint64_t collections;
    uint64_t session, id;
};

static inline struct known_object *known_object_of(const struct os_thread *os, uintptr_t place)
{
    return &os->references.known_objects[step_hash(place) >> (64 - KNOWN_OBJECTS_LOG2)];
}

/* Of the object that lies there, while nothing moves; 0: the thread has not named it lately. */
static inline uint64_t object_id_at(const struct session *session, const struct os_thread *os,
                                    uintptr_t place)
{
    if (os->references.known_objects == NULL)
        return 0;
    const struct known_object *known = known_object_of(os, place);
    return known->place == place && known->session == session->number &&
                   known->collections ==
                       atomic_load_explicit(&tracer.collections_begun, memory_order_relaxed)
               ? known->id
               : 0;
}

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
