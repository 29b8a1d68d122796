/* SPDX-License-Identifier: Apache-2.0 */
/* The agent's own Java threads: of the reaper, and for options that need a time. */
#ifndef AGENT_RECORDS_AGENT_THREAD_H
#define AGENT_RECORDS_AGENT_THREAD_H

#include <jvmti.h>
#include <stdbool.h>

/* Starts a Java thread, which is left out of traces. Sets `*thread` to a global reference before it
 * runs. Returns false, with no reference, on failure. Leaves the program's exception alone. */
bool agent_thread_start(JNIEnv *jni, const char *name, jvmtiStartFunction run, void *data,
                        jobject *thread);

#endif
