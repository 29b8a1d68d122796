/* SPDX-License-Identifier: Apache-2.0 */
/* The native methods of the probes' class, which rewritten code calls (bytecode/rewrite.h). */
#ifndef PROBE_NATIVES_H
#define PROBE_NATIVES_H

#include "tracer.h"

/* Defines the class in the boot loader and links its methods, once in a process. */
bool probe_natives_define(JNIEnv *jni);
/* Registers native methods of a class of the boot loader without the JVM's warning; afterwards. */
bool probe_natives_register(JNIEnv *jni, jclass class, const JNINativeMethod *methods, jint count);

#endif
