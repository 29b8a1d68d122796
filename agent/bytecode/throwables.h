/* SPDX-License-Identifier: Apache-2.0 */
/* Objects that the VM creates for throwables, with engine=bytecode: the arrays of their stack
 * trace, and the messages of those that it throws itself. */
#ifndef AGENT_BYTECODE_THROWABLES_H
#define AGENT_BYTECODE_THROWABLES_H

#include "agent/records/threads.h"

/* Call when Throwable.fillInStackTrace(int) has given it new arrays. */
void throwable_traced(struct session *session, struct os_thread *os, JNIEnv *jni, jobject object);
/* Called by the constructor Throwable(String): reports a message that the VM or JNI's ThrowNew()
 * created. */
void throwable_named(struct session *session, struct os_thread *os, JNIEnv *jni, jobject message);

#endif
