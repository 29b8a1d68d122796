/* SPDX-License-Identifier: Apache-2.0 */
/* Detects calls of clone() that were calls of Object.clone(), whose result no other probe
 * reports. */
#ifndef AGENT_BYTECODE_CLONES_H
#define AGENT_BYTECODE_CLONES_H

#include "agent/records/threads.h"

/* `from` is the object that was cloned; `by_super`: by super.clone() in the method that called the
 * probe. */
bool clone_is_of_object(struct session *session, struct os_thread *os, JNIEnv *jni, jobject from,
                        bool by_super);

#endif
