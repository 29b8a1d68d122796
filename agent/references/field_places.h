/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the field of an object, or the element of an array, at an offset of
 * jdk.internal.misc.Unsafe. A jfieldID contains the field's offset; offsets that the JDK's own
 * classes have stored prove that for this JVM. */
#ifndef AGENT_REFERENCES_FIELD_PLACES_H
#define AGENT_REFERENCES_FIELD_PLACES_H

#include "agent/records/threads.h"

struct field_place {
    enum { PLACE_UNKNOWN, PLACE_FIELD, PLACE_STATIC, PLACE_ELEMENT } kind;
    uint64_t number; /* of the field in the dictionary, or the element's index */
};

/* Call once per session, on a Java thread. */
void field_places_begin(JNIEnv *jni);
/* Returns the field or element of `holder` at `offset`, where `value` is stored now. */
struct field_place field_at(struct session *session, struct os_thread *os, JNIEnv *jni,
                            jobject holder, jlong offset, jobject value);

#endif
