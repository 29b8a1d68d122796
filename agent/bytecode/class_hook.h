/* SPDX-License-Identifier: Apache-2.0 */
/* The class file hook: while it is on, classes that are loaded or retransformed get probes. It
 * decides which probes each of their methods gets. */
#ifndef AGENT_BYTECODE_CLASS_HOOK_H
#define AGENT_BYTECODE_CLASS_HOOK_H

#include "agent/base/tracer.h"
#include "agent/bytecode/retransform.h"

/* The kinds of probes that classes get. The engine sets them while the hook is off. */
struct class_hook {
    struct session *session; /* while the hook is on; valid until no thread rewrites a class */
    bool armed;              /* only methods of start= get probes */
    bool alloc, method, nameless, references, leaf; /* as in a struct rewrite_request */
    uint32_t compiled_bytes; /* size of the largest method that the JVM compiles; 0: any */
};
extern struct class_hook class_hook;

void class_hook_on(void);
bool class_hook_is_on(void);
/* Afterwards no thread uses the session any more. If a thread is stopped while it does, the session
 * is never freed. */
void class_hook_off(void);

/* Callback of JVMTI's event. */
void JNICALL class_hook_on_file(jvmtiEnv *jvmti, JNIEnv *jni, jclass redefined, jobject loader,
                                const char *name, jobject domain, jint length,
                                const unsigned char *bytes, jint *new_length,
                                unsigned char **new_bytes);
/* Same for a hidden class, which has no such event. Returns the class file with probes, to be freed
 * with free(), or NULL if it stays as it is. */
uint8_t *class_hook_hidden(JNIEnv *jni, jobject loader, const uint8_t *bytes, size_t length,
                           size_t *new_length);

/* Passes loaded classes through the hook again: those that get probes, those with a method of
 * start= or stop=, or those that were changed. */
enum class_choice { CLASSES_WANTED, CLASSES_WATCHED, CLASSES_CHANGED };
struct retransformed class_hook_retransform(JNIEnv *jni, enum class_choice choice, bool gentle);
/* From now on, what cannot get probes is held until class_hook_report_held(). */
void class_hook_hold(void);
/* Records in the session, which is published now, what could not get probes before. */
void class_hook_report_held(void);
/* Forgets which classes were changed. */
void class_hook_forget(void);
/* Makes the JVM's first calls of Java code for the hook happen now. */
void class_hook_meet(JNIEnv *jni);

#endif
