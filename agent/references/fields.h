/* SPDX-License-Identifier: Apache-2.0 */
/* The session's dictionary of fields that hold references. */
#ifndef AGENT_REFERENCES_FIELDS_H
#define AGENT_REFERENCES_FIELDS_H

#include "agent/base/tracer.h"

/* What a class file has; the JVM adds flags of its own. */
#define FIELD_MODIFIERS 0x50DFu

/* The number of the field that this class (by its number) declares, defined at first sight; 0: out
 * of memory.  Asks nothing of the JVM. */
uint64_t field_number(struct session *session, uint64_t class, const char *name,
                      const char *descriptor, uint64_t modifiers);
/* The same of a field of the class or of one that it inherits. */
uint64_t field_number_of_id(struct session *session, JNIEnv *jni, jclass class, jfieldID field);

#endif
