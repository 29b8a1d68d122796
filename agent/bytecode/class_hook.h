/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The class file hook: while it is on, classes that are loaded or retransformed get probes, and
 * what each of their methods gets is decided here.
 */
#ifndef AGENT_BYTECODE_CLASS_HOOK_H
#define AGENT_BYTECODE_CLASS_HOOK_H

#include "agent/base/tracer.h"

/* What classes get.  The engine sets it while the hook is off. */
struct class_hook {
    struct session *session; /* while the hook is on; it lives until no thread rewrites a class */
    bool armed;              /* only methods of start= get probes, and only for that */
    bool alloc, method, nameless, references, leaf; /* as in a struct rewrite_request */
    uint32_t compiled_bytes; /* of the largest method that the JVM compiles; 0: of any */
};
extern struct class_hook class_hook;

void class_hook_on(void);
/* Afterwards nobody looks at the session any more; a thread that is stopped while it does keeps it
 * for good. */
void class_hook_off(void);

/* JVMTI's event. */
void JNICALL class_hook_on_file(jvmtiEnv *jvmti, JNIEnv *jni, jclass redefined, jobject loader,
                                const char *name, jobject domain, jint length,
                                const unsigned char *bytes, jint *new_length,
                                unsigned char **new_bytes);
/* The same for a hidden class, which has no such event: the class file with probes, to be freed
 * with free(); NULL: it stays as it is. */
uint8_t *class_hook_hidden(JNIEnv *jni, jobject loader, const uint8_t *bytes, size_t length,
                           size_t *new_length);

/* Loaded classes go through the hook again: those that get probes, those with a method of start=
 * or stop=, or those that were changed. */
enum class_choice { CLASSES_WANTED, CLASSES_WATCHED, CLASSES_CHANGED };
void class_hook_retransform(JNIEnv *jni, enum class_choice choice);
/* Forgets which ones were changed: none is any more. */
void class_hook_forget(void);
/* Has the JVM make its first calls of Java code for the hook now. */
void class_hook_meet(JNIEnv *jni);

#endif
