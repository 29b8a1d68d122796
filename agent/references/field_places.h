/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which field of an object, or which element of an array, lies at an offset as jdk.internal.misc.
 * Unsafe counts it.  A field's jfieldID holds its offset; that it does so in this JVM is proven
 * with offsets that the JDK's own classes have asked for.
 */
#ifndef AGENT_REFERENCES_FIELD_PLACES_H
#define AGENT_REFERENCES_FIELD_PLACES_H

#include "agent/records/threads.h"

struct field_place {
    enum { PLACE_UNKNOWN, PLACE_FIELD, PLACE_STATIC, PLACE_ELEMENT } kind;
    uint64_t number; /* of the field, or the index */
};

/* Once a session, on a Java thread. */
void field_places_begin(const struct session *session, JNIEnv *jni);
/* `value` is there now. */
struct field_place field_at(struct session *session, struct os_thread *os, JNIEnv *jni,
                            jobject holder, jlong offset, jobject value);

#endif
