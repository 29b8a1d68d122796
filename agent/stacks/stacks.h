/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Call stacks of allocations: each is a number in a tree of frames, the dictionary java.Frame of
 * the session's trace.
 */
#ifndef AGENT_STACKS_STACKS_H
#define AGENT_STACKS_STACKS_H

#include "agent/base/tracer.h"

struct os_thread;

/* When a session that wants stacks begins, on a Java thread: how they are walked. */
void stacks_begin(struct session *session, JNIEnv *jni);
/* When it has ended: logs what the option walk=check found. */
void stacks_report(const struct session *session);
/* Before and after methods are redefined: what was known of them by their identifiers and bytecode
 * indexes does not hold any more. */
void stacks_methods_change(void);
/* A native thread ends. */
void stacks_thread_ended(struct os_thread *os);

/* The frame that the calling thread is in, within the innermost frames that the option `stack`
 * asks for; 0: call stacks are not recorded, or the thread has none.  To be called in a probe, with
 * no lock held and no room reserved in a stream.  Where Java code called the probe, `made` is the
 * new object and `class` the number of its class: the probe's own frame and those of the object's
 * constructors are passed over; else both are 0. */
uint64_t stack_of_allocation(struct session *session, struct os_thread *os, JNIEnv *jni,
                             jobject made, uint64_t class);

#endif
