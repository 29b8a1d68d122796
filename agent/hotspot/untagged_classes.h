/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Classes that have been reported but have no tag yet.  JDKs after 17 draw an identity hash for
 * what is tagged, and link a class with one for its mirror: one that is tagged before takes it away
 * from the thread that links it.  No locks: the caller has one.
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
