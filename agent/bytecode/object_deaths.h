/* SPDX-License-Identifier: Apache-2.0 */
/* Weak references to new objects, by which the reaper finds out that these have died. */
#ifndef AGENT_BYTECODE_OBJECT_DEATHS_H
#define AGENT_BYTECODE_OBJECT_DEATHS_H

#include "agent/deaths/identity.h"
#include "agent/records/threads.h"

/* For an object that is about to be remembered: what object_remember() has to know. */
static inline uint32_t object_key(const struct session *session, jobject object)
{
    if (!session->finds_objects)
        return 0;
    uint32_t key = identity_key(object);
    identity_expect(key);
    return key;
}

/* Makes a weak reference to the object with that id and puts it where the reaper looks. */
void object_remember(struct session *session, struct os_thread *os, JNIEnv *jni, jobject object,
                     uint32_t key, uint64_t id);

#endif
