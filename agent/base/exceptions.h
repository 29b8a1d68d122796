/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The program's pending exception while the agent calls JNI on its thread.
 *
 * A probe may run while an exception of the program is pending: where a native method is left by
 * one, or calls JNI in spite of it.  The agent's own calls may throw as well.  So each group of
 * calls stands between these two, which may be nested; nothing else in the agent clears an
 * exception (scripts/check-layers.py).
 */
#ifndef AGENT_BASE_EXCEPTIONS_H
#define AGENT_BASE_EXCEPTIONS_H

#include <jni.h>

/* Takes the pending exception away and returns a local reference to it; NULL if none is pending. */
jthrowable exception_set_aside(JNIEnv *jni);
/* Clears what the agent's calls have thrown since and makes `of_program` pending again, whose local
 * reference it deletes. */
void exception_restore(JNIEnv *jni, jthrowable of_program);

#endif
