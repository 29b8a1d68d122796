/* SPDX-License-Identifier: Apache-2.0 */
/* Weak references to new objects, which let the reaper detect their deaths. */
#ifndef AGENT_BYTECODE_OBJECT_DEATHS_H
#define AGENT_BYTECODE_OBJECT_DEATHS_H

#include "agent/deaths/identity.h"
#include "agent/records/threads.h"

/* Computes the key for object_remember() in advance. */
static inline uint32_t object_key(const struct session *session, jobject object)
{
    if (!session->finds_objects)
        return 0;
    uint32_t key = identity_key(object);
    identity_expect(key);
    return key;
}

/* Creates a weak reference to the object with that id and adds it to the reaper's table. */
void object_remember(struct session *session, struct os_thread *os, JNIEnv *jni, jobject object,
                     uint32_t key, uint64_t id);

#endif
