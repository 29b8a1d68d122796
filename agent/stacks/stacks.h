/* SPDX-License-Identifier: Apache-2.0 */
/* Call stacks of allocations. Each is a number in a tree of frames, the dictionary java.Frame of
 * the session's trace. */
#ifndef AGENT_STACKS_STACKS_H
#define AGENT_STACKS_STACKS_H

#include "agent/base/tracer.h"

struct os_thread;

/* Call when a session that records stacks begins, on a Java thread: selects how they are walked. */
void stacks_begin(struct session *session, JNIEnv *jni);
/* Call when the session has ended: logs the results of walk=check. */
void stacks_report(const struct session *session);
/* Call when a native thread ends. */
void stacks_thread_ended(struct os_thread *os);

/* Returns the number of the calling thread's innermost frame, of as many frames as the option
 * `stack` selects. 0: call stacks are not recorded, or the thread has none. Call in a probe, with
 * no lock held and no room reserved in a stream. If Java code called the probe, `made` is the new
 * object and `class` the number of its class; the probe's own frame and those of the object's
 * constructors are skipped. Otherwise both are 0. */
uint64_t stack_of_allocation(struct session *session, struct os_thread *os, JNIEnv *jni,
                             jobject made, uint64_t class);

/* Says how many frames of the probes' class are between the native probe that the calling thread is
 * in and the program: probes in Java that call native ones. */
void stack_probes_between(uint32_t count);

/* The tree of frames of a session: stack_tree.h. */

/* Returns NULL if out of memory. */
struct stack_tree *stack_tree_create(void);
void stack_tree_destroy(struct stack_tree *tree);

#endif
