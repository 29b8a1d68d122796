/* SPDX-License-Identifier: Apache-2.0 */
/* Preloads classes that the JDK uses while a virtual thread changes its carrier. If such a class is
 * loaded then, the JVM announces neither its class file nor the class (JDK-8330146): it would have
 * no probes, and no class load event before its first object. */
#ifndef AGENT_EVENTS_CARRIER_CLASSES_H
#define AGENT_EVENTS_CARRIER_CLASSES_H

#include "agent/base/tracer.h"

/* Loads and initializes these classes, once per process. A virtual thread calls this while it runs
 * on its carrier. */
void carrier_classes_load(JNIEnv *jni);

#endif
