/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Objects shown to leaf calls, which get no references.
 *
 * C2 calls a routine of the JVM in place of Unsafe.copyMemory0(), as a plain C function with the
 * thread in Java code, and gives it addresses; the method's native code calls it, too.  Ours goes
 * there (agent/hotspot/routines.h).  A copy of no bytes is a probe's that shows an object: what
 * lies at that address cannot move before the thread leaves the function.  It is kept with the
 * number of collections; whoever asks later in the same probe compares that.
 */
#ifndef AGENT_REFERENCES_SIGHTS_H
#define AGENT_REFERENCES_SIGHTS_H

#include "agent/base/tracer.h"

/* Whether probes can show objects; before the probes' class is made. */
bool sights_possible(void);
/* Sets the field of the probes' class, if what is shown arrives. */
void sights_make(JNIEnv *jni, jclass probes);
/* A session begins in which objects are asked for, or (`wanted` false) are not. */
void sights_use(bool wanted);
/* For the rest of the process: nothing is shown any more, and the JVM has its routine again. */
void sights_end(void);

#endif
