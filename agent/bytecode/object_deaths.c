/* SPDX-License-Identifier: Apache-2.0 */
/* Weak references to new objects, which let the reaper detect their deaths. */
#include "agent/bytecode/object_deaths.h"

#include "agent/deaths/reaper.h"
#include "agent/deaths/recycle.h"
#include "agent/references/object_ids.h"

void object_remember(struct session *session, struct os_thread *os, JNIEnv *jni, jobject object,
                     uint32_t key, uint64_t id)
{
    if (!session->keeps_references)
        return;
    jweak reference = recycle_for(os, object);
    if (reference == NULL && (reference = recycle_make(os, jni, object)) == NULL)
        return;
    if (session->finds_objects) {
        identity_add(session, key, id, reference);
        object_id_note(session, os, object, id);
    }
    if (atomic_load_explicit(&os->deaths.weak_session, memory_order_relaxed) != session->number)
        atomic_store(&os->deaths.weak_session, session->number);
    if (!weak_table_add(&reaper_table, &os->deaths.weak_page, (uint64_t) key << WEAK_ID_BITS | id,
                        reference)) {
        if (session->finds_objects)
            identity_remove(session, key, id);
        (*jni)->DeleteWeakGlobalRef(jni, reference);
    }
    if (weak_page_is_fresh(&os->deaths.weak_page))
        reaper_keep_pace(session, os);
}
