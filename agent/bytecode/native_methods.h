/* SPDX-License-Identifier: Apache-2.0 */
/* Events of native methods with engine=bytecode: a stub of a few instructions runs before the
 * native code, reports the entry, and makes the code return through another stub, which reports the
 * exit. */
#ifndef AGENT_BYTECODE_NATIVE_METHODS_H
#define AGENT_BYTECODE_NATIVE_METHODS_H

#include "agent/base/tracer.h"

/* Call before that event is enabled: returns true if stubs work here. */
bool native_methods_possible(void);

struct os_thread;
/* Call when a native thread ends: frees the state of its calls. */
void native_methods_thread_ended(struct os_thread *os);

/* Callback of JVMTI's event: a native method is about to be linked. */
void JNICALL native_methods_on_bind(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread, jmethodID method,
                                    void *address, void **new_address);

#endif
