/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Classes that the JDK's code uses while a virtual thread changes its carrier.  A class that is
 * loaded then is announced to no agent, neither its class file nor the class (JDK-8330146): it
 * would have no probes, and no class load event before its first object.
 */
#ifndef AGENT_EVENTS_CARRIER_CLASSES_H
#define AGENT_EVENTS_CARRIER_CLASSES_H

#include "agent/base/tracer.h"

/* Loads these classes and initializes them, once in a process.  A virtual thread calls this while
 * it runs on its carrier. */
void carrier_classes_load(JNIEnv *jni);

#endif
