/* SPDX-License-Identifier: Apache-2.0 */
/* The session's dictionary of fields that hold references. */
#ifndef AGENT_REFERENCES_FIELDS_H
#define AGENT_REFERENCES_FIELDS_H

#include "agent/base/tracer.h"
#include "agent/records/threads.h"

/* Modifiers that class files have; the JVM adds flags of its own. */
#define FIELD_MODIFIERS 0x50DFu

/* Returns the number of a field that this class (by its number) declares. Defines it at first use.
 * 0: out of memory. Calls nothing of the JVM. */
uint64_t field_number(struct session *session, uint64_t class, const char *name,
                      const char *descriptor, uint64_t modifiers);
/* Same for a field by its id, declared by `class` or inherited. */
uint64_t field_number_of_id(struct session *session, JNIEnv *jni, jclass class, jfieldID field);

/* Numbers that probes of stores pass for fields, and their entries in the session's dictionary. A
 * field that classes of one loader name in the same way has one number, in all sessions. */

#define FIELD_SESSION_SHIFT 40u

struct field_site;

/* Returns a number for a field as a class that is being rewritten names it, or 0 if none are left.
 * `loader` distinguishes class loaders. `unique`: no other class gets this number. */
uint32_t field_site_number(uint64_t loader, bool unique, const char *owner, const char *name,
                           const char *descriptor, bool is_static);

/* Called by a probe of a store: returns the field's entry in the session's dictionary, or 0 if it
 * is unknown. `holder` is NULL for a static field. */
uint64_t field_of_number(struct session *session, JNIEnv *jni, uint32_t number, jobject holder);

/* Finds the field of an object, or the element of an array, at an offset of
 * jdk.internal.misc.Unsafe. A jfieldID contains the field's offset; offsets that the JDK's own
 * classes have stored prove that for this JVM. */

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
