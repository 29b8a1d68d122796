/* SPDX-License-Identifier: Apache-2.0 */
/* Classes that have been reported but not tagged yet. JDKs after 17 draw an identity hash for a
 * tagged object. If linking a class draws one for its mirror, an earlier tag takes that draw away
 * from the thread that links it. If the mirror has none yet (JAVA_LINKS_WITH_HASH), any tag takes
 * it away from the thread that asks for it. The caller locks. */
#ifndef AGENT_HOTSPOT_UNTAGGED_CLASSES_H
#define AGENT_HOTSPOT_UNTAGGED_CLASSES_H

#include <jni.h>
#include <stdbool.h>
#include <stdint.h>

/* Adds a class; its number is not 0. Returns false if out of memory. */
bool untagged_class_add(const char *signature, uint64_t number, jweak mirror);

/* Removes the class and returns its number, or 0 if it is not in the table. */
uint64_t untagged_class_take(JNIEnv *jni, const char *signature, jclass mirror);

/* Removes the classes for which `is_gone` returns true. */
void untagged_classes_drop(bool (*is_gone)(uint64_t number));

#endif
