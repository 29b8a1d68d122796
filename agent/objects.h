/* SPDX-License-Identifier: Apache-2.0 */
/* New objects with engine=bytecode: ids, weak references, records. */
#ifndef OBJECTS_H
#define OBJECTS_H

#include "threads.h"

/* A new object that nobody has told of. */
void object_made(struct session *session, struct os_thread *os, JNIEnv *jni, jobject object);
/* An object that may have been told of already, by object_made_once() or by the VM. */
void object_made_once(struct session *session, struct os_thread *os, JNIEnv *jni, jobject object);
/* An array of arrays, with that many dimensions made at once. */
void object_made_arrays(struct session *session, struct os_thread *os, JNIEnv *jni, jobject array,
                        jint dimensions);

#endif
