/* SPDX-License-Identifier: Apache-2.0 */
/* Objects that no rewritten code makes: those that the VM makes for its native methods, and those
 * of JNI functions. */
#ifndef AGENT_BYTECODE_VM_OBJECTS_H
#define AGENT_BYTECODE_VM_OBJECTS_H

#include "agent/base/tracer.h"

/* JVMTI's event; false: the code that called the native method tells of the object. */
bool vm_objects_alloc(JNIEnv *jni, jobject object, jclass class, jlong size_bytes);
/* Puts functions of the agent before those of JNI that make objects without a constructor, and
 * (`stores`) that store references, or takes them away again. */
void jni_calls_intercept(bool on, bool stores);
/* Puts the agent before those native methods of Class that may have the JVM run Java code, once in
 * a process. */
void vm_natives_intercept(JNIEnv *jni);

#endif
