/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Events of native methods with engine=bytecode: a stub of a few instructions stands before the
 * native code, tells of the entry, and has the code return through another that tells of the exit.
 */
#ifndef AGENT_BYTECODE_NATIVE_METHODS_H
#define AGENT_BYTECODE_NATIVE_METHODS_H

#include "agent/base/tracer.h"

/* Before that event is switched on: whether stubs work here. */
bool native_methods_possible(void);

struct os_thread;
/* A native thread ends: what was kept of its calls is freed. */
void native_methods_thread_ended(struct os_thread *os);

/* JVMTI's event: a native method is about to be linked. */
void JNICALL native_methods_on_bind(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread, jmethodID method,
                                    void *address, void **new_address);

#endif
