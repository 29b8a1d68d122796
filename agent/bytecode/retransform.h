/* SPDX-License-Identifier: Apache-2.0 */
/* Passes loaded classes through the class file hook again. */
#ifndef AGENT_BYTECODE_RETRANSFORM_H
#define AGENT_BYTECODE_RETRANSFORM_H

#include "agent/base/tracer.h"

/* Selects loaded classes to retransform. */
typedef bool class_test(JNIEnv *jni, jobject loader, const char *name);
/* Called for each class that the JVM refuses. */
typedef void class_refused(jclass class, jvmtiError code);

void retransform(const jclass *classes, jint count, class_refused *refused);
void retransform_loaded(JNIEnv *jni, class_test *test, class_refused *refused);

#endif
