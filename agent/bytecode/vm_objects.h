/* SPDX-License-Identifier: Apache-2.0 */
/* Objects that no rewritten code creates: those that the VM creates for its native methods and for
 * throwables, clones, and those of JNI functions. */
#ifndef AGENT_BYTECODE_VM_OBJECTS_H
#define AGENT_BYTECODE_VM_OBJECTS_H

#include <jni.h>
#include <stdbool.h>

#include "agent/base/tracer.h"
#include "agent/records/threads.h"

/* Handles JVMTI's event. Returns false if the code that called the native method reports the
 * object. */
bool vm_objects_alloc(JNIEnv *jni, jobject object, jclass class, jlong size_bytes);
/* Replaces JNI functions that create objects without a constructor, and (`stores`) that store
 * references, or restores them. */
void jni_calls_intercept(bool on, bool stores);
/* Replaces GetStringLength(), each call of which then calls this function first, or restores it if
 * that is NULL. Returns false if that is not possible. */
bool jni_calls_link(void (*first)(JNIEnv *jni));
/* Replaces those native methods of Class that may have the JVM run Java code, once per process. */
void vm_natives_intercept(JNIEnv *jni);

/* Detects calls of clone() that were calls of Object.clone(), whose result no other probe
 * reports. */

/* `from` is the object that was cloned; `by_super`: by super.clone() in the method that called the
 * probe. */
bool clone_is_of_object(struct session *session, struct os_thread *os, JNIEnv *jni, jobject from,
                        bool by_super);

/* Objects that the VM creates for throwables, with engine=bytecode: the arrays of their stack
 * trace, and the messages of those that it throws itself. */

/* Call when Throwable.fillInStackTrace(int) has given it new arrays. */
void throwable_traced(struct session *session, struct os_thread *os, JNIEnv *jni, jobject object);
/* Called by the constructor Throwable(String): reports a message that the VM or JNI's ThrowNew()
 * created. */
void throwable_named(struct session *session, struct os_thread *os, JNIEnv *jni, jobject message);

/* Registers native methods of classes of the boot loader without the JVM's warning. */

/* Sets the probes' class, a global reference; all registration goes through its link(). */
void natives_link_by(jclass probes);
bool natives_register(JNIEnv *jni, jclass class, const JNINativeMethod *methods, jint count);
/* Replaces a native method, whose function is `symbol` of that library, and sets `*original` to
 * that. Returns false if this JDK lacks it, or has it with other parameters; `class` may be NULL.
 */
bool natives_replace(JNIEnv *jni, jclass class, const JNINativeMethod *method, void *library,
                     const char *symbol, void **original);

#endif
