/* SPDX-License-Identifier: Apache-2.0 */
/* Maps objects of the weak table to their ids, keyed by 23 bits of the identity hash. Used only if
 * session->finds_objects. */
#ifndef AGENT_DEATHS_IDENTITY_H
#define AGENT_DEATHS_IDENTITY_H

#include <jvmti.h>
#include <stdbool.h>
#include <stdint.h>

struct session;

#define IDENTITY_KEY_BITS 23u

/* Returns the key of an object. The JVM draws an identity hash for it if it has none. */
uint32_t identity_key(jobject object);
/* Prefetches the entry of an object that will be added soon. */
void identity_expect(uint32_t key);
bool identity_add(struct session *session, uint32_t key, uint64_t id, jweak reference);
/* Returns the object's id, or 0 if it is not in the table. */
uint64_t identity_find(struct session *session, JNIEnv *jni, uint32_t key, jobject object);
void identity_remove(struct session *session, uint32_t key, uint64_t id);
/* Empties the table; no other thread may use it meanwhile. */
void identity_reset(void);

#endif
