/* SPDX-License-Identifier: Apache-2.0 */
/* Ids of objects for probes that name objects (engine=bytecode).
 *
 * A thread caches the addresses and ids of objects that it named recently. The addresses are valid
 * until the next collection, and compared only in a hold (agent/records/hold.h). For other objects,
 * the table of weak references by identity hash (agent/deaths/identity.h) is searched, then the
 * object's tag is read. */
#ifndef AGENT_REFERENCES_OBJECT_IDS_H
#define AGENT_REFERENCES_OBJECT_IDS_H

#include "agent/records/hold.h"
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

/* Returns the id of the object at this address, or 0 if the thread has not named it recently. Call
 * in a hold. */
static inline uint64_t object_id_at(const struct session *session, const struct os_thread *os,
                                    uintptr_t place)
{
    if (os->references.known_objects == NULL)
        return 0;
    const struct known_object *known = known_object_of(os, place);
    return known->place == place && known->session == session->number &&
                   known->collections == collections_seen()
               ? known->id
               : 0;
}

/* Returns the object's id, or 0 if `object` is NULL or has none. If the session records existing
 * objects, an object that no event has reported is recorded in `stream` now. */
uint64_t object_id_of(struct session *session, struct os_thread *os, struct live_stream *stream,
                      uint64_t thread, JNIEnv *jni, jobject object);
/* Called for each object recorded that way, between probe_enter() and probe_leave(). */
typedef void first_sight_hook(struct session *session, struct os_thread *os, JNIEnv *jni,
                              jobject object);
/* Call before any session. */
void object_ids_at_first_sight(first_sight_hook *hook);
/* Caches the id of a new object. */
void object_id_note(const struct session *session, struct os_thread *os, jobject object,
                    uint64_t id);
/* Call when a native thread ends. */
void object_ids_thread_ended(struct os_thread *os);

#endif
