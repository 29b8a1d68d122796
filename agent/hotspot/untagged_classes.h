/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Classes that have been reported but have no tag yet.  JDKs after 17 draw an identity hash for
 * what is tagged.  Where a class is linked with one for its mirror, a tag before takes it away from
 * the thread that links it; where the mirror has none yet (JAVA_LINKS_WITH_HASH), any tag takes it
 * away from the thread that asks for it.  No locks: the caller has one.
 */
#ifndef AGENT_HOTSPOT_UNTAGGED_CLASSES_H
#define AGENT_HOTSPOT_UNTAGGED_CLASSES_H

#include <jni.h>
#include <stdbool.h>
#include <stdint.h>

/* False: out of memory.  The number is not 0. */
bool untagged_class_add(const char *signature, uint64_t number, jweak mirror);

/* The class's number, and takes it out; 0: it is not there. */
uint64_t untagged_class_take(JNIEnv *jni, const char *signature, jclass mirror);

/* Takes out those of which this is said. */
void untagged_classes_drop(bool (*is_gone)(uint64_t number));

#endif
