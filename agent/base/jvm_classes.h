/* SPDX-License-Identifier: Apache-2.0 */
/* Asks the JVM about classes: signatures, fields, objects. */
#ifndef AGENT_BASE_JVM_CLASSES_H
#define AGENT_BASE_JVM_CLASSES_H

#include <jvmti.h>
#include <stdbool.h>

/* Frees what the JVM has allocated; NULL is nothing. */
void jvm_free(void *memory);

/* Returns the class's signature, to be freed with jvm_free(); NULL: unknown. */
char *class_signature(jclass class);
/* Returns true if the signature of the class, or of the method's declaring class, passes `test`;
 * false if it is unknown. */
bool class_passes(jclass class, bool (*test)(const char *signature));
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

#endif
