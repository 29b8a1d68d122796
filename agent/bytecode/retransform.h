/* SPDX-License-Identifier: Apache-2.0 */
/* Passes loaded classes through the class file hook again. */
#ifndef AGENT_BYTECODE_RETRANSFORM_H
#define AGENT_BYTECODE_RETRANSFORM_H

#include "agent/base/tracer.h"

/* Selects loaded classes to retransform. */
typedef bool class_test(JNIEnv *jni, jobject loader, const char *name);
/* Called for each class that the JVM refuses. */
typedef void class_refused(jclass class, jvmtiError code);

/* How many classes were retransformed, and in how many calls of the JVM. */
struct retransformed {
    uint32_t classes, slices;
};

void retransform(const jclass *classes, jint count, class_refused *refused);
/* Retransforms the loaded classes that pass the test: in one call or, if `gentle`, in slices with
 * pauses between them, which end after 20 s; the rest then comes without pauses. Stops when the JVM
 * ends. */
struct retransformed retransform_loaded(JNIEnv *jni, class_test *test, class_refused *refused,
                                        bool gentle);

#endif
