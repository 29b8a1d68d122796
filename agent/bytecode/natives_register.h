/* SPDX-License-Identifier: Apache-2.0 */
/* Registers native methods of classes of the boot loader without the JVM's warning. */
#ifndef AGENT_BYTECODE_NATIVES_REGISTER_H
#define AGENT_BYTECODE_NATIVES_REGISTER_H

#include <jni.h>
#include <stdbool.h>

/* Sets the probes' class, a global reference; all registration goes through its link(). */
void natives_link_by(jclass probes);
bool natives_register(JNIEnv *jni, jclass class, const JNINativeMethod *methods, jint count);

#endif
