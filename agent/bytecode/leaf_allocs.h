/* SPDX-License-Identifier: Apache-2.0 */
/* New objects in C1's code without a native call.
 *
 * C1 calls Unsafe.copyMemory0(), which shows objects in C2's code (agent/references/sights.h), as a
 * native method. For ArraysSupport.vectorizedMismatch(), however, it calls a routine of the JVM as
 * a plain C function, which gets addresses and returns a number. The agent replaces that routine
 * (agent/hotspot/routines.h). A comparison of no elements of an impossible size comes from a probe;
 * all others are passed on. Code that still calls the JVM's own routine, and the method's Java code
 * in the interpreter, compare nothing and return a negative number: then the native probe is
 * called. */
#ifndef AGENT_BYTECODE_LEAF_ALLOCS_H
#define AGENT_BYTECODE_LEAF_ALLOCS_H

#include "agent/base/tracer.h"

/* Returns true if probes can call the routine. Defines TIER_CLASS. Call before the probes' class is
 * created, on a Java thread. */
bool leaf_allocs_possible(JNIEnv *jni);
/* From now on, the routine records new objects, or leaves them to native probes. */
void leaf_allocs_use(bool record);
/* Code that is compiled from now on calls the JVM's routine. */
void leaf_allocs_end(void);

#endif
