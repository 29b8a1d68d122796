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

#include "agent/records/threads.h"

extern _Atomic bool sights_on; /* threads store what they are shown */

/* Returns true if probes can show objects. Call before the probes' class is created. */
bool sights_possible(void);
/* Sets the field of the probes' class if the self-test passes. */
void sights_make(JNIEnv *jni, jclass probes);
/* Call when a session begins; `wanted`: it looks up objects. */
void sights_use(bool wanted);
/* Stores the object's address. Call only in a function that is called as a leaf: nothing moves
 * while this runs. */
static inline void sight_see(struct sight *sight, uintptr_t place, uint64_t with)
{
    *(volatile uint64_t *) &sight->with = with;
    *(volatile uint64_t *) &sight->collections =
        atomic_load_explicit(&tracer.collections_begun, memory_order_relaxed);
    *(volatile uintptr_t *) &sight->place = place;
}

/* Ends the technique for the rest of the process and restores the JVM's routine. */
void sights_end(void);

#endif
