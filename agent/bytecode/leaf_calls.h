/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Probes without the JVM's wrapper of native methods, which takes longer than they do.
 *
 * HotSpot's compilers call a routine of the JVM in place of Math.tan(), as they would call any C
 * function: the thread stays in Java code.  The address of that routine lies in a variable of the
 * JVM, read when code is compiled; ours goes there.  A NaN that says which probe (rewrite.h) comes
 * from a probe and nowhere else; everything else goes on to the JVM's routine.
 */
#ifndef AGENT_BYTECODE_LEAF_CALLS_H
#define AGENT_BYTECODE_LEAF_CALLS_H

#include "agent/base/tracer.h"

/* Whether there is such a variable, and ours can go there. */
bool leaf_calls_possible(void);
/* From now on code that is compiled calls ours; probes are taken by it, or (`record` false) all
 * left to their native methods. */
void leaf_calls_use(JNIEnv *jni, jclass probes, bool record);
/* Code that is compiled from now on calls the JVM's routine. */
void leaf_calls_end(void);

#endif
