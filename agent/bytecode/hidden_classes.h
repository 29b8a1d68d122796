/* SPDX-License-Identifier: Apache-2.0 */
/* Intercepts the definition of hidden classes, such as those of lambda expressions, which no class
 * file hook sees. */
#ifndef AGENT_BYTECODE_HIDDEN_CLASSES_H
#define AGENT_BYTECODE_HIDDEN_CLASSES_H

#include "agent/base/tracer.h"

/* Replaces ClassLoader.defineClass0(), once per process. */
void hidden_classes_intercept(JNIEnv *jni);

#endif
