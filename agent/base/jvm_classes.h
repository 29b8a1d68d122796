/* SPDX-License-Identifier: Apache-2.0 */
/* Asks the JVM, mostly about classes: signatures, fields, objects. */
#ifndef AGENT_BASE_JVM_CLASSES_H
#define AGENT_BASE_JVM_CLASSES_H

#include <jvmti.h>
#include <stdbool.h>
#include <stdint.h>

/* Frees what the JVM has allocated; NULL is nothing. */
void jvm_free(void *memory);

/* Returns the calling thread's JNI, or NULL if it is no Java thread. */
JNIEnv *jvm_jni(void);
/* Returns a local reference to the calling Java thread, or NULL. */
jthread jvm_thread(void);
/* Returns a system property, to be freed with jvm_free(), or NULL. */
char *jvm_property(const char *name);
bool jvm_property_has(const char *name, const char *word);
/* Returns false if the JVM does not have these capabilities, or not any more. */
bool jvm_add_capabilities(const jvmtiCapabilities *wanted);
/* Returns the object's tag; 0: it has none. */
jlong jvm_tag(jobject object);

/* Returns a local reference to a class that the calling code sees, or NULL. Throws nothing, and a
 * pending exception stays. */
jclass class_find(JNIEnv *jni, const char *name);
/* Returns a new weak global reference; NULL: out of memory. Throws nothing, and a pending exception
 * stays. */
jweak object_weakly(JNIEnv *jni, jobject object);
/* Returns the field of that class, looked up once and stored in *known; NULL: there is none. */
jfieldID class_field_once(JNIEnv *jni, _Atomic(jfieldID) *known, const char *class_name,
                          const char *name, const char *descriptor);
/* Returns a local reference to the superclass, or NULL, and deletes that to the class. */
jclass class_go_up(JNIEnv *jni, jclass class);
/* Returns bits of JVMTI_CLASS_STATUS_...; 0: unknown. */
jint class_status(jclass class);
/* HotSpot grants no more (MaxJNILocalCapacity), and takes no memory for it. */
#define MOST_REFERENCES 65536
/* Lets the calling native method or event have as many, while no exception is pending. Returns
 * false if there is no room. Throws nothing. */
bool references_allow(JNIEnv *jni);
/* Begins a frame of local references for as many, which PopLocalFrame() ends. Returns false if
 * there is no room. Throws nothing, and a pending exception stays. */
bool references_begin(JNIEnv *jni, jint most);
/* Returns a global reference to the platform loader, which the first call asks Java for; NULL: the
 * JDK has none. */
jobject loader_of_platform(JNIEnv *jni);
/* Lists the loaded classes as local references. Returns false if the JVM does not. */
bool classes_loaded(JNIEnv *jni, jclass **classes, jint *count);
/* Calls `visit` for each loaded class, and deletes the local references. Returns false if the JVM
 * does not list them. */
typedef void loaded_class_visitor(void *context, JNIEnv *jni, jclass class);
bool class_each_loaded(JNIEnv *jni, loaded_class_visitor *visit, void *context);

/* Returns the class's signature, to be freed with jvm_free(); NULL: unknown. */
char *class_signature(jclass class);
/* Returns true if the signature of the class, or of the method's declaring class, passes `test`;
 * false if it is unknown. */
bool class_passes(jclass class, bool (*test)(const char *signature));
/* Returns a local reference to the method's declaring class, or NULL. */
jclass method_owner(jmethodID method);
/* Returns true if the method is a constructor. */
bool method_is_constructor(jmethodID method);
bool method_owner_passes(JNIEnv *jni, jmethodID method, bool (*test)(const char *signature));

struct class_field {
    jfieldID id;
    char *name, *descriptor; /* freed after the visit unless the visitor sets them to NULL */
    jint modifiers;
    bool is_static, is_reference;
};
/* Calls `visit` for each field that the class itself declares, until it returns false. Returns
 * false then, or if the JVM does not describe all of them. */
typedef bool class_field_visitor(void *context, jclass class, struct class_field *field);
bool class_each_field(jclass class, class_field_visitor *visit, void *context);

/* Calls IterateThroughHeap() with this callback. `class`: NULL, or of whose objects. */
void heap_each_object(jint filter, jclass class, jvmtiHeapIterationCallback callback,
                      void *context);

/* Calls `act` while the program stands still. Before that the JVM reports the tagged objects that
 * it has found dead. Returns false if it did not call. Java threads only; nothing is collected, and
 * the heap is not walked. */
bool heap_stand_still(void (*act)(void *context), void *context);

/* Lets the JVM collect, and sets how long that took. Returns false if it refuses. */
bool heap_collect(uint64_t *took_ns);

/* Returns the bytes of the heap that are in use, with garbage; 0 if the JVM does not answer. */
uint64_t heap_used_bytes(JNIEnv *jni);

/* Reads the calling thread's own frames with JVMTI.
 *
 * On JDK 19 to 21, a call that passes NULL for the current thread waits until no virtual thread of
 * the process changes its carrier. That is for ever if the caller itself changes it, in a probe of
 * VirtualThread's own methods. On these JDKs the thread is passed explicitly; then the call waits
 * for that thread only. */

/* Calls GetStackTrace(). Returns the number of frames, 0 if the JVM returns none. */
jint own_frames(jint first, jint most, jvmtiFrameInfo *frames);
/* Calls GetFrameLocation(). Returns the method, or NULL. */
jmethodID own_frame_method(jint depth);
/* Calls GetLocalInstance() for the innermost frame. Returns a local reference, or NULL. */
jobject own_frame_object(void);

#endif
