/* SPDX-License-Identifier: Apache-2.0 */
/* Objects that no rewritten code makes: those that the VM makes for its native methods, and those
 * of JNI functions. */
#ifndef AGENT_BYTECODE_VM_OBJECTS_H
#define AGENT_BYTECODE_VM_OBJECTS_H

#include "agent/base/tracer.h"

/* JVMTI's event; many of these objects are reported by the code that called the native method. */
void JNICALL vm_objects_on_alloc(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread, jobject object,
                                 jclass class, jlong size_bytes);
/* Puts functions of the agent before those of JNI that make objects without a constructor, or takes
 * them away again. */
void jni_calls_intercept(bool on, bool stores);
/* An array that nobody reports. */
jbyteArray jni_calls_plain_bytes(JNIEnv *jni, jsize length);
/* An object whose constructor is not run. */
jobject jni_calls_plain_object(JNIEnv *jni, jclass class);

#endif
