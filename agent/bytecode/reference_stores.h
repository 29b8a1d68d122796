/* SPDX-License-Identifier: Apache-2.0 */
/* Probes of reference stores (events=reference). Each comes after the store. */
#ifndef AGENT_BYTECODE_REFERENCE_STORES_H
#define AGENT_BYTECODE_REFERENCE_STORES_H

#include "agent/records/threads.h"

/* As probe_enter(). Returns NULL if there is no session with references. */
struct session *store_enter(struct os_thread **os);

/* Call between probe_enter() and probe_leave(), in a session with references. */
void store_into_field(struct session *session, struct os_thread *os, JNIEnv *jni, jobject holder,
                      jobject value, uint64_t field);
void store_into_element(struct session *session, struct os_thread *os, JNIEnv *jni, jobject array,
                        jint index, jobject value);
/* Records that the object, which is known, has the references of another. */
void store_clone(struct session *session, struct os_thread *os, JNIEnv *jni, jobject from,
                 jobject object);
/* Records all references of an object that the JVM has filled itself. */
void stores_of_object(struct session *session, struct os_thread *os, JNIEnv *jni, jobject object);
/* Same for an object that the JVM has not reported and that a probe has found. */
void stores_of_seen(struct session *session, struct os_thread *os, JNIEnv *jni, jobject object);
/* Same for an array of arrays with that many dimensions created at once. */
void stores_of_arrays(struct session *session, struct os_thread *os, JNIEnv *jni, jobject array,
                      jint dimensions);
/* Same as stores_of_object(), outside of probes, in a session with references. */
void stores_of_vm(JNIEnv *jni, jobject object);
/* Records the constants in a class's static fields, which are from its class file. Call outside of
 * probes. */
void stores_of_constants(JNIEnv *jni, jclass class);
/* Call when a session's first virtual thread begins to run. Records constants of the class that
 * agents cannot change (JDK-8302779), whose initializer therefore has no probes. */
void stores_of_continuations(JNIEnv *jni);

static inline bool stores_wanted(const struct session *session)
{
    return (session->options.events & TRACED_REFERENCE) != 0;
}

/* The probes themselves. */
void JNICALL on_store_field(JNIEnv *jni, jclass class, jobject holder, jobject value, jint number);
void JNICALL on_store_static(JNIEnv *jni, jclass class, jobject value, jint number);
void JNICALL on_store_element(JNIEnv *jni, jclass class, jobject array, jint index, jobject value);
void JNICALL on_store_copy(JNIEnv *jni, jclass class, jobject array, jobject from, jint first);
void JNICALL on_store_range(JNIEnv *jni, jclass class, jobject from, jint first, jobject to,
                            jint at, jint length);
void JNICALL on_store_offset(JNIEnv *jni, jclass class, jobject holder, jlong offset,
                             jobject value);
void JNICALL on_store_set(JNIEnv *jni, jclass class, jboolean done, jobject holder, jlong offset,
                          jobject value);
void JNICALL on_store_exchanged(JNIEnv *jni, jclass class, jobject found, jobject wanted,
                                jobject holder, jlong offset, jobject value);
void JNICALL on_stores_of(JNIEnv *jni, jclass class, jobject object);
void JNICALL on_stores_of_elements(JNIEnv *jni, jclass class, jobject array);
void JNICALL on_stores_of_statics(JNIEnv *jni, jclass class, jobject of);

#endif
