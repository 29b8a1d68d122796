/* SPDX-License-Identifier: Apache-2.0 */
/* The fields of all classes in the order in which JVMTI counts them for a heap walk: first as many
 * as the class's interfaces have, then those of its superclasses from Object on, then its own.
 * Created before the walk, as nothing may be asked of the JVM during it. */
#ifndef AGENT_REFERENCES_GRAPH_FIELDS_H
#define AGENT_REFERENCES_GRAPH_FIELDS_H

#include "agent/base/tracer.h"

struct graph_fields;

/* Also gives every loaded class its number. Returns NULL if out of memory. */
struct graph_fields *graph_fields_create(struct session *session, JNIEnv *jni);
void graph_fields_destroy(struct graph_fields *fields);
/* Returns the dictionary's number of the field with that index in the class with that number, or 0
 * if it is unknown. Calls nothing of the JVM. */
uint64_t graph_field(struct graph_fields *fields, uint64_t class, jint index);

#endif
