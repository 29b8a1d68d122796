/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The references that the fields of java.lang.Class objects hold.  FollowReferences reports static
 * fields, constants and the loader of a class, but not these fields.  It does not visit objects
 * that only they hold: the values of a ClassValue, enum constants, annotations.
 *
 * The fields are read with JNI before the walk.  Local references hold what they refer to, so that
 * the walk visits it, and after the walk the fields are read again.
 */
#ifndef AGENT_REFERENCES_MIRROR_FIELDS_H
#define AGENT_REFERENCES_MIRROR_FIELDS_H

#include "agent/base/tracer.h"

struct mirror_fields;

/* Reads the fields of all classes.  Returns NULL if there is no memory. */
struct mirror_fields *mirror_fields_hold(struct session *session, JNIEnv *jni);
typedef void mirror_field_taker(void *context, jobject holder, uint64_t field, jobject target);

/* Calls `take` for each reference that a field holds, and returns how many fields have changed
 * since mirror_fields_hold(): of these it passes what they hold now. */
uint64_t mirror_fields_each(const struct mirror_fields *held, mirror_field_taker *take,
                            void *context);
/* Deletes the local references, and all that the thread has created since mirror_fields_hold().
 * Accepts NULL. */
void mirror_fields_release(struct mirror_fields *held);

/* Returns false if the JVM keeps an object of its own in a field with that descriptor.  Up to JDK
 * 24 HotSpot keeps the initialisation lock of a class, an int[], in Class.componentType, and clears
 * it without a store. */
bool class_field_has(JNIEnv *jni, const char *descriptor, jobject value);

/* The fields of all classes in the order in which JVMTI counts them for a heap walk: first as many
 * as the class's interfaces have, then those of its superclasses from Object on, then its own.
 * Created before the walk, as nothing may be asked of the JVM during it. */

struct graph_fields;

/* Also gives every loaded class its number. Returns NULL if out of memory. */
struct graph_fields *graph_fields_create(struct session *session, JNIEnv *jni);
void graph_fields_destroy(struct graph_fields *fields);
/* Returns the dictionary's number of the field with that index in the class with that number, or 0
 * if it is unknown. Calls nothing of the JVM. */
uint64_t graph_field(struct graph_fields *fields, uint64_t class, jint index);

#endif
