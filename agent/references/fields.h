/* SPDX-License-Identifier: Apache-2.0 */
/* The session's dictionary of fields that hold references. */
#ifndef AGENT_REFERENCES_FIELDS_H
#define AGENT_REFERENCES_FIELDS_H

#include "agent/base/tracer.h"

/* Modifiers that class files have; the JVM adds flags of its own. */
#define FIELD_MODIFIERS 0x50DFu

/* Returns the number of a field that this class (by its number) declares. Defines it at first use.
 * 0: out of memory. Calls nothing of the JVM. */
uint64_t field_number(struct session *session, uint64_t class, const char *name,
                      const char *descriptor, uint64_t modifiers);
/* Same for a field by its id, declared by `class` or inherited. */
uint64_t field_number_of_id(struct session *session, JNIEnv *jni, jclass class, jfieldID field);

#endif
