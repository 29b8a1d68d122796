/* SPDX-License-Identifier: Apache-2.0 */
/* Hidden classes, as those of lambda expressions: no class file hook sees them, so their definition
 * is intercepted. */
#ifndef AGENT_BYTECODE_HIDDEN_CLASSES_H
#define AGENT_BYTECODE_HIDDEN_CLASSES_H

#include "agent/base/tracer.h"

/* Puts the agent before ClassLoader.defineClass0(), once in a process. */
void hidden_classes_intercept(JNIEnv *jni);

#endif
