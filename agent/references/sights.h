/* SPDX-License-Identifier: Apache-2.0 */
/* Shows objects to leaf calls, which get no references.
 *
 * For Unsafe.copyMemory0(), C2 calls a routine of the JVM as a plain C function, with the thread in
 * Java code, and passes addresses; so does the method's native code. The agent replaces that
 * routine (agent/hotspot/routines.h). A copy of zero bytes comes from a probe that shows an object,
 * which cannot move before the thread leaves the function. Its address is stored with the number of
 * collections, which later code in the same probe compares. */
#ifndef AGENT_REFERENCES_SIGHTS_H
#define AGENT_REFERENCES_SIGHTS_H

#include "agent/base/tracer.h"

/* Returns true if probes can show objects. Call before the probes' class is created. */
bool sights_possible(void);
/* Sets the field of the probes' class if the self-test passes. */
void sights_make(JNIEnv *jni, jclass probes);
/* Call when a session begins; `wanted`: it looks up objects. */
void sights_use(bool wanted);
/* Ends the technique for the rest of the process and restores the JVM's routine. */
void sights_end(void);

#endif
