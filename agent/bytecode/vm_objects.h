/* SPDX-License-Identifier: Apache-2.0 */
/* Objects that no rewritten code creates: those that the VM creates for its native methods, and
 * those of JNI functions. */
#ifndef AGENT_BYTECODE_VM_OBJECTS_H
#define AGENT_BYTECODE_VM_OBJECTS_H

#include "agent/base/tracer.h"

/* Handles JVMTI's event. Returns false if the code that called the native method reports the
 * object. */
bool vm_objects_alloc(JNIEnv *jni, jobject object, jclass class, jlong size_bytes);
/* Replaces JNI functions that create objects without a constructor, and (`stores`) that store
 * references, or restores them. */
void jni_calls_intercept(bool on, bool stores);
/* Replaces those native methods of Class that may have the JVM run Java code, once per process. */
void vm_natives_intercept(JNIEnv *jni);

#endif
