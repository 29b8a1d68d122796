/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which id an object has, for the objects of the weak table: a table by 24 bits of the identity
 * hash.  Kept only when method events name objects.
 */
#ifndef AGENT_DEATHS_IDENTITY_H
#define AGENT_DEATHS_IDENTITY_H

#include <jvmti.h>
#include <stdbool.h>
#include <stdint.h>

struct session;

#define IDENTITY_KEY_BITS 24u

/* The key of an object; also makes the JVM give it an identity hash. */
uint32_t identity_key(jobject object);
/* Of an object that will be added soon: where it will stand, memory brings meanwhile. */
void identity_expect(uint32_t key);
bool identity_add(struct session *session, uint32_t key, uint64_t id, jweak reference);
/* The object's id, 0 if it is not in the table. */
uint64_t identity_find(struct session *session, JNIEnv *jni, uint32_t key, jobject object);
void identity_remove(struct session *session, uint32_t key, uint64_t id);
/* Forgets all; nobody may use it meanwhile. */
void identity_reset(void);

#endif
