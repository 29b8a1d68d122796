/* SPDX-License-Identifier: Apache-2.0 */
/* Sets the program's pending exception aside while the agent calls JNI on its thread.
 *
 * A probe may run while an exception of the program is pending, for example when a native method
 * returns with one. The agent's own calls may throw as well. Therefore each group of calls is
 * enclosed by these two functions, which may be nested. Nothing else in the agent clears an
 * exception (scripts/check-layers.py). */
#ifndef AGENT_BASE_EXCEPTIONS_H
#define AGENT_BASE_EXCEPTIONS_H

#include <jni.h>

/* Clears the pending exception and returns a local reference to it, or NULL if none is pending. */
jthrowable exception_set_aside(JNIEnv *jni);
/* Clears any exception that the agent's calls have thrown since, makes `of_program` (may be NULL)
 * pending again, and deletes its local reference. */
void exception_restore(JNIEnv *jni, jthrowable of_program);

#endif
