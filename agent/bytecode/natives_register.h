/* SPDX-License-Identifier: Apache-2.0 */
/* Registers native methods of classes of the boot loader without the JVM's warning. */
#ifndef AGENT_BYTECODE_NATIVES_REGISTER_H
#define AGENT_BYTECODE_NATIVES_REGISTER_H

#include <jni.h>
#include <stdbool.h>

/* Sets the class of the probes, a global reference, whose link() all registering goes through. */
void natives_link_by(jclass probes);
bool natives_register(JNIEnv *jni, jclass class, const JNINativeMethod *methods, jint count);

#endif
