/* SPDX-License-Identifier: Apache-2.0 */
/* Ids of recently used objects: a direct-mapped table per thread. */
#include "agent/references/object_ids.h"

#include <stdlib.h>

#include "agent/deaths/identity.h"
#include "agent/events/events.h"
#include "agent/hotspot/slots.h"
#include "agent/records/hold.h"

static first_sight_hook *at_first_sight;

void object_ids_at_first_sight(first_sight_hook *hook)
{
    at_first_sight = hook;
}

/* Returns 0 if the id is unknown. */
static inline uint64_t object_ids_find(const struct session *session, struct os_thread *os,
                                       jobject object)
{
    if (!session->holds || !hold_begin(os))
        return 0;
    uint64_t id = object_id_at(session, os, slot_word(object));
    hold_end(os);
    return id;
}

void object_id_note(const struct session *session, struct os_thread *os, jobject object,
                    uint64_t id)
{
    if (id == 0 || !session->holds)
        return;
    if (os->references.known_objects == NULL &&
        (os->references.known_objects = calloc((size_t) 1 << KNOWN_OBJECTS_LOG2,
                                               sizeof *os->references.known_objects)) == NULL)
        return;
    if (!hold_begin(os))
        return;
    uintptr_t place = slot_word(object);
    *known_object_of(os, place) = (struct known_object){
        .place = place, .collections = collections_seen(), .session = session->number, .id = id};
    hold_end(os);
}

void object_ids_thread_ended(struct os_thread *os)
{
    free(os->references.known_objects);
    os->references.known_objects = NULL;
}

/* Three places, from the fastest to the slowest: the thread's table by address, the table of all
 * weak references by identity hash, the object's tag. An object is in one of the latter two: probes
 * remember new objects by reference, and the start snapshot and the JVM's reports tag theirs. One
 * that is in neither has been made without a report; it is recorded now, in this thread's stream,
 * directly before the record that names it. The id is noted before the hook is called, which may
 * come back to the same object over its references. */
uint64_t object_id_of(struct session *session, struct os_thread *os, struct live_stream *stream,
                      uint64_t thread, JNIEnv *jni, jobject object)
{
    if (object == NULL)
        return 0;
    uint64_t id = object_ids_find(session, os, object);
    if (__builtin_expect(id != 0, 1))
        return id;
    bool is_new = false;
    id = identity_find(session, jni, identity_key(object), object);
    if (id == 0)
        id = event_tagged_object(session, stream, thread, jni, object, &is_new);
    object_id_note(session, os, object, id);
    if (is_new && at_first_sight != NULL)
        at_first_sight(session, os, jni, object);
    return id;
}
