/* SPDX-License-Identifier: Apache-2.0 */
/* Sets the program's pending exception aside while the agent calls JNI on its thread.
 *
 * A probe may run while an exception of the program is pending, for example when a native method
 * returns with one. The agent's own calls may throw as well. And an exception that another thread
 * threw into this one (Thread.stop(), a debugger's StopThread, a fault in a mapped file) becomes
 * pending at the end of any JNI call. That one is the program's: cleared, it would be lost for
 * good. Therefore each group of calls is enclosed by these two functions, which may be nested, and
 * only what a call of the group has reported by its result, and can throw itself, is cleared.
 * Nothing else in the agent clears an exception (scripts/check-layers.py). */
#ifndef AGENT_BASE_EXCEPTIONS_H
#define AGENT_BASE_EXCEPTIONS_H

#include <jni.h>
#include <stdbool.h>

/* What the calls of a group can throw, apart from their arguments' faults. */
enum exception_source {
    THROWN_BY_NOTHING,
    THROWN_BY_ALLOCATION, /* new objects and references, local frames */
    THROWN_BY_LOOKUP,     /* classes, fields, methods and natives by name: also initializers */
    THROWN_BY_JAVA,       /* methods of the JDK that the agent calls */
};

/* Clears the pending exception and returns a local reference to it, or NULL if none is pending. */
jthrowable exception_set_aside(JNIEnv *jni);
/* Clears the exception that is pending if a call of the group has `failed`, as its result said, and
 * `source` throws such an exception. If another one is pending, it has arrived meanwhile and takes
 * the place of `of_program` (may be NULL), as it would without the agent. Otherwise makes
 * `of_program` pending again. Deletes the local reference. */
void exception_restore(JNIEnv *jni, jthrowable of_program, bool failed,
                       enum exception_source source);

#endif
