/* SPDX-License-Identifier: Apache-2.0 */
/* The native methods of the probes' class, which rewritten code calls
 * (agent/rewriter/rewrite.h). */
#ifndef AGENT_BYTECODE_JAVA_PROBES_H
#define AGENT_BYTECODE_JAVA_PROBES_H

#include "agent/base/tracer.h"

/* Defines the class in the boot loader, once per process, and links its methods as the options need
 * them: calls may be counted instead of recorded, methods may begin or end the trace. */
bool java_probes_link(JNIEnv *jni, const struct options *options);

/* Probes without the JVM's wrapper of native methods, which takes longer than they do.
 *
 * HotSpot's compilers call a routine of the JVM for Math.tan(), like any C function: the thread
 * stays in Java code. The routine's address is in a variable of the JVM, which is read when code is
 * compiled; the agent replaces it. A NaN that encodes a probe (rewrite.h) comes only from probes.
 * Every other value is passed on to the JVM's routine. */

/* What the agent's routine does with a probe: leaves it to its native method, records an event,
 * counts; proves that calls arrive (leaf_calls.c itself). */
enum leaf_mode { LEAF_LEAVE, LEAF_RECORD, LEAF_COUNT, LEAF_PROVE };

/* Returns true if there is such a variable and it can be replaced. */
bool leaf_calls_possible(void);
/* From now on, compiled code calls the agent's routine. */
void leaf_calls_use(JNIEnv *jni, jclass probes, enum leaf_mode mode);
/* Code that is compiled from now on calls the JVM's routine. */
void leaf_calls_end(void);

#endif
