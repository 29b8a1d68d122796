/* SPDX-License-Identifier: Apache-2.0 */
/* Methods that begin and end phases: those of phase=, of the class steptrace.Phase, and of
 * benchmark harnesses. Their probes are put into the class file after all others, so that a
 * phase has the events of its method's call. */
#ifndef AGENT_BYTECODE_PHASE_METHODS_H
#define AGENT_BYTECODE_PHASE_METHODS_H

#include "agent/base/tracer.h"

/* Returns true if the class may have such methods (name as in a class file). */
bool phase_methods_in(const struct options *options, const char *class_name);
/* Gives them probes. Returns the new class file, to be freed by the caller. NULL: it stays as it
 * is. */
uint8_t *phase_methods_rewrite(const struct options *options, const char *class_name,
                               const uint8_t *bytes, size_t length, size_t *new_length);

/* The probes; `object` is the variable that the method's number names. */
void JNICALL on_phase_entry(JNIEnv *jni, jclass class, jint number);
void JNICALL on_phase_entry_of(JNIEnv *jni, jclass class, jint number, jobject object);
void JNICALL on_phase_exit(JNIEnv *jni, jclass class, jint number);
void JNICALL on_phase_caught(JNIEnv *jni, jclass class, jint number);

#endif
