/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a call of clone() was one of Object.clone(), whose result nobody has reported. */
#ifndef AGENT_BYTECODE_CLONES_H
#define AGENT_BYTECODE_CLONES_H

#include "agent/records/threads.h"

/* `from` is the object that was cloned; `by_super`: by super.clone() in the method that called the
 * probe. */
bool clone_is_of_object(struct session *session, struct os_thread *os, JNIEnv *jni, jobject from,
                        bool by_super);

#endif
