/* SPDX-License-Identifier: Apache-2.0 */
/* Object ids in JVMTI tags: those of plain objects, and those of classes and loaders, whose tags
 * name an entry of a table that has the id. */
#include "agent/records/classes.h"

#include "agent/base/jvm_classes.h"
#include "agent/base/patience.h"
#include "agent/records/named_table.h"

jlong tag_in_ring(uint64_t ring_number, uint64_t object)
{
    return (jlong) ((ring_number % TAG_SESSIONS) << TAG_ID_BITS | object);
}

jlong tag_of_object(const struct session *session, uint64_t object)
{
    return tag_in_ring(session->ring_number, object);
}

/* Returns the id in a plain tag, or in a named object's. */
static uint64_t id_of_ring(uint64_t ring_number, uint64_t packed)
{
    packed &= ~(uint64_t) TAG_PASSING; /* with TAG_AGAIN */
    return packed >> TAG_ID_BITS == ring_number % TAG_SESSIONS
               ? packed & ((UINT64_C(1) << TAG_ID_BITS) - 1)
               : 0;
}

uint64_t object_of_ring(uint64_t ring_number, jlong tag)
{
    if ((tag & TAG_MARKS) == 0)
        return id_of_ring(ring_number, (uint64_t) tag);
    const struct named_object *named = named_of_tag(tag);
    return named != NULL ? id_of_ring(ring_number, atomic_load(&named->object)) : 0;
}

uint64_t object_of_tag(const struct session *session, jlong tag)
{
    return object_of_ring(session->ring_number, tag);
}

static void forget_named(struct named_table *table, const struct session *session)
{
    for (uint64_t index = 1; index < table->count; index++) {
        struct named_object *named = named_at(table, index);
        if (named != NULL && id_of_ring(session->ring_number, atomic_load(&named->object)) != 0)
            atomic_store(&named->object, 0);
    }
}

static jint JNICALL forget_tag(jlong class_tag, jlong size, jlong *tag, jint length, void *session)
{
    (void) class_tag, (void) size, (void) length;
    if ((*tag & TAG_MARKS) == 0 && object_of_tag(session, *tag) != 0)
        *tag = 0;
    return 0;
}

/* A tag has 12 bits for the session, so session 4097 would take the objects of the first one, if
 * they still live, for its own. Before that their tags are removed, by a walk over the heap; no
 * such walk is needed in any process with fewer sessions. */
void tags_forget(struct session *session)
{
    /* engine=sampled leaves no tags, and its ring of files is no reason to walk the heap */
    if (session->number < TAG_SESSIONS || session->options.file_number > 1)
        return;
    if (!session_lock(session, &class_lock))
        return;
    forget_named(&named_classes, session);
    forget_named(&named_loaders, session);
    pthread_mutex_unlock(&class_lock);
    heap_each_object(JVMTI_HEAP_FILTER_UNTAGGED, NULL, forget_tag, session);
}

/* The tag of a mirror or a loader is in use for its index, so its object id is in the table.
 * Several threads may see the object first; the compare-exchange gives it to one, and the others
 * learn that it has an id. */
bool object_claim_tag(const struct session *session, jlong tag, uint64_t object)
{
    struct named_object *named = named_of_tag(tag);
    if (named == NULL)
        return false;
    uint64_t old = atomic_load(&named->object);
    return id_of_ring(session->ring_number, old) == 0 &&
           atomic_compare_exchange_strong(&named->object, &old,
                                          (uint64_t) tag_of_object(session, object));
}
