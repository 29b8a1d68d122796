/* SPDX-License-Identifier: Apache-2.0 */
/* Changes of methods in a running JVM. A method keeps its jmethodID when its class is redefined, or
 * retransformed, but its bytecode indexes mean other places, and other lines. So what is remembered
 * of methods has an age in its key. */
#ifndef AGENT_STACKS_METHOD_CHANGES_H
#define AGENT_STACKS_METHOD_CHANGES_H

#include "agent/base/tracer.h"

/* Call before and after the calling thread lets the JVM change methods. */
void method_changes_begin(void);
void method_changes_end(void);
/* Call in the class file hook of a class that the JVM changes. Does nothing for a change of the
 * calling thread's own. */
void method_changes_of_others(void);

/* Returns how often methods had been changed; odd: they are being changed by the agent. For keys
 * that have the version of a method, too (frame_hash_of()). */
uint32_t method_changes_age(void);
/* Returns an age for keys that have a jmethodID; odd as above. Equal before and after a call: no
 * method has changed its meaning meanwhile, but for the microseconds of a safepoint's end; without
 * the JVM's counters (-XX:-UsePerfData) for 4 ms. */
uint32_t method_changes_moment(const struct session *session);
/* Returns false for a second after another agent's change was seen to begin. The JVM's answers are
 * right then, but may be of either version where a method stays on a stack. */
bool method_changes_settled(void);

#endif
