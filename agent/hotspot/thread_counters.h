/* SPDX-License-Identifier: Apache-2.0 */
/* The JVM's own counters of the bytes that each thread has allocated, through the table of
 * functions that libjvm.so has for the JDK's management library. */
#ifndef AGENT_HOTSPOT_THREAD_COUNTERS_H
#define AGENT_HOTSPOT_THREAD_COUNTERS_H

#include <jvmti.h>
#include <stdbool.h>
#include <stdint.h>

/* Looks for the table and proves the counters, once a session. */
void thread_counters_prove(JNIEnv *jni);

/* What the JVM has counted for a platform thread since its start. Fails if the counters may not be
 * used or the thread has ended; `id` is the thread's number in Java. */
bool thread_counters_read(JNIEnv *jni, jthread thread, int64_t *id, uint64_t *bytes);

/* Calls `visit` for each platform thread that the JVM lists and counts for. Returns false if the
 * counters may not be used, or the JVM does not list its threads. */
typedef void thread_counter_visitor(void *user, jthread thread, int64_t id, uint64_t bytes);
bool thread_counters_each(JNIEnv *jni, thread_counter_visitor *visit, void *user);

#endif
